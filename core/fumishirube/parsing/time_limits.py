"""Limits the time of a process, with patience where other processes take the processor."""

from __future__ import annotations

import os
import time
from pathlib import Path
from subprocess import Popen
from threading import Lock, Timer

_PATIENCE = 3
"""How many times its limit, by the clock, a process may take that got too little processor time."""


class TimeLimit:
    """Kills a process that has used its seconds.

    These are seconds of the clock. Where the system says how much processor time the process used
    (Linux), it may go on until that is as long, but not beyond three times as many seconds: on a
    busy machine a file needs more time than its parser does.
    """

    def __init__(self, process: Popen[bytes], seconds: float) -> None:
        self.exceeded = False
        self._process = process
        self._seconds = seconds
        self._began = time.monotonic()
        self._used = _processor_seconds(process.pid)
        self._cancelled = False
        self._lock = Lock()
        self._wait(seconds)

    def cancel(self) -> None:
        """End the limit; the process may go on."""
        with self._lock:
            self._cancelled = True
            self._timer.cancel()

    def _wait(self, seconds: float) -> None:
        self._timer = Timer(seconds, self._check)
        self._timer.daemon = True
        self._timer.start()

    def _check(self) -> None:
        with self._lock:
            if self._cancelled:
                return
            if (left := self._left()) > 0:
                self._wait(left)
                return
            self.exceeded = True
            self._process.kill()

    def _left(self) -> float:
        """Return how many seconds the process has at least."""
        used = _processor_seconds(self._process.pid)
        if used is None or self._used is None:
            return 0.0
        taken = time.monotonic() - self._began
        return min(self._seconds - used + self._used, _PATIENCE * self._seconds - taken)


def _processor_seconds(pid: int) -> float | None:
    """Return the processor time of a process and of those it has waited for, or ``None``."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, AttributeError):  # not Linux, or it has ended
        return None
