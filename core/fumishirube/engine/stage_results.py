"""Checks what stages return: documents, plans, hits and rankings, and all that these contain."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from fumishirube.budget import Budget
from fumishirube.documents import Document, Section, Source
from fumishirube.engine.shapes import Shapes
from fumishirube.model import Hit, Passage, Ranking
from fumishirube.query import Run
from fumishirube.text.projections import TextRange

T = TypeVar("T")

_FLAG = (object,)  # anything is true or false
_RANKINGS = Shapes(Passage, TextRange, instead={bool: _FLAG})  # the search puts sections right
_PLANS = Shapes(Budget, instead={frozenset: (Collection,)})
_DOCUMENTS = Shapes(instead={tuple: (tuple, list), bool: _FLAG})
_SOURCES = Shapes(str, instead={tuple: (tuple, list)})  # names of files may be no Unicode

_LARGEST = 1e100
"""Of larger scores, later stages might make infinite ones, and be blamed for it."""

_MOST_LEVELS = 100
"""Of deeper diagnostics some versions of Python can write a trace and others cannot."""


class WrongResult(ValueError):
    """A stage returned what its kind cannot return; the message quotes no text."""


def checked_plan(runs: Iterable[Run]) -> tuple[Run, ...]:
    """Return a fuser's plan; raise if it has no runs, or is no plan."""
    plan = _items(runs)
    _require(bool(plan), "a plan has one run or more")
    _refuse(_PLANS.fault(plan, tuple[Run, ...]))
    return plan


def checked_hits(result: Ranking | Iterable[Hit], *, trusted: bool = False) -> Ranking:
    """Return a stage's result as a ranking; raise if it is none, or a score is no finite number.

    Unless the stage is ``trusted``, also raise if anything in it is of another type.
    """
    ranking = result if isinstance(result, Ranking) else Ranking(_items(result))
    if trusted:
        total = sum(hit.score for hit in ranking.hits)
        _require(math.isfinite(total), "a score is not a finite number")
        return ranking
    _require(isinstance(ranking.hits, Sequence), "the hits of a ranking are a sequence")
    _require(isinstance(ranking.left_out, Sequence), "left out are sections")
    ranking = ranking._replace(hits=tuple(ranking.hits), left_out=tuple(ranking.left_out))
    _refuse(_RANKINGS.fault(ranking, Ranking))
    largest = max((abs(hit.score) for hit in ranking.hits), default=0.0)
    _require(largest <= _LARGEST, "a score is too large a number")
    paths = {type(hit.passage.path) for hit in ranking.hits}
    lines = {type(hit.passage.start_line) for hit in ranking.hits}
    _require(paths <= {str} and lines <= {int}, "a section has a path and a first line")
    _require(_is_json(ranking.diagnostics), "diagnostics are JSON")
    return ranking


def checked_ranking(result: Ranking | Iterable[Hit], *, trusted: bool = False) -> Ranking:
    """Return a result as :func:`checked_hits` does; raise too if a section is in it twice."""
    ranking = checked_hits(result, trusted=trusted)
    if not trusted:
        keys = {hit.passage.key for hit in ranking.hits}
        _require(len(keys) == len(ranking.hits), "a section is in the ranking twice")
    return ranking


def _refuse(fault: str) -> None:
    if fault:
        raise WrongResult(fault)


def _require(condition: bool, message: str) -> None:  # noqa: FBT001 - as of an assertion
    if not condition:
        raise WrongResult(message)


def _items(result: Iterable[T]) -> tuple[T, ...]:
    if not isinstance(result, Iterable):
        raise WrongResult(f"it returned {type(result).__name__}")
    return tuple(result)


def _is_json(values: Mapping[str, object]) -> bool:
    try:
        text = json.dumps(dict(values))
    except (TypeError, ValueError, RecursionError):
        return False
    return text.count("[") + text.count("{") <= _MOST_LEVELS or _is_shallow(values, _MOST_LEVELS)


def _is_shallow(value: object, levels: int) -> bool:
    inner = value.values() if isinstance(value, Mapping) else value
    if not isinstance(inner, Iterable) or isinstance(inner, str):
        return True
    return levels > 0 and all(_is_shallow(each, levels - 1) for each in inner)


# --- documents ------------------------------------------------------------------------------


def sources_fault(sources: Sequence[Any]) -> str:
    """Return what is wrong with the files that a loader claims, or nothing."""
    return _SOURCES.fault(sources, Sequence[Source], "its list of files")


def document_fault(document: Any, path: str) -> str:
    """Return what is wrong with the document of a file, or nothing; texts are not quoted."""
    if fault := _DOCUMENTS.fault(document, Document):
        return fault
    if document.path != path:
        return "its document has another path than the file"
    length, lines = len(document.text), document.text.count("\n") + 1
    for number, section in enumerate(document.sections):
        if not _is_inside(section, length, lines):
            return f"sections[{number}] has a place outside its document"
    if document.text.strip() and not (document.sections or document.navigation):
        return "its document has text, and no section that could be found"
    return "" if document.content >= 0 else "content is negative"


def _is_inside(section: Section, length: int, lines: int) -> bool:
    _, first, last, start, end, extent, body, level, _, _ = section
    offsets = 0 <= start <= body <= end <= extent <= length
    return offsets and 1 <= first <= last <= lines and level >= 0
