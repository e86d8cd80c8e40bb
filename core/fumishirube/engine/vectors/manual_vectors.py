"""The vectors of a manual's sections, which follow its index, and may be stored there."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from fumishirube.budget import Budget
from fumishirube.corpus import Corpus, IndexMatch
from fumishirube.corpus_kinds import EmbeddingCounts, SectionText, SimilarSection, VectorStore
from fumishirube.disk.roots import Root
from fumishirube.documents import Document
from fumishirube.engine.corpus_views import CorpusView
from fumishirube.engine.recoverable_index import RecoverableIndex
from fumishirube.engine.vectors.embedding import (
    CheckedEmbedder,
    NamedEmbedder,
    ReadSections,
    divided,
)
from fumishirube.engine.vectors.section_vectors import MOST_VECTORS, StoredVectors
from fumishirube.errors import Forbidden, ToolError
from fumishirube.stages import IndexedFile
from fumishirube.tools.definitions import Progress

_NO_STAMPS: Mapping[str, str] = {}
_TEXTS = "texts 2"
"""Counts changes of the texts that have vectors: files are divided anew, and vectors kept."""
_log = logging.getLogger("fumishirube")


class DistantVectors:
    """The vectors that one embedder makes, which an index on other machines stores."""

    full = False

    def __init__(self, named: NamedEmbedder, open_store: Callable[[], VectorStore | None]) -> None:
        self._embedder = CheckedEmbedder(named)
        self._open_store = open_store
        self._known: Mapping[str, str] = {}

    @property
    def failure(self) -> str | None:
        """The message of the last failure, if what failed has not worked since."""
        return self._embedder.failure

    @property
    def present(self) -> bool:
        """Whether there is any vector."""
        return bool(self._stamps())

    def files_left(self, stamps: Mapping[str, str]) -> int:
        """Return how many files have texts without a vector."""
        known = self._stamps()
        return sum(known.get(path) != stamp for path, stamp in stamps.items())

    def update(
        self,
        stamps: Mapping[str, str],
        read: ReadSections,
        go_on: Callable[[], bool] = lambda: True,
    ) -> EmbeddingCounts:
        """Embed what has no vector, if this process may store it."""

        def read_divided(path: str) -> Sequence[Sequence[tuple[str, str]]] | None:
            sections = read(path)
            return None if sections is None else divided(sections)

        embed = partial(self._embedder.embed, role="passage", dimensions=0)
        return self._embedder.update(
            lambda: self._store().update(stamps, read_divided, embed, go_on), (Forbidden,)
        )

    def nearest(
        self,
        text: str,
        stamps: Mapping[str, str],
        limit: int,
        within: frozenset[str] | None = None,
        per_file: int | None = None,
        corpus: Corpus | None = None,
    ) -> Sequence[SimilarSection]:
        """Return the sections most similar to a text, best first, then by path and number.

        The search is sent with the requests of ``corpus``; none is found while that rehearses.

        Raises:
            Forbidden: when the store does not answer.
        """
        if not self._stamps():
            return []
        vector = self._embedder.query(text, 0)
        similar = self._store().nearest(vector, stamps, limit, within, per_file, corpus)
        return [
            SimilarSection(path, number, round(min(1.0, similarity), 6))
            for path, number, similarity in similar
        ]

    def _store(self) -> VectorStore:
        store = self._open_store()
        if store is None:
            raise Forbidden("the index compares no vectors any more; start the server again")
        return store

    def _stamps(self) -> Mapping[str, str]:
        """Return the complete files; the last known ones while the store does not answer."""
        try:
            stamps = self._store().stamps()
        except Forbidden as error:
            _log.warning("the vectors cannot be read now: %s", error)
            return self._known
        self._known = stamps
        return stamps


ComparedVectors: TypeAlias = StoredVectors | DistantVectors


class ManualVectors:
    """The vectors of one manual. Files without one are those that the index does not have yet.

    ``comparison`` says who compares them, where that is not always this process.
    """

    def __init__(self, manual_id: str, named: NamedEmbedder, folder: Root) -> None:
        self._manual_id = manual_id
        self._named = named
        self._stored: ComparedVectors = StoredVectors(named, folder)
        self.comparison = ""
        self._stamped: tuple[Mapping[str, IndexedFile], Mapping[str, str]] = ({}, _NO_STAMPS)

    def follow(self, index: RecoverableIndex) -> None:
        """Store the vectors in the manual's index, and compare them there, if it can."""
        open_store = partial(index.vector_store, self._named.identity)
        if open_store() is not None:
            self._stored = DistantVectors(self._named, open_store)
        self.comparison = index.vector_note()

    def embed(
        self,
        pages: Mapping[str, IndexedFile],
        load: Callable[[IndexedFile], Document | None],
        budget: Budget,
        progress: Progress | None,
    ) -> bool:
        """Embed what has no vector until the time is up; return whether that ended it.

        ``load`` returns the document of a file, or ``None`` if it has changed since.
        """
        stamps = self._stamps(pages)
        left = self._stored.files_left(stamps)
        done = 0

        def read(path: str) -> Sequence[SectionText | None] | None:
            nonlocal done
            try:
                document = load(pages[path])
            except ToolError:  # the next update of the index skips it
                return None
            done += 1
            if progress:
                progress(min(done, left), left, f"embedding {self._manual_id}")
            return document and _section_texts(document)

        def go_on() -> bool:
            budget.check()
            return not budget.late

        wanted = left > 0 or self._stored.failure is not None
        return wanted and self._stored.update(stamps, read, go_on).cut

    def over(self, corpus: Corpus, pages: Mapping[str, IndexedFile]) -> EmbeddedCorpus:
        """Return a corpus with the vectors of its sections."""
        return EmbeddedCorpus(corpus, self._stored, self._stamps(pages), self.comparison)

    def shortfall(self, pages: Mapping[str, IndexedFile]) -> str | None:
        """Return a sentence for the answer if files have no vectors, or the embedder failed."""
        stamps = self._stamps(pages)
        left = self._stored.files_left(stamps)
        if self._stored.failure:
            return f"words alone decide: {self._stored.failure}"
        if not left:
            return None
        full = f"; at most {MOST_VECTORS:,} texts are" if self._stored.full else ""
        return (
            f"not every file is embedded yet ({len(stamps) - left} of {len(stamps)} are{full}): "
            "words alone find the others"
        )

    def _stamps(self, pages: Mapping[str, IndexedFile]) -> Mapping[str, str]:
        """Return the stamps of the searched files: the same object for the same pages."""
        if self._stamped[0] is not pages:
            searched = ((path, page) for path, page in pages.items() if not page.skipped)
            stamps = {path: f"{page.stamp} {_TEXTS}" for path, page in searched}
            self._stamped = (pages, stamps)
        return self._stamped[1]


