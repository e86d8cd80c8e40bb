"""``fumishirube serve``: the tools over standard input and output, or over HTTP."""

from __future__ import annotations

import gc
import logging
import signal
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial

from fumishirube import __version__
from fumishirube.config.process import process_settings
from fumishirube.errors import ConfigError
from fumishirube.faces.cli.parser import Commands, Parser
from fumishirube.faces.cli.streams import complain
from fumishirube.faces.http.backend import configured_backend
from fumishirube.host.application import Application
from fumishirube.host.instructions import instructions, server_name
from fumishirube.host.logs import LEVELS, QUIET_LEVEL, StandardErrorHandler, start_logs
from fumishirube.host.malloc import share_pools
from fumishirube.host.reload.editions import Reloader, ServedApplication, ToolWrapper
from fumishirube.host.reload.inputs import InputWatcher
from fumishirube.host.wire import claim_wire, exit_now, write_error_line
from fumishirube.plugins.installation import install_command

_SPANS_MS = 200
"""Milliseconds in which spans that are held back may still be sent."""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add("serve", run, "fumishirube serve --workspace ~/my-documents")
    help_text = "serve over HTTP there (default: server.host and server.port of the configuration)"
    parser.add_argument("--http", metavar="HOST:PORT", nargs="?", const="", help=help_text)
    add_log_level(parser)


def add_log_level(parser: Parser) -> None:
    """Add what every command has that serves."""
    help_text = f"what the log tells on standard error (default: {QUIET_LEVEL}, over HTTP info)"
    parser.add_argument("--log-level", choices=LEVELS, help=help_text)


def run(options: Namespace) -> int:
    """Serve until the client hangs up, or the process is told to stop."""
    share_pools()
    return _over_stdio(options) if options.http is None else _over_http(options)


def _over_stdio(options: Namespace) -> int:
    """Standard output belongs to the protocol alone."""
    wire = claim_wire()
    # What is held is let go of when the process is told to end, as when the client hangs up.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    logging.getLogger("fumishirube").addHandler(_Warnings(logging.WARNING))
    from fumishirube.faces.cli.workspace import opened  # noqa: PLC0415 - the wire comes before any plugin

    with opened(options, empty=True) as application:
        # What imports make stays; the server turns the collector on when it is ready.
        gc.disable()
        from fumishirube.faces.http.bridge import bridge_tools  # noqa: PLC0415 - as `mcp` does, which needs it
        from fumishirube.faces.mcp import run_stdio  # noqa: PLC0415 - `mcp` costs most of a second

        through = partial(bridge_tools, backend=configured_backend(application.loaded))
        start_logs(
            _level(application, options, QUIET_LEVEL), [StandardErrorHandler()], places=False
        )
        # What begins here would take its time from the imports, and so from the first answer.
        with _reloading(options, application, through) as reloading:
            _tell(application)
            with reloading.running():
                run_stdio(
                    reloading.publisher,
                    name=server_name(application),
                    version=__version__,
                    instructions=instructions(application),
                    wire=wire,
                )
    _flush_spans()
    return exit_now()


class _Warnings(logging.Handler):
    """Tells what is wrong with the files; calls that failed have lines of their own."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info is None:
            write_error_line(record.getMessage())


def _over_http(options: Namespace) -> int:
    """Standard output says where, once it can be reached; all else goes to standard error."""
    from fumishirube.faces.cli.workspace import opened  # noqa: PLC0415 - no other command needs all this

    with opened(options, empty=True) as application:
        gc.disable()
        try:
            from fumishirube.faces.http.application import HttpApplication  # noqa: PLC0415 - over a second
            from fumishirube.faces.http.log import start_logging  # noqa: PLC0415 - the same
            from fumishirube.faces.http.server import bound, serve  # noqa: PLC0415 - the same
            from fumishirube.faces.http.settings import address  # noqa: PLC0415 - the same
        except ModuleNotFoundError as error:
            raise ConfigError(
                f"--http: {error.name} is not installed; run: {install_command('http')}"
            ) from error

        host, port = address(application.loaded, options.http)
        with _reloading(options, application, nullcontext) as reloading:
            http_app = HttpApplication(application, reloading.publisher)
            level = _level(application, options, "info")
            start_logging(level, application.loaded.folder("runtime"))
            base = application.config.server.base_path.rstrip("/")
            _tell(application)
            reloading.follow(http_app.replace_application)
            with reloading.running():
                listening = bound(host, port)
                serve(http_app.app, listening, lambda h, p: print(_url(h, p) + base, flush=True))
    _flush_spans()
    return exit_now()


@contextmanager
def _reloading(
    options: Namespace, application: Application, through: ToolWrapper
) -> Iterator[Reloader]:
    """Begin to serve an application, and give what will put others in its place."""
    from fumishirube.faces.cli.workspace import reopen  # noqa: PLC0415 - the wire comes before any plugin

    edition = ServedApplication(application, through)  # what this raises ends the command
    watched = InputWatcher(application.loaded.inputs, strangers=not options.no_plugins)
    reloading = Reloader(edition, watched, partial(reopen, options), through)
    try:
        yield reloading
    finally:
        reloading.close()


def _level(application: Application, options: Namespace, quiet: str) -> str:
    chosen: str | None = options.log_level or ("debug" if options.verbose else None)
    return chosen or process_settings(application.loaded.environ).log_level or quiet


def _flush_spans() -> None:
    """Let OpenTelemetry's SDK, where the process has it, send what it holds back for a batch."""
    if "opentelemetry.sdk.trace" in sys.modules:
        from opentelemetry.trace import get_tracer_provider  # noqa: PLC0415 - few processes have it

        flush = getattr(get_tracer_provider(), "force_flush", None)
        if callable(flush):
            flush(_SPANS_MS)


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _tell(application: Application) -> None:
    for problem in application.problems:
        complain(f"problem: {problem}")
    for folder in application.rejected_folders():
        complain(f"warning: {folder}")
