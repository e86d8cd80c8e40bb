"""States of the index of a manual, and the extent of a search of one."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import NamedTuple

from fumishirube.corpus import Corpus, Pages
from fumishirube.documents import EMPTY_MAPPING
from fumishirube.engine.file_loads import SlowFile
from fumishirube.engine.indexed_files import text_digest
from fumishirube.model import LeftOut, OutsideSearch
from fumishirube.stages import IndexedFile


class IndexState(NamedTuple):
    """A manual's corpus, the number of files in it, what is missing, and why it may be stale.

    ``pages`` are the files in the corpus, by path.

    ``incomplete`` means that the corpus may lack what is in the files, so that nothing is proven
    to be absent. ``fingerprint`` changes with every path, time of change and text in the corpus.
    ``unfinished`` means that files remain to be indexed, that no thread of this process indexes
    them, and that the index can be written; ``unembedded`` the same of vectors. ``slow`` are the
    files that are still being loaded. ``manuals`` are the ids if the state is of several manuals.
    """

    corpus: Corpus
    files: int
    skipped: tuple[LeftOut, ...]
    degraded: str | None
    fingerprint: str
    aside: OutsideSearch = OutsideSearch()
    unfinished: bool = False
    slow: tuple[SlowFile, ...] = ()
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
    """A summary of the pages of one commit."""

    pages: Mapping[str, IndexedFile]
    skipped: tuple[LeftOut, ...]
    headings: int
    fingerprint: str

    @classmethod
    def of(cls, pages: Mapping[str, IndexedFile]) -> CommitSummary:
        """Return the summary of these pages."""
        skipped = sorted(LeftOut(p.path, None, p.skipped) for p in pages.values() if p.skipped)
        # A file that can be read again, or is replaced with its times, has the same stamp.
        stamps = "\0".join(
            f"{path}\0{page.stamp}{page.skipped or ''}\0{text_digest(page)}"
            for path, page in sorted(pages.items())
        )
        fingerprint = sha256(stamps.encode()).hexdigest()[:16]
        headings = sum(page.blank for page in pages.values())
        return cls(pages, tuple(skipped), headings, fingerprint)
