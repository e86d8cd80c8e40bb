"""Walking over links, both ways, breadth first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Literal, NamedTuple

from shirube import LinkKind, Neighbour


class Step(NamedTuple):
    """A page that was reached: in how many hops, and by which link at the last of them."""

    path: str
    depth: int
    kind: LinkKind
    direction: Literal["outlink", "backlink"]


class Walk(NamedTuple):
    """The pages reached, nearest first, then by title and path; and whether some are missing."""

    steps: tuple[Step, ...]
    truncated: bool


def walk(
    start: str,
    depth: int,
    neighbours: Callable[[str], Sequence[Neighbour]],
    title: Callable[[str], str],
    kinds: Collection[str] = (),
    most: int | None = None,
) -> Walk:
    """Return what lies within so many hops of a page, itself excluded, each page once.

    ``kinds`` are the link types that are followed, all of them by default.
    """
    seen = {start}
    found: list[Step] = []
    level = [start]
    for hops in range(1, depth + 1):
        reached: dict[str, Neighbour] = {}
        for path in level:
            for one in neighbours(path):
                if one.path in seen or (kinds and one.kind not in kinds):
                    continue
                known = reached.get(one.path)
                if known is None or _rank(one) < _rank(known):
                    reached[one.path] = one
        level = sorted(reached, key=lambda path: (title(path), path))
        seen.update(level)
        for path in level:
            if most is not None and len(found) >= most:
                return Walk(tuple(found), truncated=True)
            found.append(Step(path, hops, reached[path].kind, reached[path].direction))
    return Walk(tuple(found), truncated=False)


def _rank(one: Neighbour) -> tuple[bool, str]:
    """Order the links over which a page is reached: outlinks first, then by type."""
    return one.direction != "outlink", one.kind
