"""The coverage of a search: how much of a manual it saw, and which matches are unread."""

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
    """How much of a manual a search covered, read from its trace.

    ``files`` and ``sections`` are those of the manual, ``scanned_*`` those that the index excluded
    or ranked. ``matched`` sections contain something of the query; ``at_least`` says that there may
    be more. ``unread`` lists what was left out by place, whole files last. Of the sections that no
    stage returned, ``unranked`` ones contain a required term or a whole concept of the query, and a
    follow-up returns them; ``partial`` ones share less, and are only counted. ``left_out`` counts
    the matching sections that were not returned, by reason.
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
        """Compute the coverage of one search."""
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
"""The reason for a matching section that is in no ranking."""
PARTIAL = "partial"
"""The reason for a section that shares parts of words of the query only."""


def omitted_sections(search: Span) -> list[LeftOut]:
    """Return every section that some stage ranked or left out but the answer lacks, each once."""
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
