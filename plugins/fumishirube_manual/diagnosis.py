"""Diagnoses a finished search from its trace: status, gaps, and why it ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from pydantic import JsonValue

from fumishirube import Trace, TraceRow
from fumishirube_manual.evidence.annotations import wordings_of

Status = Literal[
    "required_effective", "term_dropped_or_weakened", "required_none_matched", "required_fallback"
]
CutoffReason = Literal["time_budget", "candidate_cap", "stage_cap", "dynamic_cutoff"]

Answerable = Literal["yes", "partly", "no"]

_TOP = 5
_MANY = 5
_SEVERAL_FILES = 2
_LEAD, _FAR_AHEAD = 0.1, 2.5
_ABSENT, _TOGETHER = 0.48, 0.9
_ON_SUBJECT = 1.9
"""The least highest score, per weight of the query's concepts, of a search that met its subject."""


class Diagnosis(NamedTuple):
    """The diagnosis of one search."""

    status: Status
    failure_reason: str | None
    cutoff_reason: CutoffReason | None
    file_bias: float
    gaps: tuple[Mapping[str, JsonValue], ...]


def diagnose(trace: Trace, coverage_min: float) -> Diagnosis:
    """Diagnose a search; ``coverage_min`` is the coverage that an answer needs.

    Thin and lopsided results are judged before the caller's own limit is applied.
    """
    status, reason = _unproven(trace) or _proven(trace)
    paths = [row.path for row in trace.search.rows] + [
        out.path for out in trace.search.left_out if out.reason == "candidate_cap"
    ]
    bias = file_bias(paths)
    cutoff = _cutoff(trace, paths, bias)
    gaps = tuple(_gaps(trace, cutoff, coverage_min))
    return Diagnosis(status, reason, cutoff, bias, gaps)


def answerable(trace: Trace) -> Answerable:
    """Return whether the words of the query occur together in the best section.

    The section's coverage decides, and to a small part its lead over the second one. A search with
    hits is answered by ``no`` only if it met the subject of the query: that words which are foreign
    to the manual do not occur together says nothing about the answer, which may use other words.
    Calibrated on questions whose answers were removed from their manuals: see
    docs/experiments/quality.md.
    """
    rows = trace.search.rows
    if not rows:
        return "no"
    evidence = rows[0].coverage + _LEAD * min(_lead(rows), _FAR_AHEAD)
    if evidence >= _TOGETHER:
        return "yes"
    return "no" if evidence < _ABSENT and _met_subject(trace) else "partly"


def _lead(rows: Sequence[TraceRow]) -> float:
    """Return how many times the second score the first one is; below 0 scores have no ratio."""
    first, *others = (row.score for row in rows[:2])
    if first <= 0:
        return 1.0
    return first / others[0] if others and others[0] > 0 else _FAR_AHEAD


def proves_nothing(trace: Trace) -> bool:
    """Tell whether a search has no hits, but did not search everything, or might not return it."""
    report = trace.report
    partial = trace.excluded or _waiting(trace) or report.incomplete or report.out_of_time
    return not trace.search.rows and bool(partial)


def _met_subject(trace: Trace) -> bool:
    weight = sum(weight for words in wordings_of(trace)[:1] for _, weight in words)
    return trace.search.rows[0].score >= _ON_SUBJECT * weight


def top_hits(trace: Trace) -> tuple[int, int]:
    """Return the number of top rows, and how many of them contain a requested term."""
    top = trace.search.rows[:_TOP]
    return len(top), sum(rank <= _TOP for rank in trace.report.holding)


def recall_ok(trace: Trace) -> bool | None:
    """Return whether a requested term that the manual contains is in the top rows, if any."""
    present = any(report.sections for report in trace.report.terms)
    return top_hits(trace)[1] > 0 if present else None


def marginal_gain(trace: Trace) -> float | None:
    """Return the share of new rows among all rows of this search and of those it follows up."""
    new, before = len(trace.search.rows), len(trace.excluded)
    return round(new / (new + before), 4) if before else None


def file_bias(paths: Sequence[str]) -> float:
    """Return the share of the most frequent path; 0 without paths."""
    return round(max(Counter(paths).values()) / len(paths), 4) if paths else 0.0


def gates_cut(trace: Trace) -> bool:
    """Tell whether time was over before all runs with required terms were made."""
    return any(span.kind == "fuser" and span.out_of_time for span in trace.search.children)


def _waiting(trace: Trace) -> int:
    """Return the number of files that there was no time to index."""
    return sum(row.reason == "time_budget" for row in trace.skipped)


def _unproven(trace: Trace) -> tuple[Status, str] | None:
    """Return the status of a search that could not tell that its terms match nothing, if it is one.

    A term that an incomplete index lacks may be in the rest of the manual, and sections with it may
    not have been searched for, or not been allowed.
    """
    report, rows = trace.report, trace.search.rows
    if not report.terms or (report.strict and not report.missing):
        return None
    if waiting := _waiting(trace):
        return "required_fallback", f"index_unfinished:{waiting}_files_not_searched"
    if not report.missing and (report.out_of_time or (rows and trace.excluded)):
        return _not_in_top(trace)
    if not report.missing and trace.excluded:
        return "required_fallback", f"nothing_left:{len(trace.excluded)}_sections_excluded"
    return None


