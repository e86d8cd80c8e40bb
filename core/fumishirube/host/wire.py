"""The wire: this process's standard input and output, kept for the protocol alone."""

from __future__ import annotations

import os
import select
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import NoReturn, TextIO

ATOMIC = 4096
"""Up to this many bytes a pipe takes in one piece, or reports that it is full."""


class Wire:
    """Whole lines in and out, as bytes. One thread reads, one writes."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = os.fdopen(source, "rb", closefd=False)
        self._sink = sink

    def lines(self) -> Iterator[bytes]:
        """Yield each line that comes in; ends when the other side hangs up."""
        with suppress(OSError):
            yield from self._source

    def write(self, line: bytes) -> None:
        """Write one line, to which the line end is added.

        Raises:
            OSError: when nobody reads any more.
        """
        rest = memoryview(line + b"\n")
        while rest:
            rest = rest[os.write(self._sink, rest) :]


def claim_wire() -> Wire:
    """Take standard input and output for the protocol, before any plugin is imported.

    From now on what is printed goes to standard error, and whoever reads standard input, child
    processes included, finds it empty. Call it once.
    """
    source, sink = _private(0), _private(1)
    _point(0, os.devnull, os.O_RDONLY)
    try:
        os.dup2(2, 1)
    except OSError:
        # Some launchers start their children without a standard error.
        _point(1, os.devnull, os.O_WRONLY)
    if sys.platform == "win32":
        _rebind_handles()
    for stream in (sys.stdout, sys.stderr):
        _speak_utf8(stream)
    return Wire(source, sink)


def write_error_line(line: str) -> None:
    """Write one short line to standard error, or drop it when nobody empties that pipe."""
    data = line.encode("utf-8", "replace")[: ATOMIC - 1] + b"\n"
    with suppress(OSError, ValueError):
        # A log that blocked would take the protocol with it.
        if sys.platform == "win32" or select.select([], [2], [], 0)[1]:
            os.write(2, data)


def exit_within(seconds: float, code: int = 0) -> None:
    """End the process after that time, whatever is still running."""

    def expire() -> None:
        time.sleep(seconds)
        os._exit(code)

    threading.Thread(target=expire, name="fumishirube deadline", daemon=True).start()


def exit_now(code: int = 0) -> NoReturn:
    """End the process now: threads that still run are not waited for."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def _private(descriptor: int) -> int:
    """Return a duplicate that children do not inherit, outside the three standard ones."""
    if sys.platform == "win32":
        return os.dup(descriptor)
    import fcntl  # noqa: PLC0415 - there is none on Windows

    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)


def _point(descriptor: int, path: str, flags: int) -> None:
    opened = os.open(path, flags)
    os.dup2(opened, descriptor)
    os.close(opened)


def _rebind_handles() -> None:
    """Point the handles that child processes inherit at the descriptors' new places."""
    if sys.platform == "win32":
        import ctypes  # noqa: PLC0415 - only Windows keeps handles beside descriptors
        import msvcrt  # noqa: PLC0415 - the same

        for descriptor, slot in ((0, -10), (1, -11)):
            ctypes.windll.kernel32.SetStdHandle(slot, msvcrt.get_osfhandle(descriptor))


def _speak_utf8(stream: TextIO) -> None:
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(encoding="utf-8", errors="backslashreplace")
