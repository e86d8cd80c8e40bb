"""SQLite files of data that can be made again: a damaged one costs only time."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from fumishirube.disk.own_files import made_folder, open_own, refuse_link
from fumishirube.disk.roots import Root

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")

_JOURNAL = bytes.fromhex("d9d505f920a163d7")
"""What a journal of SQLite begins with, and ends with if it names a further file."""
_MOST = 2
"""How often a use makes a damaged file again: others may remove and make it at the same time."""
_TABLES = "SELECT type, name, coalesce(sql, '') FROM sqlite_master ORDER BY type, name"


class DerivedDatabase:
    """An SQLite file that any number of threads and processes use, and that can be made again.

    ``schema`` has the statements that make an empty file; they may run twice. A file that is
    damaged, or holds anything else, is removed and made again, after a call of ``on_damage``. A
    busy, full or forbidden one is not: its error is raised, as for a link, which is not followed.
    A file that was deleted or replaced is opened again.

    ``check`` is called before a file is opened, and before it is removed; what it raises leaves the
    file as it is. ``pragmas`` are those of each connection, which waits ``patience`` seconds for
    others.
    """

    def __init__(
        self,
        folder: Root,
        name: str,
        schema: str,
        *,
        pragmas: Sequence[str] = (),
        patience: float = 1.0,
        check: Callable[[], object] = lambda: None,
        on_damage: Callable[[BaseException], object] = lambda _: None,
    ) -> None:
        self._folder = folder
        self._file = folder.path / name
        self._schema = schema
        self._pragmas = pragmas
        self._patience = patience
        self._check = check
        self._on_damage = on_damage
        self._lock = Lock()
        self._base: sqlite3.Connection | None = None
        self._status: os.stat_result | None = None

    def use(self, act: Callable[[sqlite3.Connection], T]) -> T:
        """Return what a function does with a connection, one at a time; again after damage.

        Raises:
            sqlite3.Error: when the file cannot be used now, or is damaged again.
            OSError: when there is a link, or the folder cannot be made or the file removed.
        """
        damages = 0
        with self._lock:
            while True:
                try:
                    return act(self._current())
                except BaseException as error:
                    if damages == _MOST or not _is_damage(error):
                        self._close()  # the next use meets the file as it is then
                        raise
                    damages += 1
                    self._on_damage(error)
                    self._remove(surely=damages == _MOST)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            self._close()

    def __del__(self) -> None:
        """Close the file with its last user: what counts until its process ends closes nothing."""
        self._close()

    def _current(self) -> sqlite3.Connection:
        if self._base is not None and not self._is_current():
            self._close()
        return self._base or self._opened()

    def _opened(self) -> sqlite3.Connection:
        import sqlite3  # noqa: PLC0415 - most commands need no database

        made_folder(self._folder)
        self._check()
        check_database(self._file)
        before = self._stat()
        self._base = base = sqlite3.connect(
            self._file, timeout=self._patience, check_same_thread=False
        )
        self._status = before or self._stat()
        if not base.execute(_TABLES).fetchall():
            base.executescript(f"BEGIN IMMEDIATE;{self._schema};COMMIT")
        # A view of the same name, or a column that SQLite computes, could be read without end.
        if _content(base) != _content_of(self._schema):
            raise sqlite3.DatabaseError("it has other tables")
        for pragma in self._pragmas:
            base.execute(f"PRAGMA {pragma}")
        return base

    def _close(self) -> None:
        base, self._base = self._base, None
        if base is not None:
            base.close()

    def _remove(self, *, surely: bool) -> None:
        """Remove a damaged file; unless ``surely``, only if no other process was faster."""
        surely = surely or self._is_current()  # while it is open no other file has its number
        self._close()
        self._check()
        if surely:
            remove_database(self._file)

    def _is_current(self) -> bool:
        """Tell whether the file that was opened is still there."""
        now = self._stat()
        return bool(now and self._status and os.path.samestat(now, self._status))

    def _stat(self) -> os.stat_result | None:
        try:
            return self._file.stat()
        except OSError:
            return None


def _is_damage(error: BaseException) -> bool:
    import sqlite3  # noqa: PLC0415 - as above

    # Without a code Python could not read a value, such as text that is no UTF-8.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
    damages = sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB
    is_ours = isinstance(error, sqlite3.ProgrammingError)  # such as a wrong number of values
    return isinstance(error, sqlite3.DatabaseError) and not is_ours and code in damages


def _content(base: sqlite3.Connection) -> list[tuple[object, ...]]:
    pragmas = (base.execute(f"PRAGMA {name}") for name in ("user_version", "application_id"))
    return [*base.execute(_TABLES), *(row for rows in pragmas for row in rows)]


@lru_cache
def _content_of(schema: str) -> list[tuple[object, ...]]:
    import sqlite3  # noqa: PLC0415 - as above

    with closing(sqlite3.connect(":memory:")) as model:
        model.executescript(f"{schema};")
        return _content(model)


def check_database(path: Path) -> None:
    """Check the files of an SQLite database, which may not exist, before SQLite opens them.

    A journal of several databases is removed, with the database: SQLite would delete the further
    file that it names, and each of ours has a journal of its own.

    Raises:
        OSError: when one of them is a link, or cannot be read.
    """
    files = _files(path)
    for file in files:
        refuse_link(file)
    if _names_a_further_file(files[0]):
        remove_database(path)


def remove_database(path: Path) -> None:
    """Delete an SQLite database, its file last: a new one must not meet an old journal.

    Raises:
        OSError: when that is not permitted.
    """
    for file in _files(path):
        file.unlink(missing_ok=True)


def _files(path: Path) -> list[Path]:
    return [path.with_name(path.name + suffix) for suffix in ("-journal", "-wal", "-shm", "")]


def _names_a_further_file(journal: Path) -> bool:
    try:
        with os.fdopen(open_own(journal, os.O_RDONLY), "rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - len(_JOURNAL)))
            return stream.read() == _JOURNAL
    except FileNotFoundError:
        return False
