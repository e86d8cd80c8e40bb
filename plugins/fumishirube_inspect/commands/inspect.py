"""``fumishirube inspect``: serves pages on this machine about past and new searches."""

from __future__ import annotations

import webbrowser
from argparse import ArgumentParser, Namespace
from contextlib import closing
from pathlib import Path
from threading import Thread

from fumishirube import ConfigError, install_command
from fumishirube.commands import at_least, complain, opened
from fumishirube.serving import finish, web_server

HOST = "127.0.0.1"
PORT = 8722
_LAST_PORT = 65535


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options."""
    help_text = f"the port to serve at, 0 for any that is free (default: {PORT})"
    parser.add_argument(
        "--port", metavar="N", type=at_least(0, _LAST_PORT), default=PORT, help=help_text
    )
    help_text = "print the address, and open no browser"
    parser.add_argument("--no-browser", action="store_true", help=help_text)
    help_text = "a configuration to compare that of --config with, search by search"
    parser.add_argument("--against", metavar="FILE", type=Path, help=help_text)
    help_text = "rows of 'eval --rows' or a run.json of 'eval agents' to chart; may be repeated"
    parser.add_argument("--report", metavar="FILE", type=Path, action="append", help=help_text)


def run(options: Namespace) -> int:
    """Serve the pages until the process receives a signal."""
    if options.against and not options.against.is_file():
        raise ConfigError(f"--against: there is no file {options.against.name!r}")
    with opened(options) as application:
        try:
            from fumishirube_inspect.application import build_inspector  # noqa: PLC0415 - over a second
            from fumishirube_inspect.reports import read_report  # noqa: PLC0415 - the same
            from fumishirube_inspect.session import InspectorSession  # noqa: PLC0415 - the same
        except ModuleNotFoundError as error:
            raise ConfigError(
                f"inspect: {error.name} is not installed; run: {install_command('http')}"
            ) from error

        def ready(host: str, port: int) -> None:
            url = f"http://{host}:{port}/"
            print(url, flush=True)
            if not options.no_browser:  # one in the terminal keeps its thread until it is left
                Thread(target=_open_browser, args=(url,), daemon=True).start()

        reports = [read_report(file) for file in options.report or ()]
        server = web_server(application.plugins, "inspect")
        listening = server.listen(HOST, options.port, "--port")
        session = InspectorSession(
            application, options.against, reports, strangers=not options.no_plugins
        )
        with closing(session):
            server.run(build_inspector(session, server.guarded), listening, ready)
    return finish()


def _open_browser(url: str) -> None:
    if not webbrowser.open(url):
        complain("no browser could be opened; open the address by yourself")
