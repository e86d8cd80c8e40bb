"""Indexes of plugins, their open forms and their corpora: guarded, and what they return checked."""

from __future__ import annotations

import sys
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any, TypeVar, get_type_hints

from fumishirube.budget import Budget
from fumishirube.corpus import Corpus, IndexMatch
from fumishirube.disk.roots import Root
from fumishirube.engine.indexed_files import FIELDS
from fumishirube.errors import IndexDamaged, ToolError
from fumishirube.host.crash_marks import ForeignWork
from fumishirube.host.guarded_stages import (
    GuardedEmbedder,
    GuardedStage,
    GuardedTokenizer,
)
from fumishirube.host.offered_types import check_shape, check_texts
from fumishirube.host.plugin_guard import PluginGuard
from fumishirube.model import Passage
from fumishirube.stages import Fields, Index, IndexedFile, OpenIndex

T = TypeVar("T")


class GuardedIndex(GuardedStage[Index]):
    """An index of a plugin; its open indexes and corpora are guarded too."""

    _named = True
    _answers = (ToolError,)

    def open(self, folder: Root, fields: Fields) -> GuardedStage[Any]:
        """Open the index of one manual."""
        with self._watched("open"):
            opened = self._stage.open(folder, fields)
            _require_members(opened, OpenIndex)
        return _GuardedOpenIndex(opened, self._work, self._guard)


class _GuardedOpenIndex(GuardedStage[OpenIndex]):
    """An open index of a plugin."""

    _named = True
    _answers = (ToolError, IndexDamaged)
    _checked_pages: object = ()
    _searched = 0

    def pages(self) -> Mapping[str, IndexedFile]:
        """Return the files of the last commit."""
        with self._watched("pages"):
            pages = self._stage.pages()
            if pages is not self._checked_pages:
                self._checked_pages = check_pages(pages)
                self._searched = sum(file.sections - file.blank for file in pages.values())
            return pages

    @contextmanager
    def writing(self, budget: Budget) -> Iterator[bool]:
        """Become the writer, or yield ``False``."""
        ending = ExitStack()
        with self._watched("writing"):
            mine = ending.enter_context(self._stage.writing(budget))
            check_shape(mine, bool, "writing()")
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
            check_shape(stored, Mapping, "pages()")
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
            _require_members(corpus, Corpus)
            pages = self.pages()
            # Another thread may have refreshed the index between the two.
            if pages is before and check_value("size", corpus.size) != self._searched:
                raise ValueError("its index has lost sections, or has some that it was not given")
        return _GuardedCorpus(corpus, self._work, self._guard, pages)

    def close(self) -> None:
        """Close it; a failure is recorded, and disturbs nothing else."""

        def close() -> None:
            self._stage.close()

        self._guard.attempt(self._work, "close", close, None)


class _GuardedCorpus(GuardedStage[Corpus]):
    """A corpus of a plugin, of an index with these files."""

    _named = True
    _answers = (ToolError, IndexDamaged)

    def __init__(
        self, stage: Corpus, work: ForeignWork, guard: PluginGuard, files: Container[str]
    ) -> None:
        super().__init__(stage, work, guard)
        self._files = files

    def search(self, *arguments: Any, **named: Any) -> Sequence[IndexMatch]:
        """Return the best matches of a clause."""
        with self._watched("search"):
            matches = self._stage.search(*arguments, **named)
            return check_matches("search", matches, self._files)

    def page(self, path: str) -> Sequence[Passage]:
        """Return the passages of a file."""
        with self._watched("page"):
            return check_matches("page", self._stage.page(path), self._files)

    def frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        """Return how many sections have each term."""
        with self._watched("frequencies"):
            counts: Mapping[str, int] = self._stage.frequencies(terms)
            check_value("frequencies", counts, {*terms})
            return counts

    def __getattr__(self, name: str) -> Any:
        if name not in ("manual_id", "size"):
            return super().__getattr__(name)
        with self._watched(name):
            return check_value(name, getattr(self._stage, name))

    def _checked(self, method: str, result: Any) -> Any:
        known = method in ("terms", "count", "average_length")
        return check_value(method, result) if known else super()._checked(method, result)


# --- what they return -----------------------------------------------------------------------


def _require_members(made: object, protocol: type) -> None:
    """Raise unless an object has the members of a protocol.

    They are looked up by name: since Python 3.12 ``isinstance`` sees none that an object only
    passes on. A property is not read if the class has it.
    """
    names = [name for name in vars(protocol) if not name.startswith("_")]
    if not all(hasattr(type(made), name) or hasattr(made, name) for name in names):
        raise TypeError(f"it gave {type(made).__name__} instead of {protocol.__name__}")


def check_pages(pages: Mapping[str, IndexedFile]) -> Mapping[str, IndexedFile]:
    """Return the files of an index by path; raise a :class:`TypeError` for anything else."""
    check_shape(pages, Mapping[str, IndexedFile], "pages()")
    for path, file in pages.items():
        if path != file.path or file.sections < 0 or file.blank < 0:
            raise TypeError("pages() has a file under another path, or a negative number")
    return pages


def check_matches(method: str, matches: Sequence[T], files: Container[str]) -> Sequence[T]:
    """Return matches or passages of an index with these files; raise for anything else."""
    for match in check_value(method, matches):
        passage: Passage = getattr(match, "passage", match)
        in_order = 1 <= passage.start_line <= passage.end_line
        if not in_order or any(name not in passage.fields for name in FIELDS):
            raise TypeError(f"{method}() has a passage without its lines or fields")
        if passage.path not in files:
            raise ValueError(f"{method}() has a passage of a file that its index lacks")
    return matches


def check_value(method: str, value: Any, terms: Collection[str] = ()) -> Any:
    """Return what a method of a corpus gave; raise for another type, or a negative number.

    ``terms`` are those that it has to count.
    """
    if method == "terms":
        return check_texts(value)
    check_shape(value, _returned(method), f"{method}()")
    numbers = [value[term] for term in terms] if terms else [getattr(value, "number", value)]
    if any(isinstance(number, int | float) and number < 0 for number in numbers):
        raise ValueError(f"{method}() is negative")
    return value


@cache
def _returned(method: str) -> Any:
    """Return the type of what a method or a property of a corpus gives."""
    member = getattr(Corpus, method)
    return get_type_hints(getattr(member, "fget", member))["return"]


GUARDED_KINDS: Mapping[str, type[GuardedStage[Any]]] = {
    "tokenizers": GuardedTokenizer,
    "embedders": GuardedEmbedder,
    "indexes": GuardedIndex,
}
"""The guards of kinds whose results are checked here; the search checks rankings."""
