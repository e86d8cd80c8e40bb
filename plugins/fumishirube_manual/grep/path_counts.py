"""Counts of matching lines by file, or by folder where the files are too many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

_ROW_CHARS = 22
"""The characters of a row beside its path."""


class CountedPath(NamedTuple):
    """The number of matching lines in a file, or in a folder, whose path ends with a slash.

    The path ``/``, without a manual, is that of all that are not listed.
    """

    manual_id: str | None
    path: str
    lines: int


def counted_paths(counts: Mapping[tuple[str, str], int], max_chars: int) -> list[CountedPath]:
    """Return counts by file; if these do not fit, by the deepest folders that fit.

    If none do, the first folders are listed, and the others counted together.
    """
    depth = max((path.count("/") for _, path in counts), default=0)
    rows = dict(counts)
    while depth > 0 and _sizes(rows)[-1] > max_chars:
        depth -= 1
        folded: Counter[tuple[str, str]] = Counter()
        for (manual_id, path), count in counts.items():
            folders = path.split("/")
            short = "/".join(folders[: depth + 1]) + "/" if len(folders) > depth + 1 else path
            folded[manual_id, short] += count
        rows = dict(folded)
    listed = [CountedPath(*key, count) for key, count in rows.items()]
    sizes = _sizes(rows)
    if sizes[-1] <= max_chars:
        return listed
    fitting = sum(size + _ROW_CHARS <= max_chars for size in sizes)
    return [*listed[:fitting], CountedPath(None, "/", sum(row.lines for row in listed[fitting:]))]


def _sizes(rows: Iterable[tuple[str, str]]) -> Sequence[int]:
    """Return the characters of the first row, of the first two, and so on; 0 for none."""
    return [*accumulate(len(path) + _ROW_CHARS for _, path in rows)] or [0]
