"""Walks over links in both directions, breadth first."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, NamedTuple

from fumishirube import LinkKind, link_levels
from fumishirube_graph.snapshot import GraphSnapshot


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
    snapshot: GraphSnapshot,
    start: str,
    depth: int,
    kinds: Collection[str] = (),
    most: int | None = None,
) -> WalkResult:
    """Return the pages within ``depth`` hops of a page, each once, without that page.

    ``kinds`` are the link types to follow; all by default.
    """
    steps: list[WalkStep] = []
    levels = link_levels([start], depth, snapshot.neighbours, kinds)
    for hops, reached in enumerate(levels, start=1):
        for path in sorted(reached, key=lambda path: (snapshot.docs[path].title, path)):
            if most is not None and len(steps) >= most:
                return WalkResult(tuple(steps), truncated=True)
            steps.append(WalkStep(path, hops, reached[path].kind, reached[path].direction))
    return WalkResult(tuple(steps), truncated=False)
