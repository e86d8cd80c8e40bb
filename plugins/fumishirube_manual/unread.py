"""The files of a manual that no loader reads, in the tools' format."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fumishirube import Answer, SurfaceContext
from fumishirube.tools import OrAbsent
from fumishirube_manual.surface import ManualSurface

_MOST, _NAMED = 8, 3
"""The most suffixes in an answer, and in its text."""
_OTHER_SUFFIXES = "others"


class UnreadRow(Answer):
    """How many files with a suffix were not read, and what would read them, if anything."""

    suffix: str
    count: int
    reader: OrAbsent[str] = None


def unread_rows(
    context: SurfaceContext, settings: ManualSurface, *manual_ids: str
) -> tuple[UnreadRow, ...] | None:
    """Return a row for each suffix, the most frequent first; ``None`` if all files were read."""
    return (every_row(context, *manual_ids) or None) if "unread" in settings.extras else None


def every_row(context: SurfaceContext, *manual_ids: str) -> tuple[UnreadRow, ...]:
    """Return the rows regardless of the settings; empty if all files were read.

    Rare suffixes are counted together, except those with a remedy.
    """
    counts: Counter[str] = Counter()
    readers: dict[str, str | None] = {}
    for row in (row for manual_id in manual_ids for row in context.unread_files(manual_id)):
        counts[row.suffix] += row.number
        readers[row.suffix] = row.reader
    suffixes = counts.most_common()
    rest = [suffix for suffix, _ in suffixes if readers[suffix] is None]
    hidden = rest[max(0, _MOST - (len(suffixes) - len(rest))) :]
    rows = [
        UnreadRow(suffix=suffix, count=number, reader=readers[suffix])
        for suffix, number in suffixes
        if suffix not in hidden
    ]
    if others := sum(counts[suffix] for suffix in hidden):
        rows.append(UnreadRow(suffix=_OTHER_SUFFIXES, count=others))
    return tuple(rows)


def unread_lines(rows: Sequence[Mapping[str, Any]] | None, manual: str) -> Iterator[str]:
    """Yield a line for the files with the same remedy, and one for the others."""
    by_reader: dict[str, list[str]] = {}
    for row in rows or ():
        by_reader.setdefault(row.get("reader") or "", []).append(_files(row))
    for reader, files in by_reader.items():
        yield f"not read in {manual}: {', '.join(files)}{'; ' if reader else ''}{reader}"


def unread_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return how many files were not read, and the most frequent suffixes."""
    suffixes = [f"{row['count']} {row['suffix'] or 'without a suffix'}" for row in rows]
    more = ", …" * (len(suffixes) > _NAMED)
    total = sum(row["count"] for row in rows)
    files = "file" if total == 1 else "files"
    return f"{total} {files} not read: {', '.join(suffixes[:_NAMED])}{more}"


def _files(row: Mapping[str, Any]) -> str:
    kind = f"{row['suffix']} " if row["suffix"].startswith(".") else ""
    kind = "other " if row["suffix"] == _OTHER_SUFFIXES else kind
    return f"{row['count']} {kind}{'file' if row['count'] == 1 else 'files'}"


def loose_lines(names: Sequence[str] | None, folder: str) -> Iterator[str]:
    """Yield a line that names files beside the manuals, with a remedy."""
    if names:
        yield (
            f"in no manual: {', '.join(names)}; a manual is a folder: move them into one, such as "
            f"{folder}/my-manual/"
        )
