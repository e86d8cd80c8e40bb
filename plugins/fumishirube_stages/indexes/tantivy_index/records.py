"""The records of the files in a tantivy index, and the lengths of their fields."""

from __future__ import annotations

import secrets
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import from_json, to_json

from fumishirube import IndexedFile
from fumishirube.disk import read_own, replace_file

_FORMAT = 2
_CACHE = "records.cache"
"""The records of the files of one commit and the lengths of its fields, in one more file.

It is read in a tenth of the time that as many stored documents take. A missing, damaged or older
one is no fault: the records are then read from the index.
"""
_SEAL_BITS = 53
"""The bits of an integer that every JSON parser represents exactly."""
_MOST_BYTES = 256 * 1024 * 1024
_MANY = 1_000
"""Fewer records are read from the index in three milliseconds."""


class Generation(NamedTuple):
    """Tells commits apart: by a random number of each time that an index was begun, and tantivy's.

    tantivy counts the commits of an index; merging segments changes nothing in it.
    """

    seal: int = 0
    opstamp: int = -1


def new_seal() -> int:
    """Return the number of an index that is begun."""
    return secrets.randbits(_SEAL_BITS)


class IndexedPage(NamedTuple):
    """The record of a file, and the lengths of the fields of its sections, in characters."""

    page: IndexedFile
    lengths: Mapping[str, int]


def cached_records(folder: Path, generation: Generation) -> tuple[list[Any], dict[str, int]] | None:
    """Return the records and the lengths of a commit; ``None`` if the file has others."""
    try:
        head, _, body = read_own(folder / _CACHE, _MOST_BYTES).partition(b"\n")
    except OSError:
        return None
    if head != _record_head(generation, body):
        return None
    records, lengths = from_json(body)
    return records, lengths


def cache_records(
    folder: Path, generation: Generation, records: Sequence[Any], lengths: Mapping[str, int]
) -> None:
    """Store records and lengths, if they are many and the folder can be written."""
    if len(records) < _MANY:
        return
    body = to_json([records, lengths])
    with suppress(OSError):
        replace_file(folder / _CACHE, _record_head(generation, body) + b"\n" + body)


def _record_head(generation: Generation, body: bytes) -> bytes:
    return b"%d %d %d %08x" % (_FORMAT, *generation, zlib.crc32(body))


def add_lengths(total: Counter[str], lengths: Iterable[tuple[str, int]]) -> None:
    """Add the lengths of fields; ``Counter.update`` takes five times as long for so few."""
    for name, number in lengths:
        total[name] += number


def forget(path: str, indexed: dict[str, IndexedPage], lengths: Counter[str]) -> None:
    """Remove a file, if there, and its lengths."""
    if path in indexed:
        lengths.subtract(indexed.pop(path).lengths)
