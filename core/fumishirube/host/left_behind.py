"""What plugin code leaves of the process, undone: copies, timers, limits, and standard streams."""

from __future__ import annotations

import io
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

_PAUSE = 0.1
"""Seconds until a copy reports itself: the original must not take that for an older fault."""


@contextmanager
def undoing(copied: Callable[[], None]) -> Iterator[list[str]]:
    """Undo what the body leaves behind in the process; the list then has sentences about it.

    A copy of the process that leaves the body calls ``copied`` and ends: it would go on to answer a
    second time.
    """
    left: list[str] = []
    process, level = os.getpid(), logging.root.manager.disable
    timer, recursion = _seconds_left(), sys.getrecursionlimit()
    try:
        yield left
    finally:
        if os.getpid() != process:
            try:
                time.sleep(_PAUSE)
                copied()
            finally:
                os._exit(0)
        if logging.root.manager.disable > level:
            logging.disable(level)
            left.append("it switched off the log")
        if sys.getrecursionlimit() < recursion:
            sys.setrecursionlimit(recursion)
            left.append("it lowered the limit of nested calls")
        if not timer and _seconds_left():
            signal.setitimer(signal.ITIMER_REAL, 0)
            left.append("it left a timer behind that would have ended the process")
        if _CLAIMED and _CLAIMED[0].restore():
            left.append("it closed or replaced a standard stream")


def _seconds_left() -> float:
    """Return the seconds after which a timer ends the process, or 0; Windows has no timers."""
    return signal.getitimer(signal.ITIMER_REAL)[0] if hasattr(signal, "getitimer") else 0.0


# --- standard streams -----------------------------------------------------------------------

_CLAIMED: list[ClaimedStreams] = []


def claim_streams(*, owns_output: bool) -> None:
    """Let the standard streams be restored from now on; a command owns its output."""
    _CLAIMED[:] = [ClaimedStreams(owns_output=owns_output)]


class ClaimedStreams:
    """The standard streams as they were claimed, and a spare of each descriptor.

    A command owns its output. In a server a stream may be replaced for a while, as by
    :func:`contextlib.redirect_stdout` on another thread.
    """

    def __init__(self, *, owns_output: bool) -> None:
        self._streams = {"stdout": sys.stdout, "stderr": sys.stderr}
        self._owned = "stdout" if owns_output else None
        self._spares = {}
        for number in range(3):
            with suppress(OSError):  # it may be closed
                self._spares[number] = duplicate(number), os.fstat(number)

    def restore(self) -> bool:
        """Restore what is closed, and the output that a command owns; tell whether any was."""
        # First the descriptors: the next file that is opened would take the number of a closed one.
        restored = [number for number in self._spares if self._restored(number)]
        for number, (name, stream) in enumerate([*self._streams.items()], start=1):
            present = getattr(sys, name)
            if stream is None or (_is_open(present) and (present is stream or name != self._owned)):
                continue
            self._streams[name] = stream if _is_open(stream) else _opened(number)
            setattr(sys, name, self._streams[name])
            restored.append(number)
        return bool(restored)

    def _restored(self, number: int) -> bool:
        spare, was = self._spares[number]
        with suppress(OSError):
            if os.path.samestat(os.fstat(number), was):
                return False
        with suppress(OSError):
            os.dup2(spare, number)
        return True


def _is_open(stream: TextIO | None) -> bool:
    try:
        return stream is not None and not stream.closed
    except ValueError:  # its buffer has been detached
        return False


def _opened(number: int) -> TextIO:
    file = io.FileIO(number, "w", closefd=False)
    return io.TextIOWrapper(file, "utf-8", "backslashreplace", write_through=True)


def duplicate(descriptor: int) -> int:
    """Return a duplicate that children do not inherit, above the three standard descriptors."""
    if sys.platform == "win32":
        return os.dup(descriptor)
    import fcntl  # noqa: PLC0415 - there is none on Windows

    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
