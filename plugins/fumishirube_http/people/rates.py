"""How often each person may call: a count in this process, or one for all worker processes."""

from __future__ import annotations

import logging
import sqlite3
from contextlib import closing
from pathlib import Path
from threading import Lock
from time import time
from typing import NamedTuple

FILE = "rates.db"
_MINUTE = 60.0
_WAIT_SECONDS = 1.0
_SCHEMA = "CREATE TABLE IF NOT EXISTS rates (name TEXT PRIMARY KEY, remaining REAL, at REAL)"

_log = logging.getLogger("fumishirube.http")


class Allowance(NamedTuple):
    """How many calls a person could make at a time, in seconds of the Unix epoch."""

    remaining: float
    at: float

    def after(self, number: int, per_minute: int, now: float) -> tuple[Allowance, float]:
        """Use calls of a rate of N a minute: N at once, then one each 60/N seconds.

        Return the new allowance, and the seconds until there are so many, 0 if they were used.
        """
        earned = max(0.0, now - self.at) * per_minute / _MINUTE
        remaining = min(per_minute, self.remaining + earned)
        if remaining < number:
            return Allowance(remaining, now), (number - remaining) * _MINUTE / per_minute
        return Allowance(remaining - number, now), 0.0


class Rates:
    """The rates of all people. Without a ``file`` each process counts by itself.

    With a file, all processes that serve the same workspace count together, in SQLite. While it
    cannot be used, each counts by itself, and the log says so.
    """

    def __init__(self, file: Path | None = None) -> None:
        self.shared = file is not None
        self._file = file
        self._own: dict[str, Allowance] = {}
        self._lock = Lock()

    def use(self, name: str, number: int, per_minute: int) -> float:
        """Use some calls of a person; return the seconds until there are so many, 0 for now."""
        if self._file is not None:
            try:
                return _use(self._file, name, number, per_minute)
            except (sqlite3.Error, OSError) as error:
                _log.warning(
                    "each worker counts the calls of people by itself: %s", type(error).__name__
                )
        with self._lock:
            now = time()
            before = self._own.get(name, Allowance(per_minute, now))
            self._own[name], wait = before.after(number, per_minute, now)
            return wait


def _use(file: Path, name: str, number: int, per_minute: int) -> float:
    file.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(file, timeout=_WAIT_SECONDS, isolation_level=None)) as base:
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("PRAGMA synchronous = OFF")  # a lost count of some seconds harms nobody
        base.execute(_SCHEMA)
        base.execute("BEGIN IMMEDIATE")
        now = time()
        row = base.execute("SELECT remaining, at FROM rates WHERE name = ?", (name,)).fetchone()
        before = Allowance(*row) if row else Allowance(per_minute, now)
        after, wait = before.after(number, per_minute, now)
        base.execute("INSERT OR REPLACE INTO rates VALUES (?, ?, ?)", (name, *after))
        base.execute("COMMIT")
        return wait
