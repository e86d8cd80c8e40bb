"""Indexes of plugins, their open forms and their corpora: guarded, and what they return checked."""

from __future__ import annotations

import sys
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

from fumishirube.budget import Budget
from fumishirube.corpus import Corpus, IndexMatch
from fumishirube.disk.roots import Root
from fumishirube.errors import IndexDamaged, ToolError
from fumishirube.host.crash_marks import ForeignWork
from fumishirube.host.faults import PluginGuard
from fumishirube.host.guarded_stages import GuardedEmbedder, GuardedStage, NamedInErrors
from fumishirube.host.guarded_tokenizers import GuardedTokenizer
from fumishirube.host.index_results import (
    VALUE_CHECKS,
    check_frequencies,
    check_matches,
    check_pages,
    check_passages,
    require,
)
from fumishirube.interrupts import is_interrupt
from fumishirube.model import Passage
from fumishirube.stages import Fields, Index, IndexedFile, OpenIndex

S = TypeVar("S")

_METHODS = [name for name in vars(OpenIndex) if not name.startswith("_")]
"""Looked up by name: since Python 3.12 ``isinstance`` sees none that an object only passes on."""


class _GuardedPart(NamedInErrors[S]):
    _answers = (ToolError, IndexDamaged)


class GuardedIndex(NamedInErrors[Index]):
    """An index of a plugin; its open indexes and corpora are guarded too."""

    _answers = (ToolError,)

    def open(self, folder: Root, fields: Fields) -> GuardedStage[Any]:
        """Open the index of one manual."""
        with self._watched("open"):
            opened = self._stage.open(folder, fields)
            if not all(callable(getattr(opened, name, None)) for name in _METHODS):
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
                self._checked_pages = check_pages(pages)
            return pages

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
            for file, passages in pages:
                files.add(file.path)
                yield file, passages
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
        """Return the corpus of a manual."""
        with self._watched("corpus"):
            corpus = self._stage.corpus(manual_id)
            lacking = [name for name in _MEMBERS if not hasattr(type(corpus), name)]
            if lacking and any(not hasattr(corpus, name) for name in lacking):
                raise TypeError(f"it gave a {type(corpus).__name__} and no corpus")
        return _GuardedCorpus(corpus, self._work, self._guard, self.pages())

    def close(self) -> None:
        """Close it; a failure is recorded, and disturbs nothing else."""
        try:
            with self._watched("close"):
                self._stage.close()
        except BaseException as error:
            if is_interrupt(error):
                raise


class _GuardedCorpus(_GuardedPart[Corpus]):
    """A corpus of a plugin, of an index with these files."""

    def __init__(
        self, stage: Corpus, work: ForeignWork, guard: PluginGuard, files: Container[str]
    ) -> None:
        super().__init__(stage, work, guard)
        self._files = files

    def search(self, *arguments: Any, **named: Any) -> Sequence[IndexMatch]:
        """Return the best matches of a clause."""
        with self._watched("search"):
            matches = self._stage.search(*arguments, **named)
            return check_matches(matches, self._files)

    def page(self, path: str) -> Sequence[Passage]:
        """Return the passages of a file."""
        with self._watched("page"):
            passages = self._stage.page(path)
            return check_passages("page", passages, self._files)

    def frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        """Return how many sections have each term."""
        with self._watched("frequencies"):
            counts = self._stage.frequencies(terms)
            return check_frequencies(counts, terms)

    def __getattr__(self, name: str) -> Any:
        check = VALUE_CHECKS.get(name)
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


_PROPERTIES = frozenset({"manual_id", "size"})
_MEMBERS = (*VALUE_CHECKS, "search", "page", "frequencies")
"""What every corpus has."""

GUARDED_KINDS: Mapping[str, type[GuardedStage[Any]]] = {
    "tokenizers": GuardedTokenizer,
    "embedders": GuardedEmbedder,
    "indexes": GuardedIndex,
}
"""The guards of kinds whose results are checked here; the search checks rankings."""
