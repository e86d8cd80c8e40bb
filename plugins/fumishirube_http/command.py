"""``fumishirube serve --http``: the tools over HTTP."""

from __future__ import annotations

import gc
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from fumishirube import ConfigError, install_command
from fumishirube.commands import at_least, opened
from fumishirube.serving import (
    LoadedConfig,
    announce,
    claim_standard_output,
    finish,
    import_mcp,
    log_level,
    process_settings,
    reloading,
    starting_state,
)

if TYPE_CHECKING:
    from fumishirube_http.workers.process import WorkerStart


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options ``--http``, ``--workers`` and ``--people``."""
    help_text = "serve over HTTP there (default: server.host and server.port of the configuration)"
    parser.add_argument("--http", metavar="HOST:PORT", nargs="?", const="", help=help_text)
    help_text = "processes that serve over HTTP (default: 1, at most 64); one a core is enough"
    parser.add_argument(
        "--workers", metavar="N", type=at_least(1), default=1, action=_OverHttp, help=help_text
    )
    help_text = "over HTTP: who may use the server, and what (default: FUMISHIRUBE_PEOPLE)"
    parser.add_argument("--people", metavar="FILE", type=Path, action=_OverHttp, help=help_text)


class _OverHttp(Action):
    """Stores a value, and makes this command the one that runs: no other way to serve has it."""

    def __call__(
        self, parser: ArgumentParser, namespace: Namespace, value: object, _: object = None
    ) -> None:
        setattr(namespace, self.dest, value)
        namespace.run = run
        namespace.only_over_http = f"--{self.dest}"


def run(options: Namespace) -> int:
    """Serve; print the address to standard output once it answers, all else to standard error."""
    if options.http is None:
        raise ConfigError(f"{options.only_over_http}: it is for a server over HTTP; add --http")
    claim_standard_output()
    return serve_here(options) if options.workers == 1 else _supervise(options)


def serve_here(options: Namespace, worker: WorkerStart | None = None) -> int:
    """Serve in this process, which may be one of several workers."""
    begun = worker.begun if worker else None
    with opened(options, empty=True, begun=begun) as application:
        gc.disable()
        with _extra():
            from fumishirube_http.application import served_app  # noqa: PLC0415 - the same
            from fumishirube_http.log import start_logging  # noqa: PLC0415 - over a second
            from fumishirube_http.people.settings import team_settings  # noqa: PLC0415 - the same
            from fumishirube_http.server import bound, serve  # noqa: PLC0415 - the same
            from fumishirube_http.settings import address, tls_files  # noqa: PLC0415 - the same
            from fumishirube_http.workers.process import serve_worker  # noqa: PLC0415 - the same

        loaded = application.loaded
        people, tls = team_settings(options, loaded), tls_files(loaded)
        place = address(loaded, options.http, people=people is not None)
        level = log_level(application, options, "info")
        # Before the lifespan, so that the log also has what surfaces do at their start.
        number = worker.place.number if worker else 1
        start_logging(level, loaded.folder("runtime"), number)
        with reloading(options, application, begun=begun) as reloader:
            app = served_app(reloader, people, number if worker else None)
            if number == 1:
                announce(application)
            if worker:
                reloader.share(worker.send)
            grace = process_settings(loaded.environ).grace
            with reloader.running():
                if worker is None:
                    ready = partial(_announce_url, loaded, tls=tls is not None)
                    serve(app, bound(*place), ready, tls=tls, grace=grace)
                else:
                    serve_worker(worker, app, options.peers, tls, grace)
    return finish()


def _supervise(options: Namespace) -> int:
    """Serve with several worker processes."""
    with _extra():
        # The workers share the memory of what is imported before they are forked.
        import_module("fumishirube_http.application")
        from fumishirube_http.people.settings import team_settings  # noqa: PLC0415 - the same
        from fumishirube_http.server import bound  # noqa: PLC0415 - the same
        from fumishirube_http.settings import address, tls_files  # noqa: PLC0415 - the same
        from fumishirube_http.workers.supervisor import MOST, Supervisor  # noqa: PLC0415 - the same

    if options.workers > MOST:
        raise ConfigError(f"--workers: at most {MOST}; got {options.workers}")
    begun = starting_state(options)
    loaded = begun.loaded
    people, tls = team_settings(options, loaded), tls_files(loaded)
    listening = bound(*address(loaded, options.http, people=people is not None))
    import_mcp()
    host, port = listening.getsockname()[:2]
    grace = process_settings(loaded.environ).grace
    supervisor = Supervisor(options, begun, listening, options.workers, grace)
    code = supervisor.run(lambda: _announce_url(loaded, host, port, tls=tls is not None))
    return code or finish()


@contextmanager
def _extra() -> Iterator[None]:
    """Name the extra to install when one of its packages is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"--http: {error.name} is not installed; run: {install_command('http')}"
        ) from error


def _announce_url(loaded: LoadedConfig, host: str, port: int, *, tls: bool) -> None:
    shown = f"[{host}]" if ":" in host else host
    base = loaded.config.server.base_path.rstrip("/")
    print(f"{'https' if tls else 'http'}://{shown}:{port}{base}", flush=True)
