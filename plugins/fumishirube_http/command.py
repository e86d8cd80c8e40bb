"""``fumishirube serve --http``: the tools over HTTP."""

from __future__ import annotations

import gc
from argparse import ArgumentParser, Namespace

from fumishirube import ConfigError, install_command
from fumishirube.commands import opened
from fumishirube.serving import announce, claim_standard_output, finish, log_level, reloading


def add_arguments(parser: ArgumentParser) -> None:
    """Add the option ``--http``."""
    help_text = "serve over HTTP there (default: server.host and server.port of the configuration)"
    parser.add_argument("--http", metavar="HOST:PORT", nargs="?", const="", help=help_text)


def run(options: Namespace) -> int:
    """Serve; print the address to standard output once it answers, all else to standard error."""
    claim_standard_output()
    with opened(options, empty=True) as application:
        gc.disable()
        try:
            from fumishirube_http.application import HttpApplication  # noqa: PLC0415 - over a second
            from fumishirube_http.log import start_logging  # noqa: PLC0415 - the same
            from fumishirube_http.server import bound, serve  # noqa: PLC0415 - the same
            from fumishirube_http.settings import address  # noqa: PLC0415 - the same
        except ModuleNotFoundError as error:
            raise ConfigError(
                f"--http: {error.name} is not installed; run: {install_command('http')}"
            ) from error

        host, port = address(application.loaded, options.http)
        level = log_level(application, options, "info")
        # Before the lifespan, so that the log also has what surfaces do at their start.
        start_logging(level, application.loaded.folder("runtime"))
        with reloading(options, application) as reloader:
            http_app = HttpApplication(application, reloader.publisher)
            base = application.config.server.base_path.rstrip("/")
            announce(application)
            reloader.follow(http_app.replace_application)
            with reloader.running():
                listening = bound(host, port)
                serve(http_app.app, listening, lambda h, p: print(_url(h, p) + base, flush=True))
    return finish()


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
