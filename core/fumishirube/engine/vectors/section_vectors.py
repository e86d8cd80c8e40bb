"""The vectors of sections: embedded when a text is new, stored in a file, compared by cosine."""

from __future__ import annotations

import logging
import sqlite3
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, takewhile
from threading import RLock

from fumishirube.config.sections import NO_EMBEDDER
from fumishirube.corpus_kinds import EmbeddingCounts, EmbeddingProgress, SectionText, SimilarSection
from fumishirube.disk.roots import Root
from fumishirube.engine.owned_locks import OwnedLock
from fumishirube.engine.vectors.embedding import (
    CheckedEmbedder,
    NamedEmbedder,
    ReadSections,
    divided,
    keys_of,
)
from fumishirube.engine.vectors.vector_file import FileKeys, Position, SectionKeys, VectorFile
from fumishirube.engine.vectors.vector_rows import RowGroups, VectorRows, first_sections

MOST_VECTORS = 200_000
"""The most texts that are embedded: a search compares the query with every one of them."""

_log = logging.getLogger("fumishirube")

_BATCH = 64


class StoredVectors:
    """The :class:`fumishirube.SectionVectors` of one embedder, in a file of their own in a folder.

    There are none without an embedder, with a failing one, or with one without dimensions. A model
    is loaded only when there is a text to embed.
    """

    def __init__(self, named: NamedEmbedder | None, folder: Root, name: str = "vectors.db") -> None:
        self.name = named.name if named else NO_EMBEDDER
        self._embedder = CheckedEmbedder(named) if named else None
        self._file = VectorFile(folder, name)
        self._lock = RLock()
        self._updating = OwnedLock(reentrant=True)
        self._forget()
        self._layout: tuple[Mapping[str, str], int, RowGroups] | None = None
        self._version = 0

    def _forget(self) -> None:
        self._position = Position()
        self._vectors = VectorRows()
        self._rows: dict[str, int] = {}
        self._files: dict[str, tuple[str, SectionKeys]] = {}

    @property
    def failure(self) -> str | None:
        """The message of the last failure, if what failed has not worked since."""
        return self._embedder.failure if self._embedder else None

    @property
    def active(self) -> bool:
        """Whether the embedder makes vectors; stored vectors answer this without calling it."""
        return self._embedder is not None and (self.present or self._embedder.works())

    @property
    def full(self) -> bool:
        """Whether no further text is embedded."""
        return len(self._rows) >= MOST_VECTORS

    @property
    def present(self) -> bool:
        """Whether there is any vector."""
        if self._embedder is None:
            return False
        with self._lock:
            self._refresh()
            return bool(self._rows)

    def progress(
        self, stamps: Mapping[str, str], read: Callable[[str], Sequence[SectionText]]
    ) -> EmbeddingProgress:
        """Return how many of the texts of the files have a vector."""
        if not self.active:
            return EmbeddingProgress(0, 0)
        with self._lock:
            keys = {
                key
                for path, stamp in stamps.items()
                for section in self._keys(path, stamp) or keys_of(divided(read(path)))
                for key in section
            }
            return EmbeddingProgress(len(keys & self._rows.keys()), len(keys))

    def files_left(self, stamps: Mapping[str, str]) -> int:
        """Return how many files have texts without a vector."""
        with self._lock:
            self._refresh()
            return sum(not self._complete(path, stamp) for path, stamp in stamps.items())

    def update(
        self,
        stamps: Mapping[str, str],
        read: ReadSections,
        go_on: Callable[[], bool] = lambda: True,
    ) -> EmbeddingCounts:
        """Embed what has no vector, in one thread of one process at a time."""
        with self._updating:
            embedder = self._embedder
            if embedder is None or not self.active:
                return EmbeddingCounts()

            def write() -> EmbeddingCounts:
                with self._file.writing(go_on) as mine:
                    if not mine:
                        return EmbeddingCounts(cut=True)
                    return self._update(embedder, stamps, read, go_on)

            return embedder.update(write, (sqlite3.Error, OSError))

    def nearest(
        self,
        text: str,
        stamps: Mapping[str, str],
        limit: int,
        within: frozenset[str] | None = None,
        per_file: int | None = None,
    ) -> Sequence[SimilarSection]:
        """Return the sections most similar to a text."""
        if self._embedder is None or not self.present:
            return []
        query = self._embedder.query(text, self._vectors.dimensions)
        with self._lock:
            sections = self._laid_out(stamps)
            if not sections.places:
                return []
            order, values = self._vectors.best(query, sections)
        ranked = (SimilarSection(*sections.places[at], _bounded(values[at])) for at in order)
        similar = takewhile(lambda section: section.similarity > 0, ranked)
        return first_sections(similar, limit, within, per_file)

    def most_similar(self, first: str, others: Sequence[str]) -> Sequence[tuple[float, int, int]]:
        """Return the highest similarity of sections of two files, and which, for each other."""
        best = dict.fromkeys(others, (0.0, 0, 0))
        with self._lock:
            sections = RowGroups.of(
                ((path, number), rows) for path in best for number, rows in self._sections_of(path)
            )
            for number, mine in self._sections_of(first) if sections.places else ():
                for row in mine:
                    _, values = self._vectors.best(self._vectors.row(row), sections)
                    for (path, other), value in zip(sections.places, values, strict=True):
                        if value > best[path][0] and _bounded(value) > best[path][0]:
                            best[path] = (_bounded(value), number, other)
        return [best[path] for path in others]

    # --- the update ------------------------------------------------------------------------------

    def _update(
        self,
        embedder: CheckedEmbedder,
        stamps: Mapping[str, str],
        read: ReadSections,
        go_on: Callable[[], bool],
    ) -> EmbeddingCounts:
        with self._lock:
            self._refresh()
            pending = [path for path, stamp in stamps.items() if self._wanting(path, stamp)]
            seen = {key for path, stamp in stamps.items() for key in self._all_keys(path, stamp)}
        seen &= self._rows.keys()
        texts: OrderedDict[str, str] = OrderedDict()
        files: list[FileKeys] = []
        embedded = 0
        for path in pending:
            while len(texts) >= _BATCH and go_on():
                embedded += self._store(embedder, texts, files)
            if not go_on():
                break
            sections = read(path)
            if sections is None:
                continue
            texts_of_file = divided(sections)
            files.append(FileKeys(path, stamps[path], keys_of(texts_of_file)))
            for key, text in chain.from_iterable(texts_of_file):
                if key in self._rows:
                    seen.add(key)
                elif len(self._rows) + len(texts) < MOST_VECTORS:
                    texts[key] = text
        while (texts or files) and go_on():
            embedded += self._store(embedder, texts, files)
        cut = not go_on()
        return EmbeddingCounts(embedded, len(seen), 0 if cut else self._drop(stamps), cut)

    def _store(
        self, embedder: CheckedEmbedder, texts: OrderedDict[str, str], files: list[FileKeys]
    ) -> int:
        """Embed the first texts, store their vectors and all files in one commit, and drop both."""
        batch = [texts.popitem(last=False) for _ in range(min(_BATCH, len(texts)))]
        passages = [text for _, text in batch]
        made = embedder.embed(passages, "passage", self._vectors.dimensions) if batch else []
        rows = [(k, array("f", v).tobytes()) for (k, _), v in zip(batch, made, strict=True)]
        self._file.write(rows, files)
        files.clear()
        with self._lock:
            self._refresh()
        return len(rows)

    def _drop(self, stamps: Mapping[str, str]) -> int:
        with self._lock:
            used = {key for path, stamp in stamps.items() for key in self._all_keys(path, stamp)}
            keys, paths = self._rows.keys() - used, self._files.keys() - stamps.keys()
            if keys or paths:
                self._file.drop(keys, paths)
                self._refresh()
            return len(keys)

    def _refresh(self) -> None:
        """Read what this or another process has committed."""
        try:
            new = self._file.read(self._position)
        except (sqlite3.Error, OSError):
            _log.exception("the vectors cannot be read now")
            return
        if new.position == self._position:
            return
        self._version += 1
        if new.complete:
            self._forget()
        try:
            for key, data in new.vectors:
                self._vectors.add(data)
                self._rows[key] = len(self._vectors) - 1
        except ValueError as error:
            _log.warning("a file of vectors is damaged, and is made again: %s", error)
            self._file.remove()
            self._forget()
            return
        self._files.update({path: (stamp, sections) for path, stamp, sections in new.files})
        self._position = new.position

    # --- the vectors of files --------------------------------------------------------------------

    def _keys(self, path: str, stamp: str) -> SectionKeys | None:
        """Return the keys of a file; ``None`` if it was divided at another stamp, or never."""
        known = self._files.get(path)
        return known[1] if known and known[0] == stamp else None

    def _all_keys(self, path: str, stamp: str) -> Iterator[str]:
        return chain.from_iterable(self._keys(path, stamp) or ())

    def _complete(self, path: str, stamp: str) -> bool:
        keys = self._keys(path, stamp)
        return keys is not None and self._rows.keys() >= {*chain.from_iterable(keys)}

    def _wanting(self, path: str, stamp: str) -> bool:
        """Tell whether a file is not divided yet, or has texts to embed for which there is room."""
        return not (self._complete(path, stamp) or (self.full and self._keys(path, stamp)))

    def _sections_of(self, path: str) -> Iterator[tuple[int, Sequence[int]]]:
        """Yield the numbers of a file's sections with vectors, and their rows."""
        for number, keys in enumerate(self._files.get(path, ("", ()))[1]):
            rows = [self._rows[key] for key in keys if key in self._rows]
            if rows:
                yield number, rows

    def _laid_out(self, stamps: Mapping[str, str]) -> RowGroups:
        """Return the rows of each section with a vector; the same object while nothing changes."""
        layout = self._layout
        if layout is None or layout[0] is not stamps or layout[1] != self._version:
            sections = (
                ((path, number), rows)
                for path in sorted(stamps)
                if self._keys(path, stamps[path])
                for number, rows in self._sections_of(path)
            )
            layout = self._layout = (stamps, self._version, RowGroups.of(sections))
        return layout[2]


def _bounded(similarity: float) -> float:
    return round(min(1.0, max(0.0, similarity)), 6)
