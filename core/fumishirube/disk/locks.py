"""Locks between processes and threads: an open file with one owner at a time."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

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


def own_lock(handle: int, path: Path) -> bool:
    """Lock a new file at once; return whether that succeeded, and the path still is its name.

    Another process may take a file that is not locked yet for one left behind, and remove it.
    """
    if not take_lock(handle, 0):
        return False
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except OSError:
        return False


def remove_left_behind(handle: int, path: Path) -> None:
    """Close and remove a file of an ended process, whose lock the caller has taken.

    The lock ends after the removal where the system allows that: else the process that owns the
    next file of this name might lock it in between, and lose it.
    """
    if sys.platform == "win32":  # no process removes a file that another has open
        os.close(handle)
        path.unlink(missing_ok=True)
    else:
        path.unlink(missing_ok=True)
        os.close(handle)
