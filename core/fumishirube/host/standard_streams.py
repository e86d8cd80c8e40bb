"""Standard input and output, claimed for the protocol or for the output of a command."""

from __future__ import annotations

import io
import os
import select
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import BinaryIO, NoReturn

from fumishirube.host.left_behind import claim_streams, duplicate
from fumishirube.text.controls import printable

ATOMIC = 4096
"""Bytes that a pipe takes in one piece, or refuses because it is full."""


def claim_wire() -> tuple[int, int]:
    """Claim standard input and output for the protocol, and return descriptors of both.

    From then on, prints go to standard error, and other readers of standard input, child processes
    included, find it empty. Call it once, before any plugin is imported.
    """
    # A stream that can seek, such as /dev/null, fails to change once it is a pipe.
    use_utf8_streams("backslashreplace")
    source, output_descriptor = duplicate(0), duplicate(1)
    _point(0, os.devnull, os.O_RDONLY)
    try:
        os.dup2(2, 1)
    except OSError:
        # Some launchers start their children without a standard error.
        _point(1, os.devnull, os.O_WRONLY)
    if sys.platform == "win32":
        _rebind_handles()
    claim_streams(owns_output=False)
    return source, output_descriptor


class _ForeignCode(threading.local):
    """The depth of plugin code on this thread's stack."""

    depth = 0


_FOREIGN = _ForeignCode()
_EXIT_CALLBACKS: dict[Callable[[], None], None] = {}


@contextmanager
def foreign_code() -> Iterator[None]:
    """Mark the body as plugin code: its prints are not the output of a command."""
    _FOREIGN.depth += 1
    try:
        yield
    finally:
        _FOREIGN.depth -= 1


class UnwritableOutput(OSError):
    """Standard output takes no more, as on a full disk, and not because its reader has gone."""


@contextmanager
def to_output() -> Iterator[None]:
    """Mark the body as a write to standard output.

    Raises:
        BrokenPipeError: when its reader has gone.
        UnwritableOutput: when it cannot be written for another reason.
    """
    try:
        yield
    except (BrokenPipeError, UnwritableOutput):
        raise
    except OSError as error:
        raise UnwritableOutput(*error.args) from error


class CommandOutput(io.TextIOWrapper):
    """The output of a command, as ``sys.stdout``; prints of plugins go to standard error.

    The command prints in the main thread, and never while plugin code runs there. Terminal control
    characters are escaped, unless it is ``raw``.
    """

    raw = False

    def write(self, text: str) -> int:
        """Write a text to the output of the command, or to standard error."""
        if _is_foreign() and sys.stderr:
            return sys.stderr.write(text)
        return self._write(text if self.raw else printable(text))

    def flush(self) -> None:
        """Write what was buffered."""
        with to_output():
            super().flush()

    def close(self) -> None:
        """Close the stream, unless plugin code does: it has to take the output of the command."""
        if not _is_foreign():
            super().close()

    def detach(self) -> BinaryIO:
        """Return the byte stream; plugin code gets that of standard error, and this one stays."""
        if _is_foreign():
            return self.buffer
        own: BinaryIO = super().detach()  # type: ignore[assignment]  # as for the buffer
        return own

    def style(self, code: str) -> None:
        """Write codes that change how a terminal shows the following text."""
        if not _is_foreign():
            self._write(code)

    def _write(self, text: str) -> int:
        with to_output():
            return super().write(text)

    @property
    def buffer(self) -> BinaryIO:
        """The byte stream that ``write`` uses now."""
        own: BinaryIO = super().buffer  # type: ignore[assignment]  # a stub of less
        return sys.stderr.buffer if _is_foreign() and sys.stderr else own


def _is_foreign() -> bool:
    return _FOREIGN.depth > 0 or threading.current_thread() is not threading.main_thread()


def claim_output(*, raw: bool = False) -> None:
    """Claim standard output for the output of a command, before any plugin is imported.

    From then on, prints of extensions and child processes go to standard error, and control
    characters are escaped, unless the output is ``raw``. Call it once; without a standard output it
    has no effect.
    """
    if sys.stdout is None or sys.stderr is None:
        return
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        output_descriptor = duplicate(1)
        os.dup2(2, 1)
        if sys.platform == "win32":
            _rebind_handles()
        stream = io.FileIO(output_descriptor, "wb")
        output = CommandOutput(
            io.BufferedWriter(stream), "utf-8", "replace", line_buffering=stream.isatty()
        )
        output.raw = raw
        sys.stdout = output
        claim_streams(owns_output=True)


def before_exit(callback: Callable[[], None]) -> Callable[[], None]:
    """Register a function to call before this process exits at once; return what removes it."""
    _EXIT_CALLBACKS[callback] = None
    return partial(_EXIT_CALLBACKS.pop, callback, None)


def _run_exit_callbacks() -> None:
    for callback in [*_EXIT_CALLBACKS]:
        with suppress(Exception):
            callback()


def write_error_line(line: str) -> None:
    """Write one short line to standard error, or drop it while that pipe is full."""
    data = line.encode("utf-8", "replace")[: ATOMIC - 1] + b"\n"
    with suppress(OSError, ValueError):
        # A log that blocks would block the protocol.
        if sys.platform == "win32" or select.select([], [2], [], 0)[1]:
            os.write(2, data)


def exit_within(seconds: float) -> None:
    """End the process after that time, whatever threads still run."""

    def expire() -> None:
        time.sleep(seconds)
        _run_exit_callbacks()
        os._exit(0)

    threading.Thread(target=expire, name="fumishirube deadline", daemon=True).start()


def exit_now(code: int = 0) -> NoReturn:
    """End the process now, without waiting for threads."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    _run_exit_callbacks()
    os._exit(code)


def _point(descriptor: int, path: str, flags: int) -> None:
    opened = os.open(path, flags)
    os.dup2(opened, descriptor)
    os.close(opened)


def _rebind_handles() -> None:
    """Point the handles that child processes inherit at the new places of the descriptors."""
    if sys.platform == "win32":
        import ctypes  # noqa: PLC0415 - only Windows keeps handles beside descriptors
        import msvcrt  # noqa: PLC0415 - the same

        for descriptor, slot in ((0, -10), (1, -11)):
            ctypes.windll.kernel32.SetStdHandle(slot, msvcrt.get_osfhandle(descriptor))


def use_utf8_streams(errors: str) -> None:
    """Make both streams UTF-8; ``errors`` is what becomes of what cannot be encoded."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors=errors)
