"""Counts of matching lines by file, or by folder where the files are too many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple


class CountedPath(NamedTuple):
    """The number of matching lines in a file, or in a folder, whose path ends with a slash."""

    manual_id: str
    path: str
    lines: int


def counted_paths(counts: Mapping[tuple[str, str], int], max_chars: int) -> list[CountedPath]:
    """Return counts by file; if these do not fit, by the deepest folders that fit."""
    depth = max((path.count("/") for _, path in counts), default=0)
    rows = dict(counts)
    while depth > 0 and sum(len(path) + 22 for _, path in rows) > max_chars:
        depth -= 1
        folded: Counter[tuple[str, str]] = Counter()
        for (manual_id, path), count in counts.items():
            folders = path.split("/")
            short = "/".join(folders[: depth + 1]) + "/" if len(folders) > depth + 1 else path
            folded[manual_id, short] += count
        rows = dict(folded)
    return [CountedPath(*key, count) for key, count in rows.items()]
