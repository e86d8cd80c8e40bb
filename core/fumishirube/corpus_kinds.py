"""Corpora that answer more: with vectors, with links, and on other machines."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

from fumishirube.corpus import Corpus, IndexMatch
from fumishirube.documents import LinkKind

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

    def most_similar(self, first: str, others: Sequence[str]) -> Sequence[tuple[float, int, int]]:
        """Return the highest similarity of sections of two files, and which, for each other."""
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


@runtime_checkable
class DistantCorpus(Protocol):
    """A corpus in which every request costs a round trip, unless several are sent together."""

    def rehearse(self, search: Callable[[Corpus], object]) -> None:
        """Run a search a few times to record its requests, and fetch their answers together.

        Each time the search gets a corpus that returns the answers fetched so far, and for other
        requests no hits, zero or an empty page. The result of the search is dropped.
        """
        ...

    def unsearched(self, since: float) -> str | None:
        """Return which part did not answer since a time of :func:`time.monotonic`, if any."""
        ...


def rehearse(corpus: object, search: Callable[[Corpus], object]) -> None:
    """Fetch the answers that a search will request of a corpus, if that saves round trips."""
    if isinstance(corpus, DistantCorpus):
        corpus.rehearse(search)


class Neighbour(NamedTuple):
    """A file that another one refers to (``outlink``) or is referred to by (``backlink``)."""

    path: str
    kind: LinkKind
    direction: Literal["outlink", "backlink"]


def link_levels(
    starts: Iterable[str],
    depth: int,
    neighbours: Callable[[str], Iterable[Neighbour]],
    kinds: Collection[str] = (),
) -> Iterator[Mapping[str, Neighbour]]:
    """Yield the files reached with each further hop, breadth first, each file once.

    A file comes with the link over which it was reached: an outlink before a backlink, then by
    kind. ``kinds`` restricts the links that are followed.
    """
    seen = set(starts)
    level = seen
    for _ in range(depth):
        reached: dict[str, Neighbour] = {}
        for path in level:
            for neighbour in neighbours(path):
                if neighbour.path in seen or (kinds and neighbour.kind not in kinds):
                    continue
                known = reached.get(neighbour.path)
                if known is None or _rank(neighbour) < _rank(known):
                    reached[neighbour.path] = neighbour
        yield reached
        level = set(reached)
        seen = seen | level


def _rank(neighbour: Neighbour) -> tuple[bool, str]:
    return neighbour.direction != "outlink", neighbour.kind


class TextMatches(NamedTuple):
    """The best sections that contain texts, and the number of all of them."""

    matches: Sequence[IndexMatch]
    total: int


@runtime_checkable
class LinkedCorpus(VectorCorpus, Protocol):
    """A corpus of linked files, whose texts are searched letter by letter."""

    def neighbours(self, path: str) -> Sequence[Neighbour]:
        """Return every link of a file in both directions, except those to itself."""
        ...

    def search_texts(
        self,
        texts: Sequence[str],
        limit: int | None,
        within: frozenset[str] | None = None,
        share: float = 1.0,
    ) -> TextMatches:
        """Return the best sections that contain the texts, even inside words.

        With a ``share`` below 1, that share of the texts is enough, and missing ones lower the
        score.
        """
        ...


class VectorStore(Protocol):
    """The vectors of one embedder on other machines, which compare them there.

    Its methods raise :class:`fumishirube.Forbidden` when these do not answer.
    """

    def stamps(self) -> Mapping[str, str]:
        """Return the complete files with their stamps: the same object until that changes."""
        ...

    def update(
        self,
        stamps: Mapping[str, str],
        read: Callable[[str], Sequence[Sequence[tuple[str, str]]] | None],
        embed: Callable[[Sequence[str]], Sequence[Sequence[float]]],
        go_on: Callable[[], bool],
    ) -> EmbeddingCounts:
        """Store what has no vector, as :meth:`SectionVectors.update`, if this process may write.

        ``read`` returns the texts of each section of a file, each after its hash, and ``embed``
        the vectors of texts. Its exceptions are passed on.
        """
        ...

    def nearest(
        self,
        vector: Sequence[float],
        stamps: Mapping[str, str],
        limit: int,
        within: frozenset[str] | None,
        per_file: int | None,
        on: Corpus | None,
    ) -> Sequence[tuple[str, int, float]]:
        """Return the most similar sections, perhaps approximately; none while ``on`` rehearses."""
        ...


@runtime_checkable
class StoresVectors(Protocol):
    """An open index that can also store vectors, and compare them where it is."""

    def vector_store(self, identity: str) -> VectorStore | None:
        """Return the vectors of an embedder; ``None`` where this server has to compare them."""
        ...

    def vector_note(self) -> str:
        """Return who compares vectors, and why, as a part of a sentence."""
        ...
