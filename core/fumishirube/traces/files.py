"""Traces as files: one JSON document each, which other processes can read."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG
from typing import Any, TypeVar

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError, to_json

from fumishirube.disk.own_files import made_folder
from fumishirube.disk.roots import Root
from fumishirube.disk.scratch import replace_file
from fumishirube.traces.records import Span, Trace, TraceRow

T = TypeVar("T")

VERSION = 1
"""The version of the format; later ones are not read."""

_SUFFIX = ".json"
_UNFINISHED = ".part"
_UNFINISHED_SECONDS = 60
_LARGEST = 2**26
"""Bytes; of a larger file no trace is read. They have 150 KB, and rarely some MB."""
_LAST_TIME = 1e11
"""Seconds since 1970, in the year 5138: a later time is none of a trace, and has no date."""
DAMAGED = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
"""What :func:`decode_trace` raises for anything but a trace."""


class TraceFiles:
    """A folder of traces: at most ``limit``, and none older than ``seconds``."""

    def __init__(self, folder: Root, limit: int, seconds: float) -> None:
        self._folder = folder
        self._limit = limit
        self._seconds = seconds

    def write(self, trace: Trace) -> bytes:
        """Write a trace atomically; only its owner may read it. Return it as JSON.

        Raises:
            OSError: when the folder cannot be written.
        """
        encoded = encode_trace(trace)
        made_folder(self._folder)
        replace_file(self._file(trace.id), encoded)
        return encoded

    def read(self, trace_id: str) -> Trace | None:
        """Return a trace, or ``None`` if it is missing, unreadable or expired."""
        if not is_trace_id(trace_id):
            return None
        try:
            content = _content(self._file(trace_id))
        except (OSError, ValueError):
            return None
        return recent_trace(content, trace_id, self._seconds)

    def ids(self, beginning: str) -> Iterator[str]:
        """Yield the ids of the files that begin so."""
        for entry in self._entries():
            if entry.name.startswith(beginning) and entry.name.endswith(_SUFFIX):
                yield entry.name.removesuffix(_SUFFIX)

    def all(self, known: Container[str]) -> Iterator[tuple[str, Trace | None]]:
        """Yield file names with traces, except ``known`` ids and expired ones.

        A file without a readable trace yields ``None``.
        """
        for file in (self._file(trace_id) for trace_id in self.ids("") if trace_id not in known):
            try:
                trace = decode_trace(_content(file))
            except DAMAGED:
                yield file.name, None
            except OSError:
                continue  # removed meanwhile
            else:
                if trace.id != file.stem:
                    yield file.name, None
                elif trace.created >= time.time() - self._seconds:
                    yield file.name, trace

    def remove(self, trace_id: str) -> None:
        """Delete one trace; it may be missing."""
        _delete(os.fspath(self._file(trace_id)))

    def tidy(self) -> None:
        """Delete expired and surplus traces of all processes, the oldest first."""
        now = time.time()
        remaining: list[tuple[float, str]] = []
        for entry in self._entries():
            try:
                written = entry.stat().st_mtime
            except OSError:
                continue  # removed by another process
            if entry.name.endswith(_SUFFIX) and written >= now - self._seconds:
                remaining.append((written, entry.path))
            elif entry.name.endswith(_SUFFIX) or written < now - _UNFINISHED_SECONDS:
                _delete(entry.path)
        for _, path in sorted(remaining)[: max(0, len(remaining) - self._limit)]:
            _delete(path)

    def _entries(self) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self._folder.path) as scanned:
                return [entry for entry in scanned if entry.name.endswith((_SUFFIX, _UNFINISHED))]
        except OSError:
            return []

    def _file(self, trace_id: str) -> Path:
        return self._folder.path / f"{trace_id}{_SUFFIX}"


def is_trace_id(text: str) -> bool:
    """Tell whether a text may be the id of a trace, which is also the name of its file."""
    return text.isascii() and text.isalnum()


def _content(file: Path) -> bytes:
    """Return the content of a file.

    Raises:
        ValueError: when it is no regular file, or larger than any trace.
        OSError: when it cannot be read.
    """
    status = file.stat()
    if not S_ISREG(status.st_mode) or status.st_size > _LARGEST:
        raise ValueError("this is no file of a trace")
    return file.read_bytes()


def _delete(path: str) -> None:
    try:
        os.unlink(path)  # noqa: PTH108 - scandir gives plain paths
    except OSError:
        return  # removed already, or in use; a later tidy() removes it


# --- the document ---------------------------------------------------------------------------


@dataclass
class _StoredRows:
    """Every row once, and a separate list of their sections.

    Stages pass on most rows unchanged; a tree would repeat them in every span.
    """

    places: dict[tuple[Any, ...], int] = field(default_factory=dict)
    rows: list[Any] = field(default_factory=list)
    known: dict[int, int] = field(default_factory=dict)

    def number(self, row: TraceRow) -> int:
        number = self.known.get(id(row))
        if number is None:
            place = self.places.setdefault(row[:5], len(self.places))
            number = self.known[id(row)] = len(self.rows)
            self.rows.append((place, *row[5:]))
        return number


def encode_trace(trace: Trace) -> bytes:
    """Return a trace as a JSON document."""
    rows = _StoredRows()
    origin = trace.origin
    search = _span(trace.search, rows)
    document = {
        "version": VERSION,
        **vars(trace),
        "query": origin.query.record(),
        "origin": {"recipe": origin.recipe._asdict(), "corpus": origin.corpus},
        "search": search,
        "places": [*rows.places],
        "rows": rows.rows,
    }
    try:
        return to_json(document, fallback=_plain)
    except (
        PydanticSerializationError
    ):  # a lone surrogate, possible only from callers in the process
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), default=_plain)
        return text.encode("utf-8", "surrogatepass")


def decode_trace(data: bytes) -> Trace:
    """Read a trace; fields that an older version lacks get their defaults.

    Raises:
        ValueError: when it is not a trace, or has a later version.
        TypeError: the same, as are ``LookupError`` and ``AttributeError``.
    """
    document = json.loads(data.decode("utf-8", "surrogatepass"))
    if document["version"] > VERSION:
        raise ValueError("a later version wrote this trace")
    places = document["places"]
    read_rows = _adapter(list[TraceRow]).validate_python
    rows = read_rows([(*_numbered(places, place), *rest) for place, *rest in document["rows"]])
    origin = {**document.get("origin", {}), "query": document["query"]}
    search = _read_span(document["search"], rows)
    trace: Trace = _adapter(Trace).validate_python({**document, "origin": origin, "search": search})
    if not 0 <= trace.created <= _LAST_TIME:
        raise ValueError("a trace has the time of its search")
    return trace


def recent_trace(data: bytes, trace_id: str, seconds: float) -> Trace | None:
    """Read a trace; ``None`` if it is damaged, has another id, or is older than some seconds."""
    try:
        trace = decode_trace(data)
    except DAMAGED:
        return None
    fresh = trace.created >= time.time() - seconds
    return trace if fresh and trace.id == trace_id else None


def _plain(value: object) -> object:
    """Return the JSON form of a value that ``json`` does not know."""
    if isinstance(value, (frozenset, set)):
        return sorted(value)
    if isinstance(value, Mapping):
        return dict(value)
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"a trace cannot store {type(value).__name__}")


def _span(span: Span, rows: _StoredRows) -> dict[str, Any]:
    plain = {**vars(span), "diagnostics": {**span.diagnostics}}
    plain["rows"] = [rows.number(row) for row in span.rows]
    plain["children"] = [_span(child, rows) for child in span.children]
    return plain


def _read_span(plain: dict[str, Any], rows: list[TraceRow]) -> Span:
    span: Span = _adapter(Span).validate_python({**plain, "rows": (), "children": ()})
    shown = tuple(_numbered(rows, number) for number in plain["rows"])
    children = tuple(_read_span(child, rows) for child in plain["children"])
    return replace(span, rows=shown, children=children)


def _numbered(items: Sequence[T], number: int) -> T:
    """Return an item by its number; one below 0 would count from the end."""
    if number < 0:
        raise IndexError("a number of a row or a place is not below 0")
    return items[number]


@lru_cache
def _adapter(kind: type) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
