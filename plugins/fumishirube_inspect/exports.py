"""Traces exported to files, which other people and machines can read and replay."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from pydantic import JsonValue, TypeAdapter, ValidationError

from fumishirube import InvalidParameter, Query, Span, Trace, TraceRow
from fumishirube.serving import absolute_paths
from fumishirube.text import fold

NamesPlace: TypeAlias = Callable[[str], bool]
"""Tells whether a text is, or contains, an absolute path."""

_Rows: TypeAlias = dict[int, tuple[int, TraceRow]]
"""Each row of a tree once, with its number, by its identity in the order of its first use."""

FORMAT_VERSION = 1
"""The version of the format; later ones are refused."""
WITHHELD = "(an absolute path, which is not exported)"
"""Replaces a text that contains a path of somebody's disk."""

_OF_PATHS = r"\w.\-~%+@*?$&#!^"
_HOME = re.compile(rf"(?<![{_OF_PATHS}/\\)\]}}])~(?:[\w.-]*[/\\]|[^\W\d][\w.-]*(?![{_OF_PATHS}]))")
"""Somebody's home, as shells write it; ``~`` alone may be anything."""
_MARK = "fumishirube_trace"
_CORPUS = ("files", "sections", "skipped", "aside")
_REST = ("degraded", "cache", "thresholds", "annotations", "own", "report")
_LATER = ("manuals",)
"""Fields that files of an earlier version lack."""


@dataclass(frozen=True)
class ExportedTrace:
    """A trace, the programs that made it, and a fingerprint of the content if known.

    ``content`` does not depend on time stamps: equal files have equal fingerprints.
    """

    trace: Trace
    content: str | None
    program: Mapping[str, str]


def programs(version: str) -> dict[str, str]:
    """Return the versions of this program and of its platform."""
    return {"fumishirube": version, "python": platform.python_version()}


def export_document(export: ExportedTrace) -> dict[str, Any]:
    """Return the JSON object of a file: the hits of the ranking first, then the other rows."""
    trace, recipe = export.trace, export.trace.origin.recipe
    rows: _Rows = {}
    withholding = _Withholding(trace.origin.query)
    search = _span(trace.search, rows, withholding)
    shown = [row._asdict() for _, row in rows.values()]
    returned = len(dict.fromkeys(search["rows"]))
    return {
        _MARK: FORMAT_VERSION,
        "program": dict(export.program),
        "id": trace.id,
        "created": trace.created,
        "manual_id": trace.manual_id,
        "query": trace.origin.query.record(),
        "corpus": {
            "fingerprint": trace.origin.corpus,
            "content": export.content,
            **_members(trace, _CORPUS),
        },
        "pipeline": {**recipe._asdict(), "stages": withhold_paths(recipe.stages)},
        "ranking": shown[:returned],
        "other_rows": shown[returned:],
        "search": search,
        "rest": {
            **_members(trace, (*_REST, *_LATER)),
            "annotations": withholding.without_paths(trace.annotations),
            "degraded": withhold_paths(trace.degraded, withholding.names_place),
        },
    }


def encode_export(export: ExportedTrace) -> bytes:
    """Return the bytes of a file: indented JSON."""
    text = json.dumps(export_document(export), ensure_ascii=False, indent=1, default=_plain)
    return f"{text}\n".encode("utf-8", "surrogatepass")


