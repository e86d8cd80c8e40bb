"""Standard output and error: UTF-8 in any locale, and no errors after the reader left."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import suppress

from fumishirube.faces.cli.messages import translated
from fumishirube.host.standard_streams import to_output
from fumishirube.text.controls import printable


def complain(line: str) -> None:
    """Write one line to standard error, in the user's language, after all output so far.

    Raises:
        BrokenPipeError: when the reader of standard output has gone.
        UnwritableOutput: when it cannot be written for another reason.
    """
    flush_output()
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(printable(" ".join(translated(line).splitlines())) + "\n")
        sys.stderr.flush()


def flush_output() -> None:
    """Write all output so far; raise as :func:`complain` does."""
    with suppress(ValueError, AttributeError), to_output():
        sys.stdout.flush()


class PrintableFormatter(logging.Formatter):
    """Formats log records, stack traces included, without terminal control characters."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the lines of a record."""
        return printable(super().format(record))


class PluginFaultHandler(logging.Handler):
    """Prints faults of plugins, a line each; a server's log handler replaces it."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print a fault; ignore other records."""
        fault: str | None = getattr(record, "fault", None)
        if fault is not None:
            complain(f"problem: {fault}")


def discard_output() -> None:
    """Discard buffered output, so that none of it fails at exit."""
    with suppress(OSError, ValueError, AttributeError):
        null_device = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null_device, sys.stdout.fileno())
        os.close(null_device)
