"""Documents with links: a corpus that knows them, and a walk along them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from fumishirube.corpus import IndexMatch
from fumishirube.documents import LinkKind
from fumishirube.vectors import VectorCorpus


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
