"""What indexes and their corpora return, checked; each check raises for a wrong value."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from typing import Any

from fumishirube.corpus import Count, IndexMatch
from fumishirube.engine.indexed_files import FIELDS
from fumishirube.host.offered_types import check_texts
from fumishirube.model import Passage
from fumishirube.stages import IndexedFile


def check_pages(pages: Any) -> Mapping[str, IndexedFile]:
    """Return the files of an index by path.

    Raises:
        TypeError: when they are something else.
    """
    require("pages", pages, Mapping)
    _require_all("pages", pages.values(), IndexedFile)
    if not all(path == file.path and _is_file(file) for path, file in pages.items()):
        raise TypeError("'pages' of its index gave a file with wrong values")
    checked: Mapping[str, IndexedFile] = pages
    return checked


def check_matches(matches: Any, files: Container[str]) -> Sequence[IndexMatch]:
    """Return the matches of a search in an index with these files.

    Raises:
        TypeError: when they are something else.
        ValueError: when one is of another file, or its estimate is no number.
    """
    require("search", matches, Sequence)
    _require_all("search", matches, IndexMatch)
    check_passages("search", [match.passage for match in matches], files)
    if not math.isfinite(sum(match.estimate for match in matches)):
        raise ValueError("'search' of its index gave an estimate that is no finite number")
    checked: Sequence[IndexMatch] = matches
    return checked


def check_passages(name: str, passages: Any, files: Container[str]) -> Sequence[Passage]:
    """Return the passages that a method of an index with these files gave.

    Raises:
        TypeError: when they are something else.
        ValueError: when one is of another file.
    """
    require(name, passages, Sequence)
    _require_all(name, passages, Passage)
    for passage in passages:
        if not _is_passage(passage):
            raise TypeError(f"{name!r} of its index gave a passage with wrong values")
        if passage.path not in files:
            raise ValueError(f"{name!r} of its index gave a passage of a file that it lacks")
    checked: Sequence[Passage] = passages
    return checked


def check_frequencies(counts: Any, terms: Collection[str]) -> Mapping[str, int]:
    """Return the number of sections with each term.

    Raises:
        TypeError: when they are something else.
        ValueError: when one is negative.
    """
    require("frequencies", counts, Mapping)
    for term in terms:
        _number("frequencies", counts[term])
    checked: Mapping[str, int] = counts
    return checked


def require(name: str, value: object, kind: type) -> None:
    """Raise a :class:`TypeError` unless what a method of an index gave is of a type."""
    if not isinstance(value, kind):
        wanted = kind.__name__
        raise TypeError(f"{name!r} of its index gave a {type(value).__name__} and no {wanted}")


def _require_all(name: str, values: Any, kind: type) -> None:
    for other in {*map(type, values)}:
        if not issubclass(other, kind):
            raise TypeError(f"{name!r} of its index gave a {other.__name__} and no {kind.__name__}")


def _number(name: str, value: Any) -> Any:
    require(name, value, int)
    if value < 0:
        raise ValueError(f"{name!r} of its index gave a negative number")
    return value


def _text(name: str, value: Any) -> Any:
    require(name, value, str)
    return value


def _terms(name: str, value: Any) -> Any:
    del name
    return check_texts(value)


def _count(name: str, value: Any) -> Any:
    require(name, value, Count)
    _number(name, value.number)
    return value


def _mean(name: str, value: Any) -> Any:
    if not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
        raise TypeError(f"{name!r} of its index gave no finite length")
    return value


def _is_file(file: Any) -> bool:
    match file:
        case IndexedFile(str(), str(), None | str(), int(sections), int(blank)):
            return sections >= 0 and blank >= 0
        case _:
            return False


def _is_passage(passage: Any) -> bool:
    match passage:
        case Passage(str(), int(start), int(end), str(), tuple(above), int(), str(), fields):
            texts = isinstance(fields, Mapping) and all(
                isinstance(fields.get(name), str) for name in FIELDS
            )
            return texts and 1 <= start <= end and all(isinstance(title, str) for title in above)
        case _:
            return False


VALUE_CHECKS: Mapping[str, Callable[[str, Any], Any]] = {
    "manual_id": _text,
    "size": _number,
    "terms": _terms,
    "count": _count,
    "average_length": _mean,
}
"""How values of a corpus are checked that need nothing else for it."""
