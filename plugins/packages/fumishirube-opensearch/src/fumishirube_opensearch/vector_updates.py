"""Updates of the vectors in the cluster: what is embedded, and how much is stored at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from fumishirube.tools import EmbeddingCounts
from fumishirube_opensearch.vector_documents import FileVectors, PieceVector

if TYPE_CHECKING:
    from fumishirube_opensearch.vectors import ClusterVectors

DividedSections: TypeAlias = Sequence[Sequence[tuple[str, str]]]
"""The texts of each section of a file, each after its hash."""

Read: TypeAlias = Callable[[str], DividedSections | None]
Embed: TypeAlias = Callable[[Sequence[str]], Sequence[Sequence[float]]]

_BATCH = 64
_COMMIT = 1000
"""About how many vectors are stored at a time: each commit makes a graph, and merges follow."""


class _DividedFile(NamedTuple):
    """A file that is divided into texts, of which some may have no vector yet."""

    path: str
    stamp: str
    sections: DividedSections

    def embedded(self, vectors: Mapping[str, Sequence[float]]) -> FileVectors:
        """Return the file with those of its texts that have a vector."""
        keys = [(number, key) for number, rows in enumerate(self.sections) for key, _ in rows]
        pieces = [PieceVector(number, k, vectors[k]) for number, k in keys if k in vectors]
        return FileVectors(self.path, self.stamp, pieces, len(pieces) == len(keys))


@dataclass
class VectorUpdate:
    """An update by the writer, until ``go_on`` ends it, with its counts of texts."""

    store: ClusterVectors
    embed: Embed
    go_on: Callable[[], bool]
    embedded: int = 0
    reused: int = 0

    def run(self, stamps: Mapping[str, str], read: Read) -> EmbeddingCounts:
        """Store what has no vector, and delete the vectors that no file needs."""
        known = self.store.stamps()
        self._add(
            [path for path, stamp in stamps.items() if known.get(path) != stamp], stamps, read
        )
        if not self.go_on():
            return EmbeddingCounts(self.embedded, self.reused, cut=True)
        gone = known.keys() - stamps.keys()
        if gone:
            self.store.drop(gone)
        return EmbeddingCounts(self.embedded, self.reused, len(gone))

    def _add(self, paths: Sequence[str], stamps: Mapping[str, str], read: Read) -> None:
        waiting = 0
        files: list[_DividedFile] = []
        for path in paths:
            if not self.go_on():
                break
            sections = read(path)
            if sections is None:
                continue
            files.append(_DividedFile(path, stamps[path], sections))
            waiting += sum(map(len, sections))
            if waiting >= _COMMIT:
                self._write(files)
                waiting, files = 0, []
        if files:  # each turn gets on
            self._write(files)

    def _write(self, files: Sequence[_DividedFile]) -> None:
        texts = {key: text for file in files for rows in file.sections for key, text in rows}
        vectors = dict(self.store.known(texts.keys()))
        self.reused += len(vectors)
        left = [key for key in texts if key not in vectors]
        for at in range(0, len(left), _BATCH):
            if at and not self.go_on():
                break
            keys = left[at : at + _BATCH]
            vectors.update(zip(keys, self.embed([texts[key] for key in keys]), strict=True))
            self.embedded += len(keys)
        self.store.write([file.embedded(vectors) for file in files])
