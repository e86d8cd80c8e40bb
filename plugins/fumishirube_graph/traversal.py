"""Walking over links, both ways, breadth first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Literal, NamedTuple

from fumishirube import LinkKind, Neighbour, link_levels


class WalkStep(NamedTuple):
    """A page that was reached: in how many hops, and by which link at the last of them."""

    path: str
    depth: int
    kind: LinkKind
    direction: Literal["outlink", "backlink"]


class WalkResult(NamedTuple):
    """The pages reached, nearest first, then by title and path; and whether some are missing."""

    steps: tuple[WalkStep, ...]
    truncated: bool


def walk(
    start: str,
    depth: int,
    neighbours: Callable[[str], Sequence[Neighbour]],
    title: Callable[[str], str],
    kinds: Collection[str] = (),
    most: int | None = None,
) -> WalkResult:
    """Return what lies within so many hops of a page, itself excluded, each page once.

    ``kinds`` are the link types that are followed, all of them by default.
    """
    steps: list[WalkStep] = []
    for hops, reached in enumerate(link_levels([start], depth, neighbours, kinds), start=1):
        for path in sorted(reached, key=lambda path: (title(path), path)):
            if most is not None and len(steps) >= most:
                return WalkResult(tuple(steps), truncated=True)
            steps.append(WalkStep(path, hops, reached[path].kind, reached[path].direction))
    return WalkResult(tuple(steps), truncated=False)
