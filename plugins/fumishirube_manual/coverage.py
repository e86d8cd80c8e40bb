"""What a search covered, and the files that no loader reads, in the tools' format."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

from pydantic import Field

from fumishirube import Answer, CoverageReport, LeftOut, SurfaceContext, TermReport
from fumishirube.disk import UnlistedReason
from fumishirube.tools import OrAbsent
from fumishirube_manual.diagnosis import CutoffReason
from fumishirube_manual.surface import ManualSurface

SkipReason: TypeAlias = Literal[
    "heading_only",
    "time_budget",
    "excluded_by_trace",
    "excluded_by_read",
    "navigation_file",
    "undecodable",
    "too_large",
    "symlink",
    "ignored",
    "stage_cap",
    "candidate_cap",
    "per_file_cap",
    "dynamic_cutoff",
    "unranked",
    "partial",
]
Unit: TypeAlias = Literal["file", "folder", "section"]
UnscannedReason: TypeAlias = Literal[
    "stage_cap",
    "candidate_cap",
    "dynamic_cutoff",
    "time_budget",
    "per_file_cap",
    "navigation_file",
    "undecodable",
    "too_large",
]

_SKIPPED: dict[str, SkipReason] = {reason: reason for reason in get_args(SkipReason)}
EXCLUDED = frozenset(("excluded_by_trace", "excluded_by_read"))
"""Reasons of what a follow-up leaves out."""
NEVER_SEARCHED = EXCLUDED | frozenset(
    [
        *("heading_only", "navigation_file"),
        *("symlink", "hidden", "ignore_rule", "no_loader", "special"),
    ]
)
"""Reasons of what is never searched, or excluded on purpose: no cause to call a search partial."""

_UNLISTED = frozenset(get_args(UnlistedReason)) - {"symlink"}
_COUNTED: dict[str, SkipReason] = {"unranked": "unranked", "partial": "partial"}
"""Reasons that are counted, but not listed by place."""
_UNSCANNED: dict[str, UnscannedReason] = {
    reason: reason for reason in get_args(UnscannedReason)
} | {"pool_full": "candidate_cap"}
_MOST, _NAMED = 8, 3
"""The most suffixes in an answer, and in its text."""
OTHER_SUFFIXES = "others"


class Extent(Answer):
    """How many files and sections."""

    files: int
    sections: int


class SkippedRow(Answer):
    """How many files or sections were not searched or returned, or folders not seen, and why."""

    reason: SkipReason
    unit: Unit
    count: int


class TermRow(Answer):
    """How many sections contain a required term; near spellings when none does."""

    term: str
    sections: OrAbsent[int] = None
    near: OrAbsent[tuple[str, ...]] = None


class Coverage(Answer):
    """How much of the manual a search covered.

    ``scope`` is all files and sections of the manual; ``scanned`` is what the index ruled out or
    ranked. Of those ``matched`` match the query, ``returned`` are in the answer, and ``skipped``
    counts the others by reason: the reasons listed by ``unscanned``, ``unranked`` ones that a
    follow-up returns, and ``partial`` ones without a whole word of the query. It also counts what
    was not searched; symlinks and ignored files are not in scope.
    """

    scope: Extent
    scanned: Extent
    matched: int
    matched_at_least: OrAbsent[bool] = Field(
        None, description="There may be more matches than that."
    )
    returned: int
    cutoff_reason: CutoffReason | None
    skipped: tuple[SkippedRow, ...]
    terms: tuple[TermRow, ...]


def coverage_of(account: CoverageReport, cutoff: CutoffReason | None) -> Coverage:
    """Return an account in the tools' format."""
    return Coverage(
        scope=Extent(files=account.files, sections=account.sections),
        scanned=Extent(files=account.scanned_files, sections=account.scanned_sections),
        matched=account.matched,
        matched_at_least=True if account.at_least else None,
        returned=account.returned,
        cutoff_reason=cutoff,
        skipped=_skipped(account),
        terms=tuple(map(_term, account.terms)),
    )


def unscanned(account: CoverageReport, settings: ManualSurface) -> Sequence[LeftOut]:
    """Return the matches that were not returned, and the files that were not searched.

    Matches far below the best hit are among them with extras only: by the contract, a search that
    ended there left nothing out.
    """
    return [out for out in account.unread if settings.extras or out.reason != "dynamic_cutoff"]


def unscanned_reason(reason: str, *, whole_file: bool) -> UnscannedReason:
    """Return the contract's reason why something was not returned.

    A file that could not be read, for whatever reason, is undecodable. Anything dropped by a
    stage, for whatever reason, is at the cap of a stage.
    """
    return _UNSCANNED.get(reason, "undecodable" if whole_file else "stage_cap")


def _skipped(account: CoverageReport) -> tuple[SkippedRow, ...]:
    counts: Counter[tuple[SkipReason, Unit]] = Counter()
    for reason, number in account.left_out.items():
        shown: SkipReason = unscanned_reason(reason, whole_file=False)
        counts[_COUNTED.get(reason, shown), "section"] += number
    for entry in account.skipped:
        # A file that may not be read is listed; a folder that may not be opened is not.
        listed = entry.reason == "forbidden" and entry.unit == "file"
        reason = "ignored" if entry.reason in _UNLISTED and not listed else entry.reason
        counts[_SKIPPED.get(reason, "undecodable"), entry.unit] += entry.number
    return tuple(SkippedRow(reason=r, unit=unit, count=n) for (r, unit), n in counts.items())


def _term(counted: TermReport) -> TermRow:
    near = counted.near if counted.sections == 0 else None
    return TermRow(term=counted.term, sections=counted.sections, near=near)


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
        rows.append(UnreadRow(suffix=OTHER_SUFFIXES, count=others))
    return tuple(rows)


def unread_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return how many files were not read, and the most frequent suffixes."""
    suffixes = [f"{row['count']} {row['suffix'] or 'without a suffix'}" for row in rows]
    more = ", …" * (len(suffixes) > _NAMED)
    total = sum(row["count"] for row in rows)
    files = "file" if total == 1 else "files"
    return f"{total} {files} not read: {', '.join(suffixes[:_NAMED])}{more}"
