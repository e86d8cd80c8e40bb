"""Locks between processes and threads: an open file with one owner at a time."""

from __future__ import annotations

import sys
import time

_FIRST_PAUSE, _LONGEST_PAUSE = 0.001, 0.02

if sys.platform == "win32":
    import msvcrt

    def _take(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _take(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def take_lock(handle: int, seconds: float) -> bool:
    """Lock an open file until its handle is closed; return whether that succeeded in time.

    The system releases the locks of a process that dies.
    """
    deadline = time.monotonic() + seconds
    pause = _FIRST_PAUSE
    while not _take(handle):
        if time.monotonic() >= deadline:
            return False
        time.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)
    return True
