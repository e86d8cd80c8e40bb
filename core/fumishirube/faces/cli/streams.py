"""Standard output and error: UTF-8 whatever the locale, and quiet when nobody listens."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import suppress

from fumishirube.text.controls import printable


def use_utf8_streams() -> None:
    """Make both streams UTF-8; what cannot be encoded, a lone surrogate, becomes a mark."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace")


def complain(line: str) -> None:
    """Write one line to standard error, if anybody reads it; what was printed comes before it.

    Raises:
        BrokenPipeError: when nobody reads what was printed.
    """
    with suppress(ValueError, AttributeError):
        sys.stdout.flush()
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(printable(" ".join(line.splitlines())) + "\n")
        sys.stderr.flush()


class PrintableFormatter(logging.Formatter):
    """Writes records, stack traces included, so that they steer no terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the lines of a record."""
        return printable(super().format(record))


class PluginFaultHandler(logging.Handler):
    """Says what plugins do wrong, a line each; a server that logs takes its place."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the line of a failure; other records are none of its business."""
        fault: str | None = getattr(record, "fault", None)
        if fault is not None:
            complain(f"problem: {fault}")


def discard_output() -> None:
    """Send what is still buffered nowhere, so that the interpreter does not complain at exit."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
