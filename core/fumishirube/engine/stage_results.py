"""Checks what stages return: documents, plans, hits and rankings, and all that these contain."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any, TypeVar

from fumishirube.budget import Budget
from fumishirube.documents import LINK_KINDS, Document, Link, LoaderRemark, Section
from fumishirube.model import Hit, LeftOut, MatchCount, Passage, Ranking, TermUse
from fumishirube.places import Place
from fumishirube.query import Query, Run
from fumishirube.text.encoding import has_surrogates
from fumishirube.text.projections import TextRange
from fumishirube.text.synonyms import Synonyms

T = TypeVar("T")

MOST_ITEMS = 1_000_000
"""So many items may a stage return: more fill the memory, and the time of the call."""
_LARGEST = 1e100
"""Of larger scores, later stages might make infinite ones, and be blamed for it."""
_TOO_MANY = f"it returned more than {MOST_ITEMS} items"
_SEVERAL = (tuple, list)
_FINITE = {int, float}

_MOST_LEVELS = 100
"""Of deeper diagnostics some versions of Python can write a trace and others cannot."""


class WrongResult(ValueError):
    """A stage returned what its kind cannot return; the message quotes no text."""


def checked_plan(runs: Iterable[Run], *, trusted: bool = False) -> tuple[Run, ...]:
    """Return a fuser's plan; raise if it has no runs, or, unless ``trusted``, is no plan."""
    plan = _items(runs, Run)
    if not plan:
        raise WrongResult("a plan has one run or more")
    for run in () if trusted else plan:
        _require(isinstance(run.name, str), "the name of a run is text")
        _require(not has_surrogates(run.name), "the name of a run is Unicode text")
        _require(isinstance(run.query, Query), "a run has a query")
        _require_finite([run.weight], "the weight of a run")
        _check_query(run.query)
    return plan


def checked_hits(result: Ranking | Iterable[Hit], *, trusted: bool = False) -> Ranking:
    """Return a stage's result as a ranking; raise if a score is no finite number.

    Unless the stage is ``trusted``, also raise if it is no ranking, or anything in it is of another
    type.
    """
    if trusted:
        result = result if isinstance(result, Ranking) else Ranking(tuple(result))
        _require_finite([hit.score for hit in result.hits], "a score")
        return result
    if isinstance(result, Ranking):
        _require(isinstance(result.hits, Sequence), "the hits of a ranking are a sequence")
        _require(len(result.hits) <= MOST_ITEMS, _TOO_MANY)
        _require(_are(result.hits, Hit), "a ranking contains hits, and nothing else")
    else:
        result = Ranking(_items(result, Hit))
    _require_finite([hit.score for hit in result.hits], "a score")
    largest = max((abs(hit.score) for hit in result.hits), default=0.0)
    _require(largest <= _LARGEST, "a score is too large a number")
    _check_reports(result)
    if result.hits:
        _check_hits(result.hits)
    return result


def checked_ranking(result: Ranking | Iterable[Hit], *, trusted: bool = False) -> Ranking:
    """Return a result as :func:`checked_hits` does; raise too if a section is in it twice."""
    ranking = checked_hits(result, trusted=trusted)
    if not trusted:
        keys = {hit.passage.key for hit in ranking.hits}
        _require(len(keys) == len(ranking.hits), "a section is in the ranking twice")
    return ranking


def _check_hits(hits: Sequence[Hit]) -> None:
    """Check the other fields of all hits, each field of all at once: there may be thousands."""
    passages, _, labels, coverages, matched, signals, places = zip(*hits, strict=True)
    _require(_are(passages, Passage), "a hit has a passage")
    paths, lines = ({type(each[place]) for each in passages} for place in (0, 1))
    _require(paths <= {str} and lines <= {int}, "a section has a path and a first line")
    _require_finite(coverages, "a coverage")
    _require(_are(labels, frozenset), "labels are a frozenset")
    _require(_are(frozenset().union(*{*labels}), str), "a label is text")
    _require(_are(matched, tuple), "matched spans are texts")
    _require(_are(chain.from_iterable({*matched}), str), "matched spans are texts")
    _require(_are(signals, Mapping), "signals are a mapping")
    values = [*chain.from_iterable(each.values() for each in signals if each)]
    _require_finite(values, "a signal")
    _require(_are(places, Sequence), "places are ranges")
    _require(_are(chain.from_iterable(filter(None, places)), TextRange), "places are ranges")


