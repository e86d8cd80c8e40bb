"""Vectors that an index on other machines stores and compares."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from fumishirube.corpus import Corpus
from fumishirube.corpus_kinds import (
    EmbeddedFile,
    EmbeddedPiece,
    EmbeddingCounts,
    SimilarSection,
    VectorStore,
)
from fumishirube.engine.vectors.embedding import (
    CheckedEmbedder,
    FileTexts,
    NamedEmbedder,
    ReadSections,
)
from fumishirube.errors import Forbidden

_log = logging.getLogger("fumishirube")

_BATCH = 64
_COMMIT = 1000
"""About how many vectors are stored at a time: each commit makes a graph, and merges follow."""


class _DividedFile(NamedTuple):
    """A file that is divided into texts, of which some may have no vector yet."""

    path: str
    stamp: str
    texts: FileTexts

    def embedded(self, vectors: Mapping[str, Sequence[float]]) -> EmbeddedFile:
        """Return the file with those of its texts that have a vector."""
        rows = [(number, key) for number, keys in enumerate(self.texts.keys) for key in keys]
        pieces = [EmbeddedPiece(number, k, vectors[k]) for number, k in rows if k in vectors]
        return EmbeddedFile(self.path, self.stamp, pieces, len(pieces) == len(rows))


class DistantVectors:
    """The vectors of one embedder in a store, which one server at a time fills."""

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
        """Embed what has no vector, if this server may store it."""

        def write() -> EmbeddingCounts:
            store = self._store()
            if not store.writable:
                return EmbeddingCounts()
            with store.writing(go_on) as mine:
                if not mine:
                    return EmbeddingCounts(cut=True)
                return self._update(store, stamps, read, go_on)

        return self._embedder.update(write, (Forbidden,))

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

    def _update(
        self,
        store: VectorStore,
        stamps: Mapping[str, str],
        read: ReadSections,
        go_on: Callable[[], bool],
    ) -> EmbeddingCounts:
        known = store.stamps()
        embedded = reused = waiting = 0
        files: list[_DividedFile] = []
        for path in [path for path, stamp in stamps.items() if known.get(path) != stamp]:
            if not go_on():
                break
            sections = read(path)
            if sections is None:
                continue
            files.append(_DividedFile(path, stamps[path], FileTexts.of(sections)))
            waiting += sum(map(len, files[-1].texts.keys))
            if waiting >= _COMMIT:
                made, again = self._write(store, files, go_on)
                embedded, reused, waiting, files = embedded + made, reused + again, 0, []
        if files:  # each turn gets on
            made, again = self._write(store, files, go_on)
            embedded, reused = embedded + made, reused + again
        if not go_on():
            return EmbeddingCounts(embedded, reused, cut=True)
        gone = known.keys() - stamps.keys()
        if gone:
            store.drop(gone)
        return EmbeddingCounts(embedded, reused, len(gone))

    def _write(
        self, store: VectorStore, files: Sequence[_DividedFile], go_on: Callable[[], bool]
    ) -> tuple[int, int]:
        """Store the vectors of files; return how many were made, and how many were there."""
        texts = {key: text for file in files for key, text in file.texts.rows()}
        vectors = dict(store.known(texts.keys()))
        again = len(vectors)
        left = [key for key in texts if key not in vectors]
        for at in range(0, len(left), _BATCH):
            if at and not go_on():
                break
            keys = left[at : at + _BATCH]
            made = self._embedder.embed([texts[key] for key in keys], "passage", 0)
            vectors.update(zip(keys, made, strict=True))
        store.write([file.embedded(vectors) for file in files])
        return len(vectors) - again, again
