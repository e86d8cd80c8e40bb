"""What a finished search says of itself: status, gaps, and where it stopped. All from its trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from pydantic import JsonValue

from shirube import Row, Span, Trace

FREE = "g0"
REQUIRED = "g_req"

Status = Literal[
    "required_effective",
    "term_dropped_or_weakened",
    "required_none_matched",
    "required_fallback",
]
CutoffReason = Literal["time_budget", "candidate_cap", "stage_cap", "dynamic_cutoff"]

_TOP = 5
_REQUIRED_MARKS = frozenset({"required_term", "required_term_and"})
_MANY = 5
_SEVERAL_FILES = 2


class Thresholds(NamedTuple):
    """When a result counts as thin or lopsided, and when a row as an answer."""

    candidate_low: int
    file_bias: float
    coverage: float


class Diagnosis(NamedTuple):
    """The verdict on one search."""

    status: Status
    failure_reason: str | None
    cutoff_reason: CutoffReason | None
    file_bias: float
    gaps: tuple[Mapping[str, JsonValue], ...]


def diagnose(trace: Trace, thresholds: Thresholds) -> Diagnosis:
    """Say how a search went."""
    rows = trace.search.rows
    notes = _gate_notes(trace)
    status, reason = _status(rows, notes)
    bias = file_bias(rows)
    cutoff = _cutoff(trace.search, bias, thresholds)
    gaps = tuple(_gaps(rows, notes, cutoff, thresholds))
    return Diagnosis(status, reason, cutoff, bias, gaps)


def file_bias(rows: Sequence[Row]) -> float:
    """Return the share of the file with the most rows; 0 without rows."""
    counts = Counter(row.path for row in rows)
    return round(max(counts.values()) / len(rows), 4) if rows else 0.0


def gate_spans(trace: Trace, gate: str) -> list[Span]:
    """Return the runs of one gate."""
    return [
        span
        for span in trace.search.children
        if span.kind == "run" and span.name.partition(":")[0] == gate
    ]


def _gate_notes(trace: Trace) -> Mapping[str, Any]:
    for span in trace.search.children:
        if span.kind == "fuser" and "requested" in span.notes:
            return span.notes
    return {"requested": [], "kept": [], "counts": {}, "strict": 0, "filtered": 0}


def _status(rows: Sequence[Row], notes: Mapping[str, Any]) -> tuple[Status, str | None]:
    requested, kept = notes["requested"], notes["kept"]
    missing = [term for term in requested if not notes["counts"].get(term)]
    scope = "not_found_in_manual_scope:" + ",".join(missing)
    if requested and len(missing) == len(requested):
        return "required_none_matched", f"required_terms_{scope}"
    if missing:
        return "term_dropped_or_weakened", f"some_required_terms_{scope}"
    if requested and not notes["strict"]:
        if not rows:
            return "required_none_matched", "no_candidates_across_g0_and_greq"
        return "required_none_matched", "required_terms_zero_candidates_in_manual_scope"
    if len(kept) < len(requested):
        if not notes["filtered"]:
            return "term_dropped_or_weakened", "filtered_required_zero_after_df_guard"
        if notes["filtered"] < notes["strict"]:
            weaker = "filtered_required_weaker_than_strict_after_df_guard"
            return "term_dropped_or_weakened", weaker
    top = rows[:_TOP]
    if requested and not any(_REQUIRED_MARKS.intersection(row.marks) for row in top):
        return "required_fallback", f"required_terms_not_in_top_{len(top)}"
    return "required_effective", None


def _cutoff(search: Span, bias: float, thresholds: Thresholds) -> CutoffReason | None:
    notes: Mapping[str, Any] = search.notes
    before = notes.get("before_limit", len(search.rows))
    files = len({row.path for row in search.rows})
    if notes.get("time_budget"):
        return "time_budget"
    if notes.get("cut_by_limit") or notes.get("scan_capped"):
        return "candidate_cap"
    lopsided = before >= _MANY and files >= _SEVERAL_FILES and bias >= thresholds.file_bias
    if before < max(1, thresholds.candidate_low) or lopsided:
        return "stage_cap"
    return "dynamic_cutoff" if notes.get("cut_by_score") else None


def _gaps(
    rows: Sequence[Row],
    notes: Mapping[str, Any],
    cutoff: CutoffReason | None,
    thresholds: Thresholds,
) -> list[Mapping[str, JsonValue]]:
    gaps: list[Mapping[str, JsonValue]] = []
    if not rows:
        hint = "nothing matched; try other words, or list the files with manual_toc"
        gaps.append({"gap": "no_candidates", "gap_hint": hint})
    elif cutoff == "stage_cap" and max(row.coverage for row in rows) < thresholds.coverage:
        hint = "no section covers the whole query; search its parts one by one"
        gaps.append({"gap": "thin_results", "gap_hint": hint})
    missing = [term for term in notes["requested"] if not notes["counts"].get(term)]
    if missing:
        hint = f"not in this manual: {', '.join(missing)}; try another wording"
        gaps.append({"gap": "missing_terms", "terms": [*missing], "gap_hint": hint})
    return gaps