def decode_export(data: bytes, name: str) -> ExportedTrace:
    """Read a file; errors call it ``name``.

    Raises:
        InvalidParameter: when it is not a trace, is damaged, or has a later version.
    """
    again = "write it again with 'fumishirube trace export'"
    try:
        document = json.loads(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise InvalidParameter(f"{name} is damaged or no JSON; {again}") from error
    form = document.get(_MARK) if isinstance(document, dict) else None
    if not isinstance(form, int):
        raise InvalidParameter(f"{name} is no exported trace; {again}")
    if form > FORMAT_VERSION:
        raise InvalidParameter(
            f"{name} was written by a later version of Fumishirube; update this one"
        )
    try:
        return _adapter().validate_python(_document(document))
    except ValidationError as error:
        where = ".".join(map(str, error.errors(include_url=False)[0]["loc"]))
        raise InvalidParameter(f"{name} is damaged at {where}; {again}") from error
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InvalidParameter(f"{name} is damaged; {again}") from error


def _span(span: Span, rows: _Rows, withholding: _Withholding) -> dict[str, Any]:
    plain = {**vars(span)}
    plain["rows"] = [rows.setdefault(id(row), (len(rows), row))[0] for row in span.rows]
    plain["left_out"] = _named(span.left_out)
    plain["diagnostics"] = withholding.without_paths(span.diagnostics)
    plain["error"] = withhold_paths(span.error, withholding.names_place)
    plain["children"] = [_span(child, rows, withholding) for child in span.children]
    return plain


def _members(trace: Trace, names: Sequence[str]) -> dict[str, Any]:
    return {name: _named(getattr(trace, name)) for name in names}


def _named(value: Any) -> Any:
    """Return a value with named tuples as objects, for JSON."""
    if is_dataclass(value) and not isinstance(value, type):
        return {member.name: _named(getattr(value, member.name)) for member in fields(value)}
    if hasattr(value, "_asdict"):
        return {name: _named(member) for name, member in value._asdict().items()}
    return [_named(member) for member in value] if isinstance(value, tuple) else value


def _plain(value: Any) -> object:
    """Return the JSON form of a value that ``json`` does not know."""
    return sorted(value) if isinstance(value, frozenset) else dict(value)


def _document(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of an :class:`ExportedTrace`, not yet validated."""
    query, corpus = document["query"], document["corpus"]
    rows = [*document["ranking"], *document["other_rows"]]
    fingerprint, content = corpus.pop("fingerprint"), corpus.pop("content")
    trace = {
        **{name: document[name] for name in ("id", "created", "manual_id")},
        **{name: corpus[name] for name in _CORPUS},
        **{name: document["rest"][name] for name in _REST},
        **{name: document["rest"][name] for name in _LATER if name in document["rest"]},
        "search": _with_rows(document["search"], rows),
        "origin": {"recipe": document["pipeline"], "corpus": fingerprint, "query": query},
    }
    return {"trace": trace, "content": content, "program": document["program"]}


def _with_rows(span: Mapping[str, Any], rows: Sequence[Any]) -> dict[str, Any]:
    if any(number < 0 for number in span["rows"]):
        raise LookupError("there is no such row")
    children = [_with_rows(child, rows) for child in span["children"]]
    return {**span, "rows": [rows[number] for number in span["rows"]], "children": children}


def _sets_place(setting: str) -> bool:
    return any(_paths(setting, by_form=True))


def _paths(text: str, *, by_form: bool = False) -> Iterator[str]:
    yield from absolute_paths(text, by_form=by_form)
    yield from (match[0] for match in _HOME.finditer(text))


def withhold_paths(
    value: JsonValue | Mapping[str, JsonValue], names_place: NamesPlace = _sets_place
) -> JsonValue:
    """Return settings without absolute paths; a mapping with one as a key is left out whole."""
    if isinstance(value, Mapping):
        if any(map(names_place, value)):
            return WITHHELD
        return {name: withhold_paths(member, names_place) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [withhold_paths(member, names_place) for member in value]
    return WITHHELD if isinstance(value, str) and names_place(value) else value


class _Withholding:
    """Withholds paths in what stages and surfaces tell; those of the query are exported anyway."""

    def __init__(self, query: Query) -> None:
        self._query = fold(json.dumps(query.record(), ensure_ascii=False, default=_plain))

    def without_paths(self, values: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
        return {
            WITHHELD if self.names_place(name) else name: withhold_paths(value, self.names_place)
            for name, value in values.items()
        }

    def names_place(self, text: str) -> bool:
        return any(fold(path) not in self._query for path in _paths(text))


def withheld_coordinates(
    stages: JsonValue | Mapping[str, JsonValue], where: str = ""
) -> Iterator[str]:
    """Yield the coordinates of settings that were not exported."""
    if isinstance(stages, Mapping):
        for name, member in stages.items():
            yield from withheld_coordinates(member, f"{where}.{name}" if where else name)
    elif isinstance(stages, list):
        for place, member in enumerate(stages):
            yield from withheld_coordinates(member, f"{where}[{place}]")
    elif stages == WITHHELD:
        yield where


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[ExportedTrace]:
    return TypeAdapter(ExportedTrace)
