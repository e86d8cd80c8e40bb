"""The settings of the chapters that more than one of their rooms goes by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MODES = ("plain", "regex", "loose")
"""The scorers that read texts through, by the mode of a search."""
EXCEPTIONS = "exceptions"
MOST_RESULTS = 100


@dataclass(frozen=True)
class LocationSettings:
    """Where tables of contents stand in a manual's folder, and which links are followed.

    ``allowed`` are the folders outside of which nothing is read.
    """

    toc: str
    allowed: Sequence[Path]
    links: bool = False


@dataclass(frozen=True)
class ChapterCacheSettings:
    """How many chapters stay in memory, for how many seconds, and the file of their projections."""

    chapters: int
    seconds: float
    file: Path