def _section_texts(document: Document) -> Sequence[SectionText | None]:
    """Return the sections of a document, in the order in which an index stores them.

    A heading without a text is no hit, and would take the place of one among the nearest.
    """
    texts: list[SectionText | None] = []
    for section in document.sections:
        own = document.text[section.body : section.end]
        text = own if section.searched is None else section.searched
        texts.append((section.title or document.title, text) if text.strip() else None)
    return texts


@dataclass(frozen=True)
class EmbeddedCorpus(CorpusView):
    """A corpus whose sections have vectors, those of the files in ``stamps``."""

    stored: ComparedVectors
    stamps: Mapping[str, str]
    comparison: str = ""

    @property
    def vectors(self) -> bool:
        """Whether there is any vector."""
        return self.stored.present

    def nearest(
        self,
        text: str,
        limit: int,
        within: frozenset[str] | None = None,
        per_file: int | None = None,
    ) -> Sequence[IndexMatch]:
        """Return the sections most similar to a text, best first."""
        wanted = (text, self.stamps, limit, within, per_file)
        if isinstance(self.stored, DistantVectors):
            similar = self.stored.nearest(*wanted, self.corpus)
        else:
            similar = self.stored.nearest(*wanted)
        pages = {path: self.corpus.page(path) for path in {section.path for section in similar}}
        return [
            IndexMatch(pages[path][number], similarity)
            for path, number, similarity in similar
            if number < len(pages[path]) and pages[path][number].fields["body"]
        ]
