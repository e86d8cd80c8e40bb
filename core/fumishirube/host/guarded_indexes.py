"""Indexes of plugins, their open forms and their corpora: guarded, and what they return checked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

from fumishirube.budget import Budget
from fumishirube.corpus import Corpus, Count, IndexMatch
from fumishirube.disk.roots import Root
from fumishirube.errors import IndexDamaged, ToolError
from fumishirube.host.guarded_stages import (
    GuardedEmbedder,
    GuardedStage,
    GuardedTokenizer,
    NamedInErrors,
    checked_texts,
)
from fumishirube.interrupts import is_interrupt
from fumishirube.model import Passage
from fumishirube.stages import Fields, Index, IndexedFile, OpenIndex

S = TypeVar("S")


class _GuardedPart(NamedInErrors[S]):
    _answers = (ToolError, IndexDamaged)


class GuardedIndex(NamedInErrors[Index]):
    """An index of a plugin; its open indexes and corpora are guarded too."""

    _answers = (ToolError,)

    def open(self, folder: Root, fields: Fields) -> GuardedStage[Any]:
        """Open the index of one manual."""
        with self._watched("open"):
            opened: object = self._stage.open(folder, fields)
            if not isinstance(opened, OpenIndex):
                raise TypeError(f"it opened a {type(opened).__name__} and no index")
        return _GuardedOpenIndex(opened, self._work, self._guard)


class _GuardedOpenIndex(_GuardedPart[OpenIndex]):
    """An open index of a plugin."""

    _checked_pages: object = ()

    def pages(self) -> Mapping[str, IndexedFile]:
        """Return the files of the last commit."""
        with self._watched("pages"):
            pages = self._stage.pages()
            if pages is not self._checked_pages:
                _require("pages", pages, Mapping)
                _require_all("pages", pages.values(), IndexedFile)
                self._checked_pages = pages
            return pages

    @contextmanager
    def writing(self, budget: Budget) -> Iterator[bool]:
        """Become the writer, or yield ``False``."""
        with ExitStack() as ending:
            with self._watched("writing"):
                mine = ending.enter_context(self._stage.writing(budget))
                _require("writing", mine, bool)
            yield mine

    def corpus(self, manual_id: str) -> GuardedStage[Any]:
        """Return the corpus of a manual."""
        with self._watched("corpus"):
            corpus = self._stage.corpus(manual_id)
            lacking = [name for name in _CHECKS if not hasattr(type(corpus), name)]
            if lacking and any(not hasattr(corpus, name) for name in lacking):
                raise TypeError(f"it gave a {type(corpus).__name__} and no corpus")
        return _GuardedCorpus(corpus, self._work, self._guard)

    def close(self) -> None:
        """Close it; a failure is recorded, and disturbs nothing else."""
        try:
            with self._watched("close"):
                self._stage.close()
        except BaseException as error:
            if is_interrupt(error):
                raise


class _GuardedCorpus(_GuardedPart[Corpus]):
    """A corpus of a plugin."""

    def __getattr__(self, name: str) -> Any:
        check = _CHECKS.get(name)
        if check is None:
            return super().__getattr__(name)
        if name in _PROPERTIES:
            with self._watched(name):
                return check(name, getattr(self._stage, name))
        method = getattr(self._stage, name)

        def checked(*arguments: Any, **named: Any) -> Any:
            with self._watched(name):
                return check(name, method(*arguments, **named))

        self.__dict__[name] = checked
        return checked


def _require(name: str, value: object, kind: type) -> None:
    if not isinstance(value, kind):
        wanted = kind.__name__
        raise TypeError(f"{name!r} of its index gave a {type(value).__name__} and no {wanted}")


def _require_all(name: str, values: Any, kind: type) -> None:
    for other in {*map(type, values)}:
        if not issubclass(other, kind):
            raise TypeError(f"{name!r} of its index gave a {other.__name__} and no {kind.__name__}")


def _number(name: str, value: Any) -> Any:
    _require(name, value, int)
    if value < 0:
        raise ValueError(f"{name!r} of its index gave a negative number")
    return value


def _text(name: str, value: Any) -> Any:
    _require(name, value, str)
    return value


def _terms(name: str, value: Any) -> Any:
    del name
    return checked_texts(value)


def _matches(name: str, value: Any) -> Any:
    _require(name, value, Sequence)
    _require_all(name, value, IndexMatch)
    _require_all(name, (match.passage for match in value), Passage)
    if not math.isfinite(sum(match.estimate for match in value)):
        raise ValueError(f"{name!r} of its index gave an estimate that is no finite number")
    return value


def _count(name: str, value: Any) -> Any:
    _require(name, value, Count)
    _number(name, value.number)
    return value


def _frequencies(name: str, value: Any) -> Any:
    _require(name, value, Mapping)
    _require_all(name, value.values(), int)
    return value


def _mean(name: str, value: Any) -> Any:
    if not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
        raise TypeError(f"{name!r} of its index gave no finite length")
    return value


def _passages(name: str, value: Any) -> Any:
    _require(name, value, Sequence)
    _require_all(name, value, Passage)
    return value


_PROPERTIES = frozenset({"manual_id", "size"})
_CHECKS: Mapping[str, Callable[[str, Any], Any]] = {
    "manual_id": _text,
    "size": _number,
    "terms": _terms,
    "search": _matches,
    "count": _count,
    "frequencies": _frequencies,
    "average_length": _mean,
    "page": _passages,
}
"""What every corpus has, and how its values are checked."""

GUARDED_KINDS: Mapping[str, type[GuardedStage[Any]]] = {
    "tokenizers": GuardedTokenizer,
    "embedders": GuardedEmbedder,
    "indexes": GuardedIndex,
}
"""The guards of kinds whose results are checked here; the search checks rankings."""
