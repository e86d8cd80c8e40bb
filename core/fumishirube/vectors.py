"""Vectors of sections: what surfaces and stages may ask of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

from fumishirube.corpus import Corpus, IndexMatch

SectionText: TypeAlias = tuple[str, str]
"""The heading of a section and its own text, which are embedded together."""


class EmbeddingProgress(NamedTuple):
    """How many of the texts have a vector."""

    completed: int
    total: int


class EmbeddingCounts(NamedTuple):
    """The texts that one update embedded, found unchanged, and dropped.

    ``cut`` means that the update ended before it was complete, because it had to.
    """

    embedded: int = 0
    reused: int = 0
    dropped: int = 0
    cut: bool = False


class SimilarSection(NamedTuple):
    """A section, by its file and its number there from 0, and its similarity from 0 to 1."""

    path: str
    number: int
    similarity: float


class SectionVectors(Protocol):
    """The vectors of the sections of files by one embedder, kept by the hash of the text.

    ``stamps`` are the files by path, each with a text that changes with its content. A method that
    reads a mapping more than once is faster if that is the same object.
    """

    @property
    def name(self) -> str:
        """The embedder's name in the configuration; ``none`` without one."""
        ...

    @property
    def active(self) -> bool:
        """Whether the embedder makes vectors: false without one, or when it fails."""
        ...

    @property
    def present(self) -> bool:
        """Whether there is any vector."""
        ...

    @property
    def failure(self) -> str | None:
        """The message of the embedder's last failure, until it works again."""
        ...

    def progress(
        self, stamps: Mapping[str, str], read: Callable[[str], Sequence[SectionText]]
    ) -> EmbeddingProgress:
        """Return how many of the texts of the files have a vector."""
        ...

    def update(
        self,
        stamps: Mapping[str, str],
        read: Callable[[str], Sequence[SectionText] | None],
        go_on: Callable[[], bool] = lambda: True,
    ) -> EmbeddingCounts:
        """Embed what has no vector, and delete the vectors that no file needs.

        ``read`` returns the sections of a file in order, or ``None`` if it cannot be read as it is
        stamped. What is embedded is stored at once; ``go_on`` is called between two batches.
        A failure of the embedder ends the update, and is recorded in ``failure``.
        """
        ...

    def nearest(
        self,
        text: str,
        stamps: Mapping[str, str],
        limit: int,
        within: frozenset[str] | None = None,
        per_file: int | None = None,
    ) -> Sequence[SimilarSection]:
        """Return the sections most similar to a text, best first, then by path and number.

        The similarity of a section is that of its most similar part. Every vector is compared.
        """
        ...

    def most_similar(self, first: str, second: str) -> tuple[float, int, int]:
        """Return the highest similarity of a section of each of two files, and their numbers."""
        ...


@runtime_checkable
class VectorCorpus(Corpus, Protocol):
    """A corpus whose sections have vectors."""

    @property
    def vectors(self) -> bool:
        """Whether the corpus has any vectors."""
        ...

    def nearest(
        self,
        text: str,
        limit: int,
        within: frozenset[str] | None = None,
        per_file: int | None = None,
    ) -> Sequence[IndexMatch]:
        """Return the sections most similar to a text, best first, by cosine from 0 to 1."""
        ...
