"""Vectors that an index on other machines stores and compares."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from fumishirube.corpus import Corpus
from fumishirube.corpus_kinds import EmbeddingCounts, SimilarSection, VectorStore
from fumishirube.engine.vectors.embedding import (
    CheckedEmbedder,
    FileTexts,
    NamedEmbedder,
    ReadSections,
)
from fumishirube.errors import Forbidden

_log = logging.getLogger("fumishirube")


class DistantVectors:
    """The vectors that one embedder makes, in a store."""

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

        def divided(path: str) -> Sequence[Sequence[tuple[str, str]]] | None:
            sections = read(path)
            return None if sections is None else FileTexts.of(sections).sections

        embed = partial(self._embedder.embed, role="passage", dimensions=0)
        return self._embedder.update(
            lambda: self._store().update(stamps, divided, embed, go_on), (Forbidden,)
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
