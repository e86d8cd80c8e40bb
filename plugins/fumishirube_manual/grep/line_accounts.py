"""What ``manual_grep`` searched and what not, and the counts of lines by file or by folder."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from fumishirube import Answer, SurfaceContext
from fumishirube.disk import is_below
from fumishirube.text import UnreadFile
from fumishirube.tools import OrAbsent
from fumishirube_manual.grep.line_pages import LinePage

_NAMED = 8
"""The most files that an answer names as not searched."""
_WITHOUT, _WITHOUT_SHARE = 20, 0.25
"""The most files without a match that an answer names, also as a share of those with one."""
_ROW_CHARS = 22
"""The characters of a row beside its path."""


class LineCount(Answer):
    """How many lines match in a file, or in a folder with a slash at its end; ``/`` is the rest."""

    manual_id: OrAbsent[str] = None
    path: str
    count: int


class UnsearchedFiles(Answer):
    """A file that was not searched, or the number of files for a reason."""

    manual_id: OrAbsent[str] = None
    path: OrAbsent[str] = None
    reason: str
    count: OrAbsent[int] = None


class Searched(Answer):
    """How many files were searched, and how many indexed sections they have."""

    files: int
    sections: int


class SearchScope(NamedTuple):
    """The manuals searched, and whether answers must name them."""

    ids: tuple[str, ...]
    every: bool

    @property
    def several(self) -> bool:
        """Whether rows must name their manual."""
        return self.every or len(self.ids) > 1

    def named(self, manual_id: str) -> str | None:
        """Return the id of a manual if rows must name it."""
        return manual_id if self.several else None


class SearchAccount:
    """What was searched and what was not, by manual.

    ``left_out`` are the files whose matching lines are all left out.
    """

    def __init__(self) -> None:
        self.files = self.sections = 0
        self.left_out: set[tuple[str, str]] = set()
        self.unread: list[tuple[str, UnreadFile]] = []
        self.unlisted: Counter[tuple[str, str]] = Counter()
        self.degraded: list[str] = []

    def rows(self, scope: SearchScope) -> tuple[UnsearchedFiles, ...] | None:
        """Return files by name if they are few, and counts by reason."""
        rows = [
            UnsearchedFiles(manual_id=scope.named(manual_id), path=file.path, reason=file.reason)
            for manual_id, file in self.unread[:_NAMED]
        ]
        counts = self.unlisted + Counter(
            (manual_id, file.reason) for manual_id, file in self.unread[_NAMED:]
        )
        rows += [
            UnsearchedFiles(manual_id=scope.named(manual_id), reason=reason, count=count)
            for (manual_id, reason), count in sorted(counts.items())
        ]
        return tuple(rows) or None


def files_without(
    context: SurfaceContext, scope: SearchScope, below: str, page: LinePage, account: SearchAccount
) -> tuple[str, ...] | None:
    """Return the searched files without a matching line, if they are few beside the others."""
    missing = account.files - len(page.counts) - len(account.left_out)
    if not 0 < missing <= min(_WITHOUT, _WITHOUT_SHARE * len(page.counts)):
        return None
    unread = {(manual_id, file.path) for manual_id, file in account.unread}
    known = page.counts.keys() | account.left_out | unread
    others = [
        f"{manual_id}/{path}" if scope.several else path
        for manual_id in scope.ids
        for path in context.manual(manual_id).paths()
        if is_below(path, below) and (manual_id, path) not in known
    ]
    return tuple(others) if len(others) == missing else None


def counted_paths(
    counts: Mapping[tuple[str, str], int], max_chars: int, scope: SearchScope
) -> tuple[LineCount, ...]:
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
    listed = [
        LineCount(manual_id=scope.named(manual_id), path=path, count=count)
        for (manual_id, path), count in rows.items()
    ]
    sizes = _sizes(rows)
    if sizes[-1] <= max_chars:
        return tuple(listed)
    fitting = sum(size + _ROW_CHARS <= max_chars for size in sizes)
    rest = sum(row.count for row in listed[fitting:])
    return (*listed[:fitting], LineCount(path="/", count=rest))


def _sizes(rows: Iterable[tuple[str, str]]) -> Sequence[int]:
    """Return the characters of the first row, of the first two, and so on; 0 for none."""
    return [*accumulate(len(path) + _ROW_CHARS for _, path in rows)] or [0]
