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
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
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

    With a file, all processes that serve the same workspace count together, in SQLite. A file that
    is damaged is made again, with no calls used. While it cannot be used, each process counts by
    itself. The log says both, once.
    """

    def __init__(self, file: Path | None = None) -> None:
        self.shared = file is not None
        self._file = file
        self._own: dict[str, Allowance] = {}
        self._lock = Lock()
        self._problem = ""

    def use(self, name: str, number: int, per_minute: int) -> float:
        """Use some calls of a person; return the seconds until there are so many, 0 for now."""
        if self._file is not None:
            try:
                wait = self._use_shared(self._file, name, number, per_minute)
            except (sqlite3.Error, OSError) as error:
                self._note(str(error))
            else:
                self._note("")
                return wait
        with self._lock:
            now = time()
            before = self._own.get(name, Allowance(per_minute, now))
            self._own[name], wait = before.after(number, per_minute, now)
            return wait

    def _use_shared(self, file: Path, name: str, number: int, per_minute: int) -> float:
        try:
            return _use(file, name, number, per_minute)
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _DAMAGED:  # the primary code
                raise
        _log.warning("%s is damaged and made again: no calls of people are used", file.name)
        for suffix in ("-wal", "-shm", ""):  # the file last: a new one must not meet an old log
            file.with_name(file.name + suffix).unlink(missing_ok=True)
        return _use(file, name, number, per_minute)

    def _note(self, problem: str) -> None:
        """Log a problem with the file when it begins, and when it has ended."""
        with self._lock:
            before, self._problem = self._problem, problem
        if problem and not before:
            _log.warning("each worker counts the calls of people by itself: %s", problem)
        elif before and not problem:
            _log.warning("all workers count the calls of people together again")


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
