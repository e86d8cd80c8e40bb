"""The account of a search: how much of a manual it saw, and what of that nobody has read yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fumishirube.model import LeftOut, Skipped
from fumishirube.report import TermReport
from fumishirube.traces.records import Span, Trace

SectionKey = tuple[str, int]


@dataclass(frozen=True)
class CoverageReport:
    """How far a search went, by its trace alone; it never claims more than was done.

    ``files`` and ``sections`` are those of the manual, ``scanned_*`` those that the index ruled
    out or ranked. ``matched`` sections hold something of what was asked; ``at_least`` says that
    there may be more. ``unread`` names what was left out by place, whole files last. Of what no
    stage has named ``unranked`` sections hold a required term or a whole concept of the query, and
    a follow-up returns them; ``partial`` ones share less, and are only counted. ``left_out`` is
    how many matching sections were not returned, by reason: all of these, and nothing else.
    """

    files: int
    sections: int
    scanned_files: int
    scanned_sections: int
    matched: int
    at_least: bool
    returned: int
    skipped: tuple[Skipped, ...]
    unread: tuple[LeftOut, ...]
    unranked: int
    partial: int
    left_out: Mapping[str, int]
    terms: tuple[TermReport, ...]

    @classmethod
    def of(cls, trace: Trace) -> CoverageReport:
        """Draw up the account of one search."""
        report = trace.report
        return cls(
            files=trace.files,
            sections=trace.sections + trace.aside.headings,
            scanned_files=trace.files - len(trace.skipped),
            scanned_sections=max(0, trace.sections - len(trace.excluded)),
            matched=report.matched,
            at_least=report.at_least,
            returned=report.returned,
            skipped=tuple(_skipped(trace)),
            unread=(*omitted_sections(trace.search), *trace.skipped),
            unranked=report.left_out.get(UNRANKED, 0),
            partial=report.left_out.get(PARTIAL, 0),
            left_out=report.left_out,
            terms=report.terms,
        )


UNRANKED = "unranked"
"""Why a section that matched is in no ranking at all."""
PARTIAL = "partial"
"""Why a section that shares something with the query, but no whole word of it, is in none."""


def omitted_sections(search: Span) -> list[LeftOut]:
    """Return every section that some stage named but the answer does not hold, each once."""
    returned = {(row.path, row.start_line) for row in search.rows}
    omitted: dict[SectionKey, LeftOut] = {}
    for out in search.left_out:
        if out.start_line is not None:
            omitted.setdefault((out.path, out.start_line), out)
    return [out for key, out in omitted.items() if key not in returned]


def _skipped(trace: Trace) -> Iterator[Skipped]:
    if trace.aside.headings:
        yield Skipped("heading_only", "section", trace.aside.headings)
    read = trace.origin.query.read
    if returned := trace.excluded - read:
        yield Skipped("excluded_by_trace", "section", len(returned))
    if read:
        yield Skipped("excluded_by_read", "section", len(read))
    for reason, count in sorted(Counter(row.reason for row in trace.skipped).items()):
        yield Skipped(reason, "file", count)
    yield from trace.aside.unlisted
