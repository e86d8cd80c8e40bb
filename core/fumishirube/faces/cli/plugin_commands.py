"""Commands of plugins: marked while they run, and named when they fail or end the process."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext

from fumishirube.config.outside import trusted_state
from fumishirube.errors import ConfigError, FumishirubeError, PluginError
from fumishirube.faces.cli.folders import written_configuration
from fumishirube.host.crash_marks import ForeignWork
from fumishirube.host.faults import described
from fumishirube.host.plugin_guard import PluginGuard
from fumishirube.host.standard_streams import UnwritableOutput
from fumishirube.interrupts import is_interrupt
from fumishirube.plugins.commands import Command, exit_code_of
from fumishirube.plugins.discovery import Plugins

_PASSING = (FumishirubeError, SystemExit, BrokenPipeError, UnwritableOutput)
"""How a command may end: an error for its user, an exit code, or an output that takes no more."""


def run_command(options: Namespace) -> int:
    """Run the chosen command, and return its exit code."""
    command: Command = options.invoked
    with watched(command, options.plugins, options, "run"):
        return exit_code_of(command, options.run(options))


@contextmanager
def watched(
    command: Command, plugins: Plugins, options: Namespace | None, function: str
) -> Iterator[None]:
    """Mark a plugin's command while a function of it runs, and record its failures.

    What it prints is the output of the command. One that serves is not marked: a signal ends it.

    Raises:
        PluginError: instead of any error that is not meant for the user; it names the plugin.
    """
    report = plugins.foreign(command.plugin)
    if report is None or options is None:
        yield
        return
    work = ForeignWork(report.plugin, report.distribution, f"command {command.words!r}")
    guard = _guard(options)
    with closing(guard) if guard else nullcontext():
        try:
            with guard.marked(work, prints=True) if guard and not command.serves else nullcontext():
                yield
        except BaseException as error:
            if isinstance(error, _PASSING) or is_interrupt(error):
                raise
            if guard:
                guard.log.record(work, described(error), method=function)
            raise PluginError(f"{command.origin} failed: {described(error)}") from error
        if guard:
            guard.log.worked(work, function)


def _guard(options: Namespace) -> PluginGuard | None:
    """Return the guard of the workspace; none if its configuration is unusable."""
    try:
        return PluginGuard(trusted_state(written_configuration(options)))
    except ConfigError:  # reported when the workspace is opened
        return None