def _check_reports(ranking: Ranking) -> None:
    left_out, matched, terms = ranking.left_out, ranking.matched, ranking.terms
    _require(isinstance(left_out, Sequence) and _are(left_out, LeftOut), "left out are sections")
    _require(_are((out.path for out in left_out), str), "what is left out has a path")
    _require(_are((out.reason for out in left_out), str), "what is left out has a reason")
    reasons = "".join({out.reason for out in left_out})
    _require(not has_surrogates(reasons), "a reason is Unicode text")
    lines = (out.start_line for out in left_out if out.start_line is not None)
    _require(_are(lines, int), "what is left out has a line, or none")
    _require(isinstance(ranking.diagnostics, Mapping), "diagnostics are a mapping")
    _require(_is_json(ranking.diagnostics), "diagnostics are JSON")
    counted = isinstance(matched, MatchCount) and isinstance(matched.number, int)
    _require(matched is None or counted, "matched is a count")
    _require(terms is None or isinstance(terms, TermUse), "terms say what was done with them")
    if terms is not None:
        _require(terms.picked is None or _are_texts(terms.picked), "picked terms are texts")
        _require(isinstance(terms.filtered, Sequence), "filtered terms are a sequence")
        _require(_are((each[0] for each in terms.filtered), str), "a filtered term is a text")


def _check_query(query: Query) -> None:
    lists = (query.required, query.must, query.alternatives)
    _require(isinstance(query.text, str) and all(map(_are_texts, lists)), "a query has texts")
    texts = "\n".join((query.text, *chain.from_iterable(lists)))
    _require(not has_surrogates(texts), "texts of a query are Unicode")
    _require(query.limit is None or isinstance(query.limit, int), "a limit is a number")
    _require(query.pool is None or isinstance(query.pool, int), "a pool is a number")
    _require(isinstance(query.case_sensitive, bool), "case_sensitive is true or false")
    _require(isinstance(query.budget, Budget), "a query has a budget")
    _require(_are_sections(query.exclude), "a query excludes sections")
    _require(_are_sections(query.read), "sections were read")
    _require(query.within is None or isinstance(query.within, Collection), "a scope has paths")
    _require(_are(query.within or (), str), "a scope has paths")
    _require(isinstance(query.stage_arguments, Mapping), "arguments of stages are a mapping")
    _require(isinstance(query.synonyms, tuple), "synonyms are a tuple")
    _require(_are(query.synonyms, Synonyms), "synonyms are words and others of their meaning")
    words = [(row.word, row.others) for row in query.synonyms]
    _require(all(isinstance(w, str) and _are_texts(o) for w, o in words), "synonyms are texts")
    _require(hasattr(query.state, "begin"), "a query has a state")


def _are_sections(keys: Collection[tuple[str, int]]) -> bool:
    """Tell whether these are sections by path and line, all at once: there may be thousands."""
    if not isinstance(keys, Collection) or not _are(keys, tuple) or {*map(len, keys)} - {2}:
        return False
    paths, lines = zip(*keys, strict=True) if keys else ((), ())
    return _are(paths, str) and _are(lines, int)


def _require(condition: bool, message: str) -> None:  # noqa: FBT001 - as of an assertion
    if not condition:
        raise WrongResult(message)


def _are(items: Iterable[object], kind: type | tuple[type, ...]) -> bool:
    """Tell whether all items are of a type; those of few types take little time."""
    return all(issubclass(each, kind) for each in {*map(type, items)})


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


def _are_texts(items: object) -> bool:
    return isinstance(items, tuple) and _are(items, str)


