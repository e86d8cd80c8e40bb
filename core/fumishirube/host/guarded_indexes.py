"""Indexes of plugins, their open forms and their corpora: guarded, and what they return checked."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from typing import Any

from fumishirube.budget import Budget
from fumishirube.corpus import Corpus, Count, IndexMatch, TextCorpus
from fumishirube.corpus_kinds import DistantCorpus, LinkedCorpus, StoresVectors, VectorCorpus
from fumishirube.engine.indexed_files import FIELDS
from fumishirube.errors import IndexDamaged, ToolError
from fumishirube.host.crash_marks import ForeignWork
from fumishirube.host.guarded_stages import (
    GuardedEmbedder,
    GuardedStage,
    GuardedTokenizer,
    NamedInErrors,
)
from fumishirube.host.guarded_vectors import GuardedVectors
from fumishirube.host.offered_types import check_texts, require
from fumishirube.host.plugin_guard import PluginGuard
from fumishirube.model import Passage
from fumishirube.stages import Index, IndexedFile, OpenIndex, StoresFiles


def _methods_of(*protocols: Any) -> frozenset[str]:
    """Return the names of the methods that some protocols declare."""
    members = (member for each in protocols for member in vars(each).items())
    return frozenset(name for name, value in members if callable(value) and name[0] != "_")


_METHODS = _methods_of(OpenIndex)
"""Looked up by name: since Python 3.12 ``isinstance`` sees none that an object only passes on."""


class GuardedIndex(NamedInErrors[Index]):
    """An index of a plugin; its open indexes and corpora are guarded too."""

    _answers = (ToolError,)

    def _checked(self, method: str, result: Any) -> Any:
        if method != "open":
            return super()._checked(method, result)
        if not all(callable(getattr(result, name, None)) for name in _METHODS):
            raise TypeError(f"it opened a {type(result).__name__} and no index")
        return _GuardedOpenIndex(result, self._work, self._guard)


class _GuardedOpenIndex(NamedInErrors[OpenIndex]):
    _answers = (ToolError, IndexDamaged)
    _methods = _methods_of(StoresFiles, StoresVectors) | {"rebuilding"}
    _checked_pages: object = ()
    _searched = 0
    _damage: IndexDamaged | None = None  # raised by a method: refreshing may not show it

    @contextmanager
    def _watched(self, method: str) -> Iterator[None]:
        try:
            with super()._watched(method):
                yield
        except IndexDamaged as error:
            self._damage = error
            raise

    def pages(self) -> Mapping[str, IndexedFile]:
        """Return the files of the last commit."""
        with self._watched("pages"):
            pages = self._stage.pages()
            if pages is not self._checked_pages:
                self._checked_pages = check_pages(pages)
                self._searched = sum(file.sections - file.blank for file in pages.values())
            return pages

    def refresh(self) -> None:
        """Read what other processes have committed."""
        if self._damage is not None:
            raise self._damage
        with self._watched("refresh"):
            self._stage.refresh()

    @contextmanager
    def writing(self, budget: Budget) -> Iterator[bool]:
        """Become the writer, or yield ``False``."""
        ending = ExitStack()
        with self._watched("writing"):
            mine = ending.enter_context(self._stage.writing(budget))
            require("writing", mine, bool)
        try:
            yield mine
        except BaseException:
            ending.__exit__(*sys.exc_info())
            raise
        with self._watched("writing"):
            ending.close()

    def sync(
        self, gone: Collection[str], pages: Iterable[tuple[IndexedFile, Sequence[Any]]]
    ) -> None:
        """Replace the named pages and commit."""
        files, complete = set[str](), list[bool]()

        def noted() -> Iterator[tuple[IndexedFile, Sequence[Any]]]:
            coming = iter(pages)
            while True:
                with self._guard.called_back():
                    page = next(coming, None)
                if page is None:
                    break
                files.add(page[0].path)
                yield page
            complete.append(True)

        with self._watched("sync"):
            self._stage.sync(gone, noted())
            stored = self._stage.pages()
            require("pages", stored, Mapping)
            lacking = [path for path in files if path not in stored]
            if lacking or not complete:
                raise ValueError("'sync' of its index did not store what it was given")
            if any(path in stored for path in {*gone} - files):
                raise ValueError("'sync' of its index did not remove what it had to")

    def corpus(self, manual_id: str) -> GuardedStage[Any]:
        """Return the corpus of a manual, with as many sections as its files have."""
        before = self.pages()
        with self._watched("corpus"):
            corpus = self._stage.corpus(manual_id)
            lacking = [name for name in _MEMBERS if not hasattr(type(corpus), name)]
            if lacking and any(not hasattr(corpus, name) for name in lacking):
                raise TypeError(f"it gave a {type(corpus).__name__} and no corpus")
            pages = self.pages()
            # Another thread may have refreshed the index between the two.
            if pages is before and _number("size", corpus.size) != self._searched:
                raise ValueError("its index has lost sections, or has some that it was not given")
        return _GuardedCorpus(corpus, self._work, self._guard, self._watched, pages)

    def _checked(self, method: str, result: Any) -> Any:
        if method == "vector_store" and result is not None:
            return GuardedVectors(result, self._work, self._guard)
        return super()._checked(method, result)

    def close(self) -> None:
        """Close it; a failure is recorded, and disturbs nothing else."""
        with self._guard.closing(self._work, self._answers):
            self._stage.close()


class _GuardedCorpus(NamedInErrors[Corpus]):
    """A corpus of a plugin, of an index with these files, which watches it."""

    _methods = frozenset(["query_terms", "form_finder"]) | _methods_of(
        Corpus, LinkedCorpus, VectorCorpus, DistantCorpus, TextCorpus
    )

    def __init__(
        self,
        stage: Corpus,
        work: ForeignWork,
        guard: PluginGuard,
        watched: Callable[[str], AbstractContextManager[None]],
        files: Container[str],
    ) -> None:
        super().__init__(stage, work, guard)
        self._watched_by_index = watched
        self._files = files

    def _watched(self, method: str) -> AbstractContextManager[None]:
        return self._watched_by_index(method)

    def frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        """Return how many sections have each term."""
        with self._watched("frequencies"):
            return check_frequencies(self._stage.frequencies(terms), terms)

    def __getattr__(self, name: str) -> Any:
        if name not in _PROPERTIES:
            return super().__getattr__(name)
        with self._watched(name):
            return self._checked(name, getattr(self._stage, name))

    def _checked(self, method: str, result: Any) -> Any:
        if method == "search":
            return check_matches(result, self._files)
        if method == "page":
            return check_passages("page", result, self._files)
        check = VALUE_CHECKS.get(method)
        return check(method, result) if check else super()._checked(method, result)


# --- what they return -----------------------------------------------------------------------


def check_pages(pages: Mapping[str, IndexedFile]) -> Mapping[str, IndexedFile]:
    """Return the files of an index by path; raise a :class:`TypeError` for anything else."""
    require("pages", pages, Mapping)
    _require_all("pages", pages.values(), IndexedFile)
    if not all(path == file.path and _is_file(file) for path, file in pages.items()):
        raise TypeError("'pages' of its index gave a file with wrong values")
    return pages


def check_matches(matches: Sequence[IndexMatch], files: Container[str]) -> Sequence[IndexMatch]:
    """Return the matches of a search in an index with these files; raise for anything else."""
    require("search", matches, Sequence)
    _require_all("search", matches, IndexMatch)
    check_passages("search", [match.passage for match in matches], files)
    if not math.isfinite(sum(match.estimate for match in matches)):
        raise ValueError("'search' of its index gave an estimate that is no finite number")
    return matches


def check_passages(
    name: str, passages: Sequence[Passage], files: Container[str]
) -> Sequence[Passage]:
    """Return the passages that a method of an index gave; raise for those of other files."""
    require(name, passages, Sequence)
    _require_all(name, passages, Passage)
    for passage in passages:
        if not _is_passage(passage):
            raise TypeError(f"{name!r} of its index gave a passage with wrong values")
        if passage.path not in files:
            raise ValueError(f"{name!r} of its index gave a passage of a file that it lacks")
    return passages


def check_frequencies(counts: Mapping[str, int], terms: Collection[str]) -> Mapping[str, int]:
    """Return the number of sections with each term; raise for what is none."""
    require("frequencies", counts, Mapping)
    for term in terms:
        _number("frequencies", counts[term])
    return counts


def _require_all(name: str, values: Any, kind: type) -> None:
    for other in {*map(type, values)}:
        if not issubclass(other, kind):
            raise TypeError(f"{name!r} of its index gave a {other.__name__} and no {kind.__name__}")


def _number(name: str, value: Any) -> Any:
    if require(name, value, int) < 0:
        raise ValueError(f"{name!r} of its index gave a negative number")
    return value


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
    "manual_id": partial(require, kind=str),
    "size": _number,
    "terms": lambda _, terms: check_texts(terms),
    "count": _count,
    "average_length": _mean,
}
"""How values of a corpus are checked that need nothing else for it."""

_PROPERTIES = frozenset({"manual_id", "size"})
_MEMBERS = (*VALUE_CHECKS, "search", "page", "frequencies")
"""What every corpus has."""

GUARDED_KINDS: Mapping[str, type[GuardedStage[Any]]] = {
    "tokenizers": GuardedTokenizer,
    "embedders": GuardedEmbedder,
    "indexes": GuardedIndex,
}
"""The guards of kinds whose results are checked here; the search checks rankings."""
