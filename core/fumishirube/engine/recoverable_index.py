"""An index that is reopened when its files are damaged, and the states of it that calls get."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from fumishirube.budget import Budget
from fumishirube.corpus import Corpus, Pages
from fumishirube.corpus_kinds import StoresVectors, VectorStore
from fumishirube.disk.stored import StoredFile
from fumishirube.documents import EMPTY_MAPPING
from fumishirube.engine.file_loads import FileLoad
from fumishirube.engine.indexed_files import digest, text_digest
from fumishirube.errors import IndexDamaged, NotFound
from fumishirube.model import LeftOut, OutsideSearch, Passage
from fumishirube.optional_attributes import PREPARATION, REBUILDING, WAS_REBUILT
from fumishirube.stages import FileContents, IndexedFile, OpenIndex, StoresFiles

# --- states -----------------------------------------------------------------------------------


def joined_reasons(*reasons: str | None) -> str | None:
    """Return the reasons for which an answer is degraded as one text, if there are any."""
    return "; ".join(filter(None, reasons)) or None


class IndexState(NamedTuple):
    """A manual's corpus, the number of files in it, what is missing, and why it may be stale.

    ``pages`` are the files in the corpus, by path.

    ``incomplete`` means that the corpus may lack what is in the files, so that nothing is proven
    to be absent. ``fingerprint`` changes with every path, time of change and text in the corpus.
    ``unfinished`` means that files remain to be indexed, that no thread of this process indexes
    them, and that the index can be written and is not lost each time; ``unembedded`` the same of
    vectors. ``slow`` are the files that are still being loaded. ``manuals`` are the ids if the
    state is of several manuals.
    """

    corpus: Corpus
    files: int
    skipped: tuple[LeftOut, ...]
    degraded: str | None
    fingerprint: str
    aside: OutsideSearch = OutsideSearch()
    unfinished: bool = False
    slow: tuple[FileLoad, ...] = ()
    unembedded: bool = False
    manuals: tuple[str, ...] = ()
    pages: Mapping[str, IndexedFile] = EMPTY_MAPPING
    incomplete: bool = False


class SearchExtent(NamedTuple):
    """The scope of a search: files, sections, files without sections, and what is unsearchable."""

    files: int
    sections: int
    skipped: tuple[LeftOut, ...]
    aside: OutsideSearch

    @classmethod
    def of(cls, state: IndexState, within: frozenset[str] | None) -> SearchExtent:
        """Return the extent of a search of all the files, or of those ``within``."""
        corpus = state.corpus
        if within is None:
            return cls(state.files, corpus.size, state.skipped, state.aside)
        files = Pages(tuple(sorted(within)))
        searched = corpus.count(files, searched=True).number
        skipped = tuple(out for out in state.skipped if out.path in within)
        aside = OutsideSearch(corpus.count(files).number - searched)
        return cls(len(within), searched, skipped, aside)


class CommitSummary(NamedTuple):
    """A summary of the pages of one commit; ``lines`` are each page, and what its fingerprint has.

    ``pages`` may change with the next commit: an index may return a view of what it has then.
    """

    pages: Mapping[str, IndexedFile]
    skipped: tuple[LeftOut, ...]
    headings: int
    fingerprint: str
    lines: Mapping[str, tuple[IndexedFile, str]]

    @classmethod
    def of(
        cls, pages: Mapping[str, IndexedFile], before: CommitSummary | None = None
    ) -> CommitSummary:
        """Return the summary of these pages; most may be the same objects as ``before``."""
        skipped = sorted([LeftOut(p.path, None, p.skipped) for p in pages.values() if p.skipped])
        known = before.lines if before else EMPTY_MAPPING
        lines = {
            path: line if (line := known.get(path)) and line[0] is page else (page, _line(page))
            for path, page in pages.items()
        }
        stamps = "\0".join([lines[path][1] for path in sorted(lines)])
        headings = sum([page.blank for page in pages.values()])
        return cls(pages, tuple(skipped), headings, digest(stamps, 16), lines)


def _line(page: IndexedFile) -> str:
    # A file that can be read again, or is replaced with its times, has the same stamp.
    return f"{page.path}\0{page.stamp}{page.skipped or ''}\0{text_digest(page)}"


# --- recovery ---------------------------------------------------------------------------------

REBUILT = "the index on disk was removed or damaged; it has been rebuilt"

_log = logging.getLogger("fumishirube")


class RecoverableIndex:
    """An open index. ``refresh`` replaces it by an empty one if its files cannot be used.

    ``rebuilt`` is then, and after an opening that did so, a sentence for an answer, until the
    caller empties it. ``reopened`` counts how often it was replaced in a row.
    """

    def __init__(self, open_index: Callable[[], OpenIndex]) -> None:
        self._open_index = open_index
        self._index = open_index()
        self._closed = False
        self.reopened = 0
        self.rebuilt = REBUILT if WAS_REBUILT.of(self._index) is True else ""

    def pages(self) -> Mapping[str, IndexedFile]:
        """Return the files of the last commit, by path: the same object until that changes."""
        return self._index.pages()

    @property
    def preparation(self) -> Callable[[Passage], object] | None:
        """A function that other processes call; see :class:`fumishirube.OpenIndex`."""
        return PREPARATION.of(self._index)

    def refresh(self) -> None:
        """Read what other processes have committed, or reopen the index.

        Raises:
            Forbidden: when no index can be opened in the folder; the next call tries again.
        """
        if not self._closed:
            try:
                self._index.refresh()
            except IndexDamaged as error:
                _log.warning("an index has to be rebuilt: %s", error)
            else:
                self.reopened = 0
                return
            self.close()
        self._index = self._open_index()
        self._closed = False
        self.reopened += 1
        self.rebuilt = REBUILT

    def check(self) -> None:
        """Check an index that was reopened, when every file is in it again.

        Raises:
            IndexDamaged: when it says that it is still damaged.
        """
        if self.rebuilt:
            self._index.refresh()
            self.reopened = 0

    def writing(self, budget: Budget) -> AbstractContextManager[bool]:
        """Become the writer; yield ``False`` if another one stays busy until the deadline."""
        return self._index.writing(budget)

    def rebuilding(self, budget: Budget) -> AbstractContextManager[bool | None]:
        """Build a new index beside this one; yield ``None`` if the index does not support it."""
        rebuilding: Callable[[Budget], AbstractContextManager[bool]] | None
        rebuilding = REBUILDING.of(self._index)
        return nullcontext() if rebuilding is None else rebuilding(budget)

    def sync(
        self,
        gone: Collection[str],
        pages: Iterable[tuple[IndexedFile, Sequence[Any]]],
        contents: FileContents | None = None,
    ) -> None:
        """Replace the named pages and commit, all or nothing. Only inside :meth:`writing`.

        ``contents`` are for an index that stores files too.
        """
        if contents is not None and isinstance(self._index, StoresFiles):
            self._index.sync_with_files(gone, pages, contents)
        else:
            self._index.sync(gone, pages)

    def files(self) -> Mapping[str, StoredFile]:
        """Return the stored files of the last commit, by path; none if it stores none."""
        return self._index.files() if isinstance(self._index, StoresFiles) else {}

    def read_file(self, path: str) -> bytes:
        """Return the bytes of a stored file."""
        if not isinstance(self._index, StoresFiles):
            raise NotFound("no such file or folder", path=path)
        return self._index.read_file(path)

    def vector_store(self, identity: str) -> VectorStore | None:
        """Return the vectors of an embedder, if the index stores and compares them."""
        index = self._index
        return index.vector_store(identity) if isinstance(index, StoresVectors) else None

    def vector_note(self) -> str:
        """Return who compares vectors, as a part of a sentence; empty if there is no choice."""
        return self._index.vector_note() if isinstance(self._index, StoresVectors) else ""

    def corpus(self, manual_id: str) -> Corpus:
        """Return a view of the last commit that later commits do not change."""
        return self._index.corpus(manual_id)

    def close(self) -> None:
        """Close files and free memory."""
        if not self._closed:
            self._closed = True
            self._index.close()
