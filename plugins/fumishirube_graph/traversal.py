"""Walks over links in both directions, breadth first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Literal, NamedTuple

from fumishirube import LinkKind, Neighbour, link_levels


class WalkStep(NamedTuple):
    """A reached page: the number of hops, and the link of the last hop."""

    path: str
    depth: int
    kind: LinkKind
    direction: Literal["outlink", "backlink"]


class WalkResult(NamedTuple):
    """The reached pages, by hops, title and path; and whether some were left out."""

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
    """Return the pages within ``depth`` hops of a page, each once, without that page.

    ``kinds`` are the link types to follow; all by default.
    """
    steps: list[WalkStep] = []
    for hops, reached in enumerate(link_levels([start], depth, neighbours, kinds), start=1):
        for path in sorted(reached, key=lambda path: (title(path), path)):
            if most is not None and len(steps) >= most:
                return WalkResult(tuple(steps), truncated=True)
            steps.append(WalkStep(path, hops, reached[path].kind, reached[path].direction))
    return WalkResult(tuple(steps), truncated=False)
