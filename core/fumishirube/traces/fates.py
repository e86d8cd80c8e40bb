"""Why a section is not among the hits, or where it ranks, according to the trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fumishirube.documents import Document
from fumishirube.model import LeftOut
from fumishirube.tools.citations import Citation
from fumishirube.traces.records import UNRANKED, SectionKey, Span, Trace, TraceRow

_WORDS = {
    "candidate_cap": "it ranked below the requested number of hits",
    "dynamic_cutoff": "it scored far below the best hit, or below the last returned one",
    "per_file_cap": "its file had enough better sections within the limit",
    "pool_full": "enough sections of other files ranked above it within the limit",
    "weak_match": "it contained too little of the query after the required terms were dropped",
    "not_returned": "a stage dropped it without a reason",
}


class FateStep(NamedTuple):
    """What one stage did with the section; ``rank`` is ``None`` if it was not among the hits."""

    depth: int
    stage: str
    rank: int | None
    rows: int
    score: float | None
    left_out: str | None


class SectionFate(NamedTuple):
    """The result for a section: its rank, or the stage that dropped it and the reason."""

    place: Citation
    rank: int | None
    stage: str | None
    reason: str | None
    explanation: str
    steps: tuple[FateStep, ...]


def section_fate(trace: Trace, path: str, start_line: int) -> SectionFate:
    """Follow a section, by its path and first line, through a trace."""
    key = (path, start_line)
    steps = tuple(_steps(trace.search, key, 1))
    cite = Citation(*trace.file(path), start_line)
    rank = _rank(trace.search.rows, key)
    if rank is not None:
        explanation = f"it ranks {rank} of {len(trace.search.rows)}"
        return SectionFate(cite, rank, None, None, explanation, steps)
    return SectionFate(cite, None, *_lost(trace, key), steps)


def section_at(document: Document, line: int | None) -> int:
    """Return the first line of the section that contains a line of a document."""
    starts = (
        section.start_line for section in document.sections if section.start_line <= (line or 1)
    )
    return max(starts, default=line or 1)


def _lost(trace: Trace, key: SectionKey) -> tuple[str | None, str, str]:
    """Return the stage that dropped the section, the reason, and an explanation."""
    whole = {row.path: row.reason for row in trace.skipped}
    if key[0] in whole:
        return None, whole[key[0]], f"its file was not searched: {whole[key[0]].replace('_', ' ')}"
    if key in trace.origin.query.read:
        return None, "excluded_by_read", "it was left out because it has been read"
    if key in trace.excluded:
        return None, "excluded_by_trace", "it was left out because an earlier search returned it"
    losing = _losing(trace.search, key)
    if losing is None:
        return None, "not_nominated", _not_nominated(trace)
    name = losing.label
    reason = _reason(losing.left_out, key) or "not_returned"
    return name, reason, f"{name} left it out: {_WORDS.get(reason, reason.replace('_', ' '))}"


def _not_nominated(trace: Trace) -> str:
    others = trace.report.left_out.get(UNRANKED, 0)
    among = f"is one of {others} matching sections beyond the best, or " if others else ""
    little = "contains too little of the query, or nothing"
    return f"no stage generated it as a candidate: it {among}{little}"


def _losing(span: Span, key: SectionKey) -> Span | None:
    """Return the last stage at which a section was among the hits, outermost first."""
    runs = [child for child in span.children if child.kind == "run"]
    was_present = any(_rank(run.rows, key) is not None for run in runs)
    for stage in span.children:
        if stage.kind == "run":
            continue
        if _reason(stage.left_out, key) is not None:
            return stage
        if stage.kind != "scorer":
            present = _rank(stage.rows, key) is not None
            if was_present and not present:
                return stage
            was_present = present
    return next((lost for run in runs if (lost := _losing(run, key))), None)


def _steps(span: Span, key: SectionKey, depth: int) -> Iterator[FateStep]:
    for child in span.children:
        if child.kind == "scorer":
            continue
        rank = _rank(child.rows, key)
        score = child.rows[rank - 1].score if rank is not None else None
        reason = None if rank is not None else _reason(child.left_out, key)
        yield FateStep(depth, child.label, rank, len(child.rows), score, reason)
        yield from _steps(child, key, depth + 1)


def _rank(rows: Sequence[TraceRow], key: SectionKey) -> int | None:
    places = ((row.path, row.start_line) for row in rows)
    return next((rank for rank, place in enumerate(places, 1) if place == key), None)


def _reason(left_out: Sequence[LeftOut], key: SectionKey) -> str | None:
    return next((out.reason for out in left_out if (out.path, out.start_line) == key), None)
