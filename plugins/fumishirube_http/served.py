"""What a process serves over HTTP: to one user, or to the people of a people file."""

from __future__ import annotations

from starlette.types import ASGIApp

from fumishirube.serving import Application, Reloader
from fumishirube_http.application import HttpApplication
from fumishirube_http.people.settings import TeamSettings, proxies


def served_app(
    application: Application, reloader: Reloader, people: TeamSettings | None, worker: int = 1
) -> ASGIApp:
    """Return the ASGI application, which follows the reloads of the configuration.

    ``worker`` is the number of this process among those of the server.
    """
    if people is None:
        http_app = HttpApplication(application, reloader.publisher)
        reloader.follow(http_app.replace_application)
        return http_app.app
    from fumishirube_http.people.audit import start_audit  # noqa: PLC0415 - only with people
    from fumishirube_http.people.team import Team, team_app  # noqa: PLC0415 - the same

    start_audit(application.loaded.folder("runtime"), worker)
    team = Team(reloader, people, worker)
    return team_app(team, people.hosts, proxies(application.loaded.environ))
