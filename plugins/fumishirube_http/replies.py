"""What goes back: JSON in its own script, written once."""

from __future__ import annotations

from starlette.responses import Response

from fumishirube.serving import compact
from fumishirube_http.problems import Problem, no_room


def reply(problem: Problem) -> Response:
    """Return the response that tells a problem."""
    body = compact(dict(problem.body)).encode()
    return Response(body, problem.status, problem.headers, "application/json")


def busy() -> Response:
    """Return the response of a server that has its hands full."""
    return reply(no_room())
