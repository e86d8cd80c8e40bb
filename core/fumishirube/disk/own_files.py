"""Files of the program's own, below the folders of state and logs: no link leads to them."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from fumishirube.disk.no_follow import NO_FOLLOW, PLAIN
from fumishirube.disk.roots import Root
from fumishirube.errors import Forbidden, ToolError

if TYPE_CHECKING:
    import sqlite3

_JOURNAL = bytes.fromhex("d9d505f920a163d7")
"""What a journal of SQLite begins with, and ends with if it names a further file."""
_CONTENT = "SELECT type, name, coalesce(sql, '') FROM sqlite_master"


def state_folder(state: Path, path: str = "") -> Root:
    """Return the folder of state, or one below it, whether it exists or not.

    Its ``make`` creates the folder of state for this user alone.
    """
    root = Root(state, private=True)
    return root.folder_below(path) if path else root


def made_folder(root: Root) -> Path:
    """Create a folder and its parents, unless they exist; return its path.

    Raises:
        OSError: when it cannot be created, or a link is in its place or above.
    """
    try:
        return root.make().path
    except Forbidden as error:
        if isinstance(error.__cause__, OSError):
            raise error.__cause__ from error
        raise PermissionError(errno.EACCES, str(error)) from error


def own_entries(root: Root, pattern: str) -> list[Path]:
    """Return what matches in a folder, sorted; nothing, if there is none or a link leads there."""
    try:
        with root.opened():
            return sorted(root.path.glob(pattern))
    except ToolError:
        return []


def open_own(path: Path, flags: int, mode: int = 0o600) -> int:
    """Open a regular file, and return its handle; ``mode`` is that of a new one.

    Raises:
        OSError: when that fails, or a link or anything else is in its place.
    """
    refuse_link(path)
    handle = os.open(path, flags | NO_FOLLOW | PLAIN, mode)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "this is no file", path.name)
    return handle


def read_own(path: Path, most: int, *, linked: bool = False) -> bytes:
    """Return the content of a regular file of at most so many bytes.

    With ``linked``, such as for the user's configuration, a link is followed to such a file.

    Raises:
        OSError: when it cannot be read, a link or anything else is in its place, or, as ``EFBIG``,
            it is larger.
    """
    place = Path(os.path.realpath(path)) if linked else path
    with open(open_own(place, os.O_RDONLY), "rb") as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, "this is too large", path.name)
    return data


def check_database(path: Path) -> None:
    """Check the files of an SQLite database, which may not exist, before SQLite opens them.

    A journal of several databases is removed, with the database: SQLite would delete the further
    file that it names, and each of ours has a journal of its own.

    Raises:
        OSError: when one of them is a link, or cannot be read.
    """
    for file in _database_files(path):
        refuse_link(file)
    if _names_a_further_file(path.with_name(f"{path.name}-journal")):
        remove_database(path)


def check_tables(base: sqlite3.Connection, schema: str) -> None:
    """Check that a database holds what these statements make, and nothing else.

    A view of the same name, or a column that SQLite computes, could take a search without end.

    Raises:
        sqlite3.DatabaseError: as for a file that is no database.
    """
    if sorted(base.execute(_CONTENT)) != _made_by(schema):
        import sqlite3  # noqa: PLC0415 - most commands need no database

        error = sqlite3.DatabaseError("it has other tables")
        error.sqlite_errorcode = sqlite3.SQLITE_NOTADB
        raise error


@lru_cache
def _made_by(schema: str) -> list[tuple[str, ...]]:
    import sqlite3  # noqa: PLC0415 - as above

    with closing(sqlite3.connect(":memory:")) as model:
        model.executescript(schema)
        return sorted(model.execute(_CONTENT))


def remove_database(path: Path) -> None:
    """Delete an SQLite database, its file last: a new one must not meet an old journal.

    Raises:
        OSError: when that is not permitted.
    """
    for file in _database_files(path):
        file.unlink(missing_ok=True)


def _database_files(path: Path) -> list[Path]:
    return [path.with_name(path.name + suffix) for suffix in ("-journal", "-wal", "-shm", "")]


def _names_a_further_file(journal: Path) -> bool:
    try:
        with open(open_own(journal, os.O_RDONLY), "rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - len(_JOURNAL)))
            return stream.read() == _JOURNAL
    except FileNotFoundError:
        return False


def refuse_link(path: Path) -> None:
    """Check that a path is no link, for libraries that open files themselves.

    Raises:
        OSError: when it is one.
    """
    if path.is_symlink():
        raise OSError(errno.ELOOP, "symbolic links are not followed", path.name)
