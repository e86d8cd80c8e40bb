"""Documents that refer to each other: a corpus that knows their links, and following them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from fumishirube.corpus import Corpus, IndexMatch
from fumishirube.documents import LinkKind


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
    """Yield what is reached with each further hop, breadth first, each file once.

    A file comes with the link over which it was reached: an outlink before a backlink, then by
    kind. ``kinds`` are the kinds of links that are followed, all of them by default.
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
    """The best sections in which texts stand, and how many there are in all."""

    matches: Sequence[IndexMatch]
    total: int


@runtime_checkable
class LinkedCorpus(Corpus, Protocol):
    """A corpus of files that refer to each other, whose texts are searched letter by letter."""

    @property
    def vectors(self) -> bool:
        """Whether there is any vector to be near to."""
        ...

    def neighbours(self, path: str) -> Sequence[Neighbour]:
        """Return every link of a file, either way, but those to itself."""
        ...

    def search_texts(
        self,
        texts: Sequence[str],
        limit: int | None,
        within: frozenset[str] | None = None,
        share: float = 1.0,
    ) -> TextMatches:
        """Return the best sections in which the texts stand, anywhere, inside words too.

        With a ``share`` below 1 that share of them is enough, and sections are worth the less the
        more is missing.
        """
        ...

    def nearest(
        self, text: str, limit: int, within: frozenset[str] | None = None
    ) -> Sequence[IndexMatch]:
        """Return the sections most similar to a text, best first, by cosine from 0 to 1."""
        ...