def _require_finite(items: Collection[Any], what: str) -> None:
    """Raise unless all items are finite numbers; one that is not makes their sum such a one."""
    for kind in {*map(type, items)} - _FINITE:
        name = f"{what} is a {kind.__module__}.{kind.__qualname__}, and no int or float"
        _require(issubclass(kind, (int, float)), name.replace("builtins.", ""))
    try:
        finite = math.isfinite(sum(items))
    except OverflowError:  # a whole number that no float can be
        finite = False
    _require(finite, f"{what} is not a finite number")


def _items(result: Iterable[T], kind: type[T]) -> tuple[T, ...]:
    if not isinstance(result, Iterable):
        raise WrongResult(f"it returned {type(result).__name__}")
    items = tuple(islice(result, MOST_ITEMS + 1))
    _require(len(items) <= MOST_ITEMS, _TOO_MANY)
    if not _are(items, kind):
        raise WrongResult(f"it returned something else than a {kind.__name__}")
    return items


# --- documents ------------------------------------------------------------------------------


def document_fault(document: object, path: str) -> str | None:
    """Return what is wrong with the document of a file, or ``None``; texts are not quoted."""
    if not isinstance(document, Document):
        return f"it gave a {type(document).__name__} and no document"
    if document.path != path:
        return "its document has another path than the file"
    if not _is_text(document.text):
        return "the text of its document is no Unicode text"
    if not _has_sound_values(document):
        return "a value of its document has a wrong type"
    if fault := _parts_fault(document):
        return fault
    if document.text.strip() and not (document.sections or document.navigation):
        return "its document has text, and no section that could be found"
    return None


def _has_sound_values(document: Document) -> bool:
    return (
        _is_text(document.file_type)
        and (document.encoding is None or isinstance(document.encoding, str))
        and isinstance(document.facts, Mapping)
        and _is_text(json.dumps({**document.facts}, default=str, ensure_ascii=False, skipkeys=True))
        and type(document.content) is int
        and document.content >= 0
    )


def _parts_fault(document: Document) -> str | None:
    length, lines = len(document.text), document.text.count("\n") + 1

    checks: tuple[tuple[str, Any, Callable[[Any], bool]], ...] = (
        ("section", document.sections, partial(_is_section, length=length, lines=lines)),
        ("link", document.links, _is_link),
        ("remark", document.remarks, partial(_is_at_line, LoaderRemark, ("code", "message"))),
        ("place", document.places, partial(_is_at_line, Place, ())),
    )
    for name, parts, is_sound in checks:
        if not isinstance(parts, _SEVERAL):
            return f"the {name}s of its document are a {type(parts).__name__} and no tuple"
        for number, part in enumerate(parts, start=1):
            if not is_sound(part):
                return f"{name} {number} of its document has a wrong type, or a place outside it"
    return None


def _is_section(section: Any, length: int, lines: int) -> bool:
    if not isinstance(section, Section) or {*map(type, section[1:8])} != {int}:
        return False
    title, first, last, start, end, extent, body, level, ancestors, searched = section
    return (
        0 <= start <= body <= end <= extent <= length
        and 1 <= first <= last <= lines
        and level >= 0
        and _is_text(title)
        and isinstance(ancestors, _SEVERAL)
        and (not ancestors or all(map(_is_text, ancestors)))
        and (searched is None or _is_text(searched))
    )


def _is_link(link: Any) -> bool:
    return _is_at_line(Link, ("target", "text", "anchor"), link) and link.kind in LINK_KINDS


def _is_at_line(kind: type[Any], texts: Sequence[str], part: Any) -> bool:
    """Tell whether a part of a document is of a kind, and has a line and these texts."""
    return (
        isinstance(part, kind)
        and type(part.line) is int
        and all(_is_text(getattr(part, name)) for name in texts)
    )


def _is_text(text: object) -> bool:
    """Tell whether a value is a text without surrogates, which cannot be encoded."""
    return isinstance(text, str) and not has_surrogates(text)
