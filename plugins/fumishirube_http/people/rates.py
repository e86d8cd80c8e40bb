"""How often each person may call: a count in this process, or one for all worker processes."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path
from threading import Lock
from time import time
from typing import NamedTuple

from fumishirube import Root
from fumishirube.disk import DerivedDatabase

FILE = "rates.db"
_MINUTE = 60.0
_PRAGMAS = ("journal_mode = TRUNCATE", "synchronous = OFF")
"""A lost count of seconds harms nobody."""
_SCHEMA = "CREATE TABLE IF NOT EXISTS rates (name TEXT PRIMARY KEY, remaining REAL, at REAL)"
_USABLE = (
    "SELECT remaining, at FROM rates WHERE name = ?"
    " AND typeof(remaining) = 'real' AND typeof(at) = 'real' AND remaining >= 0"
)
"""A damaged row is like none."""

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
    is gone or damaged is made again, with no calls used. While it cannot be used, each process
    counts by itself. The log says both, once.
    """

    def __init__(self, file: Path | None = None) -> None:
        self.shared = file is not None
        self._base = None if file is None else _database(file)
        self._own: dict[str, Allowance] = {}
        self._lock = Lock()
        self._problem = ""

    def use(self, name: str, number: int, per_minute: int) -> float:
        """Use some calls of a person; return the seconds until there are so many, 0 for now."""
        if self._base is not None:
            try:
                wait = self._base.use(lambda base: _use(base, name, number, per_minute))
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

    def _note(self, problem: str) -> None:
        """Log a problem with the file when it begins, and when it has ended."""
        with self._lock:
            before, self._problem = self._problem, problem
        if problem and not before:
            _log.warning("each worker counts the calls of people by itself: %s", problem)
        elif before and not problem:
            _log.warning("all workers count the calls of people together again")


def _database(file: Path) -> DerivedDatabase:
    def log(_: BaseException) -> None:
        _log.warning("%s is damaged and made again: no calls of people are used", file.name)

    return DerivedDatabase(Root(file.parent), file.name, _SCHEMA, pragmas=_PRAGMAS, on_damage=log)


def _use(base: sqlite3.Connection, name: str, number: int, per_minute: int) -> float:
    with base:  # no exception leaves the file locked
        base.execute("BEGIN IMMEDIATE")
        now = time()
        row = base.execute(_USABLE, (name,)).fetchone()
        before = Allowance(*row) if row else Allowance(per_minute, now)
        after, wait = before.after(number, per_minute, now)
        base.execute("INSERT OR REPLACE INTO rates VALUES (?, ?, ?)", (name, *after))
    return wait
