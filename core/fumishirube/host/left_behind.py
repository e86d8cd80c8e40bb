"""What plugin code leaves of the process: its copies, timers, streams and the level of the log."""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from collections.abc import Callable

from fumishirube.host.standard_streams import restore_streams

COPIED = "it copied the process, and the copy went on; the copy was ended"

_PAUSE = 0.1
"""Seconds until a copy reports itself: the original must not take that for an older fault."""
_TIMER = "it left a timer behind that would have ended the process"
_STREAMS = "it closed or replaced a standard stream"
_LOG = "it switched off the log"
_RECURSION = "it lowered the limit of nested calls"


class Undoing:
    """Undoes what a body leaves behind in the process; ``left`` then has sentences about it.

    A copy of the process that leaves the body calls ``copied`` and ends: it would go on to answer a
    second time.
    """

    __slots__ = ("_copied", "_level", "_process", "_recursion", "_timer", "left")

    def __init__(self, copied: Callable[[], None]) -> None:
        self._copied = copied
        self.left: list[str] = []

    def __enter__(self) -> list[str]:
        self._process, self._level = os.getpid(), logging.root.manager.disable
        self._timer, self._recursion = _seconds_left(), sys.getrecursionlimit()
        return self.left

    def __exit__(self, *_: object) -> None:
        if os.getpid() != self._process:
            try:
                time.sleep(_PAUSE)
                self._copied()
            finally:
                os._exit(0)
        if logging.root.manager.disable > self._level:
            logging.disable(self._level)
            self.left.append(_LOG)
        if sys.getrecursionlimit() < self._recursion:
            sys.setrecursionlimit(self._recursion)
            self.left.append(_RECURSION)
        if not self._timer and _seconds_left():
            signal.setitimer(signal.ITIMER_REAL, 0)
            self.left.append(_TIMER)
        if restore_streams():
            self.left.append(_STREAMS)


def _seconds_left() -> float:
    """Return the seconds after which a timer ends the process, or 0; Windows has no timers."""
    return signal.getitimer(signal.ITIMER_REAL)[0] if hasattr(signal, "getitimer") else 0.0
