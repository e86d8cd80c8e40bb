"""The file of vectors: by the hash of their text, with the hashes of each file's sections."""

from __future__ import annotations

import json
import logging
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import NamedTuple, TypeAlias, TypeVar

from fumishirube.disk.databases import DerivedDatabase, check_database, remove_database
from fumishirube.disk.locks import take_lock
from fumishirube.disk.own_files import made_folder, open_own, own_entries
from fumishirube.disk.roots import Root

T = TypeVar("T")

_log = logging.getLogger("fumishirube")

SectionKeys: TypeAlias = tuple[tuple[str, ...], ...]
"""The keys of the pieces of each section of a file, in order."""

_TURN_SECONDS = 0.05
_SCHEMA = """
    CREATE TABLE IF NOT EXISTS
        vectors (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT UNIQUE, vector BLOB);
    CREATE TABLE IF NOT EXISTS
        files (id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT UNIQUE, stamp TEXT,
                        sections TEXT);
    CREATE TABLE IF NOT EXISTS identity (value TEXT);
    PRAGMA user_version = 1;
"""
_IDENTIFY = "INSERT INTO identity SELECT ? WHERE NOT EXISTS (SELECT 1 FROM identity)"


class FileKeys(NamedTuple):
    """A file, its stamp, and the keys of its sections."""

    path: str
    stamp: str
    sections: SectionKeys


class Position(NamedTuple):
    """How far a file of vectors has been read; ``identity`` changes when rows are deleted."""

    identity: str = ""
    vectors: int = 0
    files: int = 0


class NewRows(NamedTuple):
    """The rows after a position, and the next position; ``complete`` if these are all rows."""

    position: Position
    vectors: Sequence[tuple[str, bytes]]
    files: Sequence[FileKeys]
    complete: bool


class VectorFile:
    """A file of vectors that any number of processes read, and one at a time writes.

    It is derived data: a file that cannot be read, or a link in its place, is deleted and made
    again.
    """

    def __init__(self, folder: Root, name: str) -> None:
        self._folder = folder
        self._path = folder.path / name
        self.remove = partial(remove_database, self._path)

    def read(self, since: Position) -> NewRows:
        """Return what was committed after a position."""
        if not own_entries(self._folder, self._path.name):
            return NewRows(Position(), (), (), complete=since != Position())

        def read(base: sqlite3.Connection) -> NewRows:
            try:
                return _read(base, since)
            except (ValueError, TypeError) as error:
                raise sqlite3.DatabaseError(str(error)) from error

        return self._used(read)

    def write(self, vectors: Iterable[tuple[str, bytes]], files: Iterable[FileKeys]) -> None:
        """Store vectors and files in one commit."""
        rows = [(path, stamp, json.dumps(sections)) for path, stamp, sections in files]
        self._commit(
            (_IDENTIFY, [(secrets.token_hex(8),)]),
            ("INSERT OR IGNORE INTO vectors (key, vector) VALUES (?, ?)", [*vectors]),
            ("INSERT OR REPLACE INTO files (path, stamp, sections) VALUES (?, ?, ?)", rows),
        )

    def drop(self, keys: Iterable[str], paths: Iterable[str]) -> None:
        """Delete vectors and files; every reader then reads all rows again."""
        self._commit(
            ("DELETE FROM vectors WHERE key = ?", [(key,) for key in keys]),
            ("DELETE FROM files WHERE path = ?", [(path,) for path in paths]),
            ("UPDATE identity SET value = ?", [(secrets.token_hex(8),)]),
        )

    @contextmanager
    def writing(self, go_on: Callable[[], bool]) -> Iterator[bool]:
        """Become the one that embeds; yield ``False`` if another process does until time is up."""
        made_folder(self._folder)
        handle = open_own(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o666)
        with os.fdopen(handle, "r+b") as lock:
            mine = take_lock(lock.fileno(), 0)
            while not mine and go_on():
                mine = take_lock(lock.fileno(), _TURN_SECONDS)
            yield mine

    def _commit(self, *statements: tuple[str, Sequence[tuple[object, ...]]]) -> None:
        """Run each statement for its rows, all in one commit."""

        def run(base: sqlite3.Connection) -> None:
            with base:
                for statement, rows in statements:
                    base.executemany(statement, rows)

        self._used(run)

    def _used(self, act: Callable[[sqlite3.Connection], T]) -> T:
        log = partial(_log.warning, "a file of vectors is damaged, and is made again: %s")
        base = DerivedDatabase(
            self._folder, self._path.name, _SCHEMA, patience=30, check=self._check, on_damage=log
        )
        with closing(base):
            return base.use(act)

    def _check(self) -> None:
        try:
            check_database(self._path)
        except OSError:
            self.remove()


def _read(base: sqlite3.Connection, since: Position) -> NewRows:
    base.execute("BEGIN")  # the rows of one commit
    ((identity,),) = base.execute("SELECT value FROM identity").fetchall() or [("",)]
    complete = identity != since.identity
    start = Position(identity) if complete else since
    vectors = base.execute(
        "SELECT id, key, vector FROM vectors WHERE id > ? ORDER BY id", (start.vectors,)
    ).fetchall()
    files = base.execute(
        "SELECT id, path, stamp, sections FROM files WHERE id > ? ORDER BY id", (start.files,)
    ).fetchall()
    base.rollback()
    position = Position(
        identity,
        vectors[-1][0] if vectors else start.vectors,
        files[-1][0] if files else start.files,
    )
    keys = [FileKeys(path, stamp, _sections(text)) for _, path, stamp, text in files]
    return NewRows(position, [(key, vector) for _, key, vector in vectors], keys, complete)


def _sections(text: str) -> SectionKeys:
    return tuple(tuple(map(str, keys)) for keys in json.loads(text))
