"""The routes of the inspector."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from importlib.resources import files
from threading import Lock
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from fumishirube import ConfigError, InternalError, InvalidParameter, NotFound, ToolError
from fumishirube_inspect.charts import report_page
from fumishirube_inspect.comparison import comparison_page
from fumishirube_inspect.exports import encode_export
from fumishirube_inspect.fates import sections_page, why_page
from fumishirube_inspect.frame import error_page, trace_url
from fumishirube_inspect.hit_pages import picture_of_hit
from fumishirube_inspect.replays import describe_recorded
from fumishirube_inspect.search import search_page
from fumishirube_inspect.security_headers import SameOriginMiddleware
from fumishirube_inspect.session import InspectorSession, SearchForm
from fumishirube_inspect.traces import listing_page

_LOG = logging.getLogger("fumishirube")

STATIC = {
    "inspect.css": "text/css",
    "inspect.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
_FORM = 64 * 1024
"""The most bytes of a form."""
_MOST_DIGITS = 9
"""The most digits of a number in an address."""
_MOST_TERMS = 2


def build_inspector(session: InspectorSession, guarded: Callable[[ASGIApp], ASGIApp]) -> Starlette:
    """Return the application for a session.

    ``guarded`` wraps an application with checks that refuse requests from elsewhere.
    """
    pages = _PageHandlers(session)
    routes = [
        Route("/", pages.page_endpoint(pages.listing)),
        Route("/find", pages.find, methods=["POST"]),
        Route("/trace/{id}", pages.page_endpoint(pages.search)),
        Route("/trace/{id}/page", pages.page_endpoint(pages.page)),
        Route("/trace/{id}/why", pages.page_endpoint(pages.why)),
        Route("/trace/{id}/export", pages.page_endpoint(pages.export)),
        Route("/compare", pages.page_endpoint(pages.compare)),
        Route("/report/{number}", pages.page_endpoint(pages.report)),
        Route("/static/{name}", _static),
    ]
    return Starlette(
        routes=routes,
        middleware=[Middleware(SameOriginMiddleware), Middleware(guarded)],
        exception_handlers={HTTPException: pages.refused},
    )


class _PageHandlers:
    """The handlers of one session; each page is built in a thread."""

    def __init__(self, session: InspectorSession) -> None:
        self._session = session
        self._drawing = Lock()

    def page_endpoint(self, make: Callable[[Request], Response]) -> Callable[[Request], object]:
        """Return an endpoint that shows errors as pages."""

        async def endpoint(request: Request) -> Response:
            return await run_in_threadpool(self._answered, make, request)

        return endpoint

    async def find(self, request: Request) -> Response:
        """Search, and redirect to the page of the result."""
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > _FORM:
                error = InvalidParameter("the form is too large; ask a shorter question")
                return self._error_response(error, error.code, 413)
        fields = parse_qs(body.decode("utf-8", "replace"))
        return await run_in_threadpool(
            self._answered, partial(self._search_response, fields), request
        )

    def listing(self, _: Request) -> Response:
        """Show the list of searches."""
        return HTMLResponse(listing_page(self._session))

    def search(self, request: Request) -> Response:
        """Show one search."""
        trace = self._session.trace(request.path_params["id"])
        return HTMLResponse(search_page(self._session, trace))

    def why(self, request: Request) -> Response:
        """Show what happened to a section."""
        trace = self._session.trace(request.path_params["id"])
        path, line = _section_of(request)
        if line is None:
            return HTMLResponse(sections_page(self._session, trace, path))
        return HTMLResponse(why_page(self._session, trace, path, line))

    def page(self, request: Request) -> Response:
        """Send the picture of the page of a hit; one is drawn at a time."""
        trace = self._session.trace(request.path_params["id"])
        path, line = _section_of(request)
        with self._drawing:
            picture = picture_of_hit(self._session, trace, path, line or 0)
        return Response(picture.data, media_type="image/png")

    def export(self, request: Request) -> Response:
        """Send a trace as a file."""
        trace = self._session.trace(request.path_params["id"])
        named = f'attachment; filename="trace-{trace.id[:8]}.json"'
        with self._session.application_of(trace) as application:
            data = encode_export(describe_recorded(application, trace))
        return Response(data, headers={"content-disposition": named}, media_type="application/json")

    def compare(self, request: Request) -> Response:
        """Show two searches."""
        ids = [request.query_params.get(side, "") for side in "ab"]
        if not all(ids):
            raise InvalidParameter("choose two searches to compare, A and B")
        return HTMLResponse(comparison_page(self._session, *map(self._session.trace, ids)))

    def report(self, request: Request) -> Response:
        """Show the chart of a report."""
        number = _whole(request.path_params["number"])
        if number is None or number >= len(self._session.reports):
            raise NotFound("there is no such report; name files with --report")
        return HTMLResponse(report_page(self._session, self._session.reports[number]))

    async def refused(self, request: Request, error: Exception) -> Response:
        """Answer requests that the router refuses."""
        assert isinstance(error, HTTPException)
        shown: ToolError = NotFound("there is no such page here")
        if error.status_code == 405:  # noqa: PLR2004 - HTTP's own
            allowed = (error.headers or {}).get("Allow", "")
            shown = InvalidParameter(f"{request.method} is not possible here, but {allowed} is")
        return self._error_response(shown, shown.code, error.status_code, error.headers)

    def _search_response(self, fields: dict[str, list[str]], _: Request) -> Response:
        def field(name: str) -> str:
            return fields.get(name, [""])[0].strip()

        terms = [term for term in field("require").replace("、", ",").split(",") if term.strip()]
        if len(terms) > _MOST_TERMS:
            raise InvalidParameter(f"at most {_MOST_TERMS} required terms, with a comma between")
        required = tuple(term.strip() for term in terms)
        manuals = tuple(filter(None, map(str.strip, fields.get("manual", ()))))
        form = SearchForm(field("q"), manuals, required, field("config"), field("against"))
        traces = self._session.find(form)
        if len(traces) == 1:
            return RedirectResponse(trace_url(traces[0]), 303)
        return RedirectResponse(f"/compare?a={traces[0].id}&b={traces[1].id}", 303)

    def _answered(self, make: Callable[[Request], Response], request: Request) -> Response:
        try:
            return make(request)
        except ToolError as error:
            status = 404 if isinstance(error, NotFound) else 400
            return self._error_response(error, error.code, status)
        except ConfigError as error:
            return self._error_response(error, "configuration error", 400)
        except Exception:
            failure = InternalError()
            _LOG.exception("error_id %s", failure.error_id)
            return self._error_response(failure, f"error_id {failure.error_id}", 500)

    def _error_response(
        self, error: Exception, code: str, status: int, headers: Mapping[str, str] | None = None
    ) -> Response:
        title = "Not found" if status == 404 else "That did not work"  # noqa: PLR2004 - HTTP's own
        return HTMLResponse(error_page(self._session, title, str(error), code), status, headers)


def _section_of(request: Request) -> tuple[str, int | None]:
    """Return the file and the line that a request names."""
    path, line = request.query_params.get("path", ""), request.query_params.get("line")
    if not path:
        raise InvalidParameter("name the file of the section", parameter="path")
    if not line:
        return path, None
    number = _whole(line)
    if not number:
        raise InvalidParameter("a line is a whole number from 1 on", parameter="line")
    return path, number


def _whole(text: str) -> int | None:
    """Return a whole number of a few digits, or ``None``."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        raise HTTPException(404)
    data = files("fumishirube_inspect").joinpath("static", name).read_bytes()
    return Response(data, media_type=STATIC[name])
