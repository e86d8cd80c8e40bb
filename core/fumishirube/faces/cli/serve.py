"""``fumishirube serve``: serve the tools over standard streams, or as a plugin does."""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from importlib import import_module
from typing import NoReturn

from fumishirube.config.process import process_settings
from fumishirube.faces.cli.exit_codes import guarded
from fumishirube.faces.cli.output import complain
from fumishirube.host.application import Application
from fumishirube.host.logs import LEVELS, QUIET_LEVEL, message_of, start_logs
from fumishirube.host.reload.inputs import ConfigInForce, InputWatcher
from fumishirube.host.reload.reloader import Reloader, ServedApplication, ToolWrapper
from fumishirube.host.standard_streams import claim_output, claim_wire, exit_now, write_error_line
from fumishirube.host.startup import server_name
from fumishirube.interrupts import interrupt, release_interrupts
from fumishirube.plugins.commands import Command, add_arguments_of

_SPANS_MS = 200
"""Milliseconds for sending the last buffered spans."""
_ARENA_MAX = -8
"""The name of the number of memory pools in glibc's ``malloc.h``."""
_POOLS = 2
"""One for the calls, and one for the threads of an index."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add its arguments; plugins add other ways to serve."""
    parser.set_defaults(claims_streams=True)
    add_log_level(parser, http=True)


def add_log_level(parser: ArgumentParser, *, http: bool = False) -> None:
    """Add ``--log-level`` to a verb that serves; ``serve`` has it, also for other ways to serve."""
    default = f"{QUIET_LEVEL}, over HTTP info" if http else QUIET_LEVEL
    help_text = f"the level of the log on standard error (default: {default})"
    parser.add_argument("--log-level", choices=LEVELS, help=help_text)


def serve(options: Namespace) -> int:
    """Serve until the client closes the connection; a variable of a plugin may choose its way."""
    share_memory_pools()
    options.wire = claim_wire()
    signal.signal(signal.SIGTERM, interrupt)  # or the plugin that is imported would be blamed
    from fumishirube.faces.cli.workspace import plugins_for  # noqa: PLC0415 - the wire comes before any plugin

    options.plugins = plugins_for(options)
    for command in options.plugins.commands.ways_to_serve().values():
        if command.variable and os.environ.get(command.variable, "").strip():
            return _serve_by(command, options)
    return serve_stdio(options)


def _serve_by(command: Command, options: Namespace) -> int:
    """Serve as a variable chooses, with the defaults of the command's own options."""
    from fumishirube.faces.cli.plugin_commands import run_command, watched  # noqa: PLC0415 - only they pay for it

    parser = ArgumentParser()
    with watched(command, options.plugins, options, "add_arguments"):
        module = add_arguments_of(command, parser)
    parser.parse_args([], options)
    options.invoked, options.run = command, module.run
    return run_command(options)


run = serve


def serve_stdio(
    options: Namespace, through: Callable[[Application], ToolWrapper] | None = None
) -> int:
    """Serve over standard input and output, which then carry the protocol alone.

    ``through`` returns, for an application, the bridge that all calls go through.
    """
    wire = getattr(options, "wire", None) or claim_wire()
    # SIGTERM must release locks, like the end of the input does.
    signal.signal(signal.SIGTERM, interrupt)
    logging.getLogger("fumishirube").handlers = [_Warnings(logging.WARNING)]
    from fumishirube.faces.cli.workspace import opened  # noqa: PLC0415 - the wire comes before any plugin

    with opened(options, empty=True) as application:
        # Objects made by imports live long; the idle collector enables collection later.
        gc.disable()
        run_stdio = stdio_runner()
        wrapper = through(application) if through else nullcontext
        start_logs(log_level(application, options, QUIET_LEVEL), places=False)
        # Threads that start here would compete with the imports and delay the first answer.
        with reloading(options, application, wrapper) as reloader:
            announce(application)
            with reloader.running():
                release_interrupts()
                run_stdio(reloader.publisher, name=server_name(application), wire=wire)
    return finish()