def _proven(trace: Trace) -> tuple[Status, str | None]:
    rows, report = trace.search.rows, trace.report
    requested, missing = report.terms, report.missing
    scope = "not_found_in_manual_scope:" + ",".join(missing)
    if requested and len(missing) == len(requested):
        return "required_none_matched", f"required_terms_{scope}"
    if missing:
        return "term_dropped_or_weakened", f"some_required_terms_{scope}"
    if requested and not report.strict:
        if not rows:
            return "required_none_matched", "no_candidates_across_g0_and_greq"
        return "required_none_matched", "required_terms_zero_candidates_in_manual_scope"
    if len(report.effective) < len(requested):
        if not report.applied:
            return "term_dropped_or_weakened", "filtered_required_zero_after_df_guard"
        if report.applied < report.strict:
            weaker = "filtered_required_weaker_than_strict_after_df_guard"
            return "term_dropped_or_weakened", weaker
    if requested and not top_hits(trace)[1]:
        return _not_in_top(trace)
    return "required_effective", None


def _not_in_top(trace: Trace) -> tuple[Status, str]:
    return "required_fallback", f"required_terms_not_in_top_{top_hits(trace)[0]}"


def _cutoff(trace: Trace, paths: Sequence[str], bias: float) -> CutoffReason | None:
    report = trace.report
    if report.out_of_time or _waiting(trace):
        return "time_budget"
    if report.left_out.get("candidate_cap") or report.scan_capped:
        return "candidate_cap"
    lopsided = len(paths) >= _MANY and len({*paths}) >= _SEVERAL_FILES
    lopsided = lopsided and bias >= trace.thresholds.file_bias
    if len(paths) < max(1, trace.thresholds.candidate_low) or lopsided:
        return "stage_cap"
    weak = report.left_out.get("dynamic_cutoff") or report.left_out.get("unranked")
    return "dynamic_cutoff" if weak else None


def _gaps(
    trace: Trace, cutoff: CutoffReason | None, coverage_min: float
) -> Iterator[Mapping[str, JsonValue]]:
    rows = trace.search.rows
    if not rows:
        hint = "nothing matched; try other words, or list the files with manual_toc"
        if trace.excluded:
            hint = "nothing more matched than was returned or read before; try other words"
        if trace.report.left_out:
            hint = f"{_left_out(trace)}; ask for them with only_unscanned_from_trace_id"
        if unsearched := _unsearched(trace):
            so_far = hint if trace.report.left_out else "nothing matched so far"
            hint = f"{so_far}; {unsearched}"
        yield {"gap": "no_candidates", "gap_hint": hint}
    elif cutoff == "stage_cap" and max(row.coverage for row in rows) < coverage_min:
        hint = "no section covers the whole query; search its parts one by one"
        if trace.report.left_out:
            hint = f"{hint}; {_left_out(trace)}"
        yield {"gap": "thin_results", "gap_hint": hint}
    if missing := trace.report.missing:
        hint = "; ".join(_about_missing(trace))
        yield {"gap": "missing_terms", "terms": [*missing], "gap_hint": hint}


def _unsearched(trace: Trace) -> str:
    """Say that a part of the manual was not searched, so that nothing is proven; or nothing."""
    if waiting := _waiting(trace):
        files = "file is" if waiting == 1 else "files are"
        return f"{waiting} {files} not searched yet; ask again"
    return "a part of this manual could not be searched" if trace.report.incomplete else ""


def _about_missing(trace: Trace) -> Iterator[str]:
    """Yield where the terms are that no searched section contains, as far as that is known."""
    absent = [report for report in trace.report.terms if not (report.sections or report.elsewhere)]
    names = ", ".join(report.term for report in absent)
    if absent and (unsearched := _unsearched(trace)):
        yield f"not found so far: {names}; {unsearched}"
    elif absent:
        near = [spelling for report in absent for spelling in report.near]
        suggestion = f", such as {', '.join(near)}" if near else ""
        yield f"not in this manual: {names}; try another wording{suggestion}"
    for report in trace.report.terms:
        if report.elsewhere:
            sections = "section" if report.elsewhere == 1 else "sections"
            where = f"in {report.elsewhere} {sections} elsewhere"
            yield f"not below path_prefix: {report.term}; {where}"


def _left_out(trace: Trace) -> str:
    """Describe how many sections matched without being returned, by the reasons of the account."""
    reasons = {reason.replace("_", " "): n for reason, n in trace.report.left_out.items()}
    counts = ", ".join(f"{number} {reason}" for reason, number in reasons.items())
    return f"matched but not returned: {counts}"
