"""Stores projections on disk, so that a restart does not compute them again."""

from __future__ import annotations

import logging
import sqlite3
from array import array
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from struct import Struct
from typing import NamedTuple, TypeVar

from fumishirube import Root
from fumishirube.disk import DerivedDatabase
from fumishirube.text import OffsetMap, Projection, TextForm

T = TypeVar("T")

LOG = logging.getLogger("fumishirube.chapters")

_MARK = int.from_bytes(b"FmsP")
"""The ``application_id`` of a file of projections, which the header of SQLite contains."""
_MAGIC, _HEADER_BYTES, _MARK_AT = b"SQLite format 3\0", 100, slice(68, 72)
_COUNT = Struct("<I")
_MOST_MAPS = 4
"""Normal, folded, letters, separators; each has an odd count of pieces, the first at 0."""
_PRAGMAS = ("journal_mode = WAL", "synchronous = OFF")
_SCHEMA = f"""
PRAGMA application_id = {_MARK};
PRAGMA user_version = 2;
CREATE TABLE IF NOT EXISTS projections (
  manual TEXT, path TEXT, form TEXT, stamp TEXT, text TEXT, ways BLOB,
  PRIMARY KEY (manual, path, form)
) WITHOUT ROWID
"""


class StoredProjection(NamedTuple):
    """A projection, and the state of the file that it was computed from."""

    manual: str
    path: str
    stamp: str
    form: TextForm
    projection: Projection


class ForeignFile(Exception):
    """The named file exists and is no file of projections."""


class ProjectionStore:
    """A file of projections. After an error they are computed again, which costs only time.

    A file at the default place is ours. One that a user has ``named`` is used only if it is new,
    empty or marked as a file of projections: any other is left as it is.
    """

    def __init__(
        self, folder: Root, name: str = "projections.sqlite", *, named: bool = False
    ) -> None:
        self._base = DerivedDatabase(folder, name, _SCHEMA, pragmas=_PRAGMAS, check=self._check)
        self._file = folder.path / name
        self._named = named
        self._broken = False

    def get(self, manual: str, path: str, stamp: str, form: TextForm) -> Projection | None:
        """Return the stored projection of this state of a file, or ``None``."""
        sql = "SELECT text, ways FROM projections WHERE manual=? AND path=? AND form=? AND stamp=?"
        if self._broken or not self._file.exists():
            return None
        key = (manual, path, _key(form), stamp)
        row = self._done(lambda connection: connection.execute(sql, key).fetchone())
        return None if row is None else _unpacked(*row)

    def put(
        self,
        projections: Sequence[StoredProjection],
        only: tuple[str, Collection[str]] | None = None,
    ) -> None:
        """Store projections, replacing those of the same file and form.

        ``only`` is a manual with all its files: projections of its other files are deleted.
        """
        rows = [
            (
                stored.manual,
                stored.path,
                _key(stored.form),
                stored.stamp,
                stored.projection.text,
                _packed(stored),
            )
            for stored in projections
        ]
        if not self._broken and rows:
            self._done(lambda connection: _replace(connection, rows, only))

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    def _done(self, act: Callable[[sqlite3.Connection], T]) -> T | None:
        """Return what a function did with the file; ``None`` if it cannot be used."""
        try:
            return self._base.use(act)
        except ForeignFile:
            self._broken = True
            LOG.warning(
                "cache_file: %s is no file of projections, and is left as it is; name another",
                self._file.name,
            )
        except sqlite3.OperationalError as error:
            LOG.info("projections are not stored, or not read, this time: %s", error)
        except (sqlite3.Error, OSError) as error:
            self._broken = True
            LOG.warning("projections are not stored: %s", type(error).__name__)
        return None

    def _check(self) -> None:
        """Raise :class:`ForeignFile` for a named file that another program has made."""
        if self._named and self._file.exists() and not _is_ours(self._file):
            raise ForeignFile


def _is_ours(file: Path) -> bool:
    """Tell whether a file is empty or marked as one of projections.

    Its first bytes are read, because SQLite changes what it opens.
    """
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        header = opened.read(_HEADER_BYTES)
    return not header or (header.startswith(_MAGIC) and int.from_bytes(header[_MARK_AT]) == _MARK)


def _replace(
    connection: sqlite3.Connection,
    rows: Sequence[tuple[object, ...]],
    only: tuple[str, Collection[str]] | None,
) -> None:
    with connection:
        connection.executemany("REPLACE INTO projections VALUES (?,?,?,?,?,?)", rows)
        if only is not None:
            manual, files = only
            sql = "SELECT DISTINCT path FROM projections WHERE manual=?"
            stored_paths = [path for (path,) in connection.execute(sql, (manual,))]
            gone = [(manual, path) for path in stored_paths if path not in files]
            connection.executemany("DELETE FROM projections WHERE manual=? AND path=?", gone)


def _key(form: TextForm) -> str:
    return f"{form.fold:d} {form.separators!a}"


def _packed(stored: StoredProjection) -> bytes:
    parts: list[bytes] = []
    for way in stored.projection.offset_maps:
        parts += [_COUNT.pack(len(way.here)), way.here.tobytes(), way.there.tobytes()]
    return b"".join(parts)


def _unpacked(text: object, ways: object) -> Projection | None:
    """Return the projection of a row; ``None`` if the row is damaged."""
    if not isinstance(text, str) or not isinstance(ways, bytes):
        return None
    offset_maps: list[OffsetMap] = []
    place = 0
    while place < len(ways):
        count = int.from_bytes(ways[place : place + _COUNT.size], "little")
        size = count * array("I").itemsize
        place += _COUNT.size
        if not count % 2 or place + 2 * size > len(ways) or len(offset_maps) == _MOST_MAPS:
            return None
        here, there = array("I"), array("I")
        here.frombytes(ways[place : place + size])
        there.frombytes(ways[place + size : place + 2 * size])
        if here[0]:
            return None
        offset_maps.append(OffsetMap(here, there))
        place += 2 * size
    return Projection(text, tuple(offset_maps))