def stdio_runner() -> Callable[..., None]:
    """Import the MCP face, and return what serves over standard streams.

    The SDK imports its parts for HTTP too. One of them changes uvicorn if that can be imported,
    which takes a tenth of the time of all imports, and 3 MB.
    """
    with suppress(ImportError), _absent("uvicorn"):
        import_module("fumishirube.faces.mcp")
    from fumishirube.faces.mcp import run_stdio  # noqa: PLC0415 - `mcp` costs most of a second

    return run_stdio


@contextmanager
def _absent(module: str) -> Iterator[None]:
    """Let imports of a module fail while the body runs, unless it has been imported before."""
    if module in sys.modules:
        yield
        return
    sys.modules[module] = None  # type: ignore[assignment]  # how Python marks it as absent
    try:
        yield
    finally:
        del sys.modules[module]


def starting_state(options: Namespace) -> ConfigInForce:
    """Read what all processes of a server begin with.

    Raises:
        ConfigError: when it cannot be read.
    """
    from fumishirube.faces.cli.workspace import configuration  # noqa: PLC0415 - the wire comes before any plugin

    loaded = configuration(options)
    inputs = InputWatcher(loaded.inputs, strangers=not options.no_plugins).look()
    return ConfigInForce.of(loaded, inputs)


def claim_standard_output() -> None:
    """Reserve standard output for the result of what serves; send all other output to stderr."""
    share_memory_pools()
    claim_output()
    logging.getLogger("fumishirube").handlers = [_Warnings(logging.WARNING)]


class _Warnings(logging.Handler):
    """Logs problems of files; failed calls are logged separately."""

    def emit(self, record: logging.LogRecord) -> None:
        # Rejected files are among the problems, which are logged when serving begins.
        if record.exc_info is None and not hasattr(record, "left_out"):
            write_error_line(message_of(record))


@contextmanager
def reloading(
    options: Namespace,
    application: Application,
    through: ToolWrapper = nullcontext,
    begun: ConfigInForce | None = None,
) -> Iterator[Reloader]:
    """Publish an application, and yield what replaces it after changes of the configuration.

    One that is ``begun`` with what is in force elsewhere is replaced if that is not on disk.
    """
    from fumishirube.faces.cli.workspace import reopen  # noqa: PLC0415 - the wire comes before any plugin

    served = ServedApplication(application, through)  # errors here end the command
    watched = InputWatcher(application.loaded.inputs, strangers=not options.no_plugins)
    made_from = begun.inputs if begun else None
    reloader = Reloader(served, watched, partial(reopen, options), through, made_from)
    try:
        yield reloader
    finally:
        reloader.close()


def log_level(application: Application, options: Namespace, quiet: str) -> str:
    """Return the log level of the options or the environment, else ``quiet``."""
    chosen: str | None = options.log_level or ("debug" if options.verbose else None)
    return chosen or process_settings(application.loaded.environ).log_level or quiet


def finish() -> NoReturn:
    """End a process that has served, whatever threads still run."""
    # Spans are buffered, such as those of the MCP SDK.
    if "opentelemetry.sdk.trace" in sys.modules:
        from opentelemetry.trace import get_tracer_provider  # noqa: PLC0415 - few processes have it

        flush = getattr(get_tracer_provider(), "force_flush", None)
        if callable(flush):
            flush(_SPANS_MS)
    exit_now()


def run_process(work: Callable[[], int]) -> NoReturn:
    """Do the work of a process that serves with others, and end it with the work's exit code."""
    share_memory_pools()
    exit_now(guarded(work))


def announce(application: Application) -> None:
    """Log problems of the application to standard error."""
    for problem in application.problems:
        complain(f"problem: {problem}")
    for folder in application.rejected_folders():
        complain(f"warning: {folder}")


def share_memory_pools() -> None:
    """Use few memory pools for all threads: a pool never returns the most memory it ever held."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - only what serves pays for it

        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have none
        if mallopt is not None:
            mallopt(_ARENA_MAX, _POOLS)
