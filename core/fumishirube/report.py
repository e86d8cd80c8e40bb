"""The account of a search: how much of a manual it saw, and what of that nobody has read yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from fumishirube.model import LeftOut, Skipped, Span, Trace
from fumishirube.text.folding import fold, occurs

SectionKey = tuple[str, int]


class TermReport(NamedTuple):
    """A term, in how many sections it stands (``None`` if nobody counted), and what is near it."""

    term: str
    sections: int | None
    near: tuple[str, ...] = ()


@dataclass(frozen=True)
class CoverageReport:
    """How far a search went, by its trace alone; it never claims more than was done.

    ``files`` and ``sections`` are those of the manual, ``scanned_*`` those that the index ruled
    out or ranked. ``matched`` sections hold something of what was asked; ``at_least`` says that
    there may be more. ``unread`` names what was left out by place, whole files last; ``unranked``
    is how many matching sections no stage has named.
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
    terms: tuple[TermReport, ...]

    @classmethod
    def of(cls, trace: Trace) -> CoverageReport:
        """Draw up the account of one search."""
        returned = {(row.path, row.start_line) for row in trace.search.rows}
        left = _left_out(trace, returned)
        noted = trace.search.notes.get("matched")
        capped = trace.search.notes.get("matched_at_least") is True
        counted = noted - len(trace.excluded) if isinstance(noted, int) else 0
        known = len(returned) + len(left)
        matched = max(known, min(counted, trace.sections))
        return cls(
            files=trace.files,
            sections=trace.sections + trace.aside.headings,
            scanned_files=trace.files - len(trace.skipped),
            scanned_sections=max(0, trace.sections - len(trace.excluded)),
            matched=matched,
            at_least=capped
            or bool(trace.excluded)
            or known > counted
            or _terms_beyond_query(trace),
            returned=len(trace.search.rows),
            skipped=tuple(_skipped(trace)),
            unread=(*left, *trace.skipped),
            unranked=matched - known,
            terms=tuple(_terms(trace)),
        )


def runs_below(span: Span) -> Iterator[Span]:
    """Yield the runs below a span, the outer ones first."""
    for child in span.children:
        if child.kind == "run":
            yield child
            yield from runs_below(child)


def _left_out(trace: Trace, returned: set[SectionKey]) -> list[LeftOut]:
    """Return every section that some stage named but the answer does not hold, each once."""
    omitted: dict[SectionKey, LeftOut] = {}
    for out in trace.search.left_out:
        if out.start_line is not None:
            omitted.setdefault((out.path, out.start_line), out)
    for run in runs_below(trace.search):
        for row in run.rows:
            key = (row.path, row.start_line)
            if key not in omitted:
                omitted[key] = LeftOut(*key, "not_returned")
    return [out for key, out in omitted.items() if key not in returned]


def _terms_beyond_query(trace: Trace) -> bool:
    """Tell whether a required term that is no part of the query may have matched by itself."""
    notes = trace.search.notes
    filtered_terms, counts = notes.get("kept"), notes.get("counts")
    if not isinstance(filtered_terms, list) or not isinstance(counts, Mapping):
        return False
    text = fold(trace.text)
    beyond = [str(term) for term in filtered_terms if not occurs(text, fold(str(term)))]
    return any(counts.get(term) for term in beyond)


def _skipped(trace: Trace) -> Iterator[Skipped]:
    if trace.aside.headings:
        yield Skipped("heading_only", "section", trace.aside.headings)
    if trace.excluded:
        yield Skipped("excluded_by_trace", "section", len(trace.excluded))
    for reason, count in sorted(Counter(row.reason for row in trace.skipped).items()):
        yield Skipped(reason, "file", count)
    yield from trace.aside.unlisted


def _terms(trace: Trace) -> Iterator[TermReport]:
    notes: Mapping[str, Any] = trace.search.notes
    counts, near = notes.get("counts", {}), notes.get("near", {})
    for term in trace.required or notes.get("picked", ()):
        yield TermReport(term, counts.get(term), tuple(near.get(term, ())))
