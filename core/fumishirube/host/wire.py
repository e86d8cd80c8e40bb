"""The wire: standard input and output, kept for the protocol, or for what a command prints."""

from __future__ import annotations

import io
import os
import select
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO, NoReturn, TextIO

from fumishirube.text.controls import printable

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


class _ForeignCode(threading.local):
    """How deep this thread is inside code of plugins."""

    depth = 0


_FOREIGN = _ForeignCode()
_LAST_ACTS: dict[object, Callable[[], None]] = {}


@contextmanager
def foreign_code() -> Iterator[None]:
    """Say that code of a plugin runs in the body: what it prints is no output of a command."""
    _FOREIGN.depth += 1
    try:
        yield
    finally:
        _FOREIGN.depth -= 1


class CommandOutput(io.TextIOWrapper):
    """What a command prints, as ``sys.stdout``; what plugins print goes to standard error.

    The command prints in the main thread, and never while code of a plugin runs there. What comes
    out steers no terminal, unless it is ``raw``.
    """

    raw = False

    def write(self, text: str) -> int:
        """Write a text where it belongs."""
        if _is_stray() and sys.stderr:
            return sys.stderr.write(text)
        return super().write(text if self.raw else printable(text))

    def style(self, code: str) -> None:
        """Write what changes how a terminal shows the text that follows."""
        if not _is_stray():
            super().write(code)

    @property
    def buffer(self) -> BinaryIO:
        """The stream of bytes where what is written now belongs."""
        own: BinaryIO = super().buffer  # type: ignore[assignment]
        return sys.stderr.buffer if _is_stray() and sys.stderr else own


def _is_stray() -> bool:
    return _FOREIGN.depth > 0 or threading.current_thread() is not threading.main_thread()


def claim_output(*, raw: bool = False) -> None:
    """Take standard output for what the command prints, before any plugin is imported.

    From now on what extensions and child processes write there goes to standard error, and
    controls are printed as escapes, unless the output is ``raw``. Call it once; where there is no
    standard output, there is nothing to protect.
    """
    if sys.stdout is None or sys.stderr is None:
        return
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sink = _private(1)
        os.dup2(2, 1)
        if sys.platform == "win32":
            _rebind_handles()
        stream = io.FileIO(sink, "wb")
        output = CommandOutput(
            io.BufferedWriter(stream), "utf-8", "replace", line_buffering=stream.isatty()
        )
        output.raw = raw
        sys.stdout = output


def before_exit(act: Callable[[], None]) -> Callable[[], None]:
    """Have something done before this process ends itself at once; return what forgets it."""
    token = object()
    _LAST_ACTS[token] = act

    def forget() -> None:
        _LAST_ACTS.pop(token, None)

    return forget


def _act_for_the_last_time() -> None:
    for act in [*_LAST_ACTS.values()]:
        with suppress(Exception):
            act()


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
        _act_for_the_last_time()
        os._exit(code)

    threading.Thread(target=expire, name="fumishirube deadline", daemon=True).start()


def exit_now(code: int = 0) -> NoReturn:
    """End the process now: threads that still run are not waited for."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    _act_for_the_last_time()
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
