"""The full answer of a search: the arguments in effect, the result, and the next actions."""

import re
from collections.abc import Sequence
from typing import Literal

from pydantic import JsonValue

from fumishirube import Answer, Call, CoverageReport, SurfaceContext, Tool, Trace
from fumishirube.agreed_names import FREE, REQUIRED
from fumishirube.text import concepts, fold
from fumishirube.tools import OrAbsent, narrowed_params
from fumishirube_manual.arguments import TERMS, ManualId, after_discovery, manual_by_id
from fumishirube_manual.claims import ClaimGraph, graph_of
from fumishirube_manual.diagnosis import (
    Diagnosis,
    Status,
    diagnose,
    gates_cut,
    marginal_gain,
    top_hits,
)
from fumishirube_manual.evidence.names import NOWHERE, absent_of
from fumishirube_manual.surface import ManualSurface
from fumishirube_manual.tools.find import assessment, search
from fumishirube_manual.tools.find_arguments import FindParams

_JAPANESE = re.compile(
    r"網羅|漏れなく|もれなく|漏れがない|残らず|洗いざらい|隅々まで|くまなく|余さず"
    r"|(?:全て|すべて|全部|一つ一つ|全件)[^。、]{0,12}(?:参照|確認|読|列挙|挙げ|洗い出|調べ|探|抽出|教え|示)"
)
_ENGLISH = re.compile(
    r"\b(?:exhaustive(?:ly)?|comprehensive(?:ly)?|thorough(?:ly)?|without (?:omission|exception)"
    r"|(?:complete|full) list|nothing (?:is )?(?:missed|left out)"
    r"|(?:list|read|check|find|show|give|name|review|enumerate|collect)\b[^.,;]{0,30}"
    r"\b(?:all|every|each|everything)|every (?:single|mention|occurrence))\b"
)

_SURE, _LIKELY, _UNSURE, _DOUBTFUL = 0.9, 0.8, 0.6, 0.4

_RATIO_DIGITS = 4
_UNREAD = frozenset({"candidate_cap", "per_file_cap", "pool_full", "time_budget"})


class Action(Answer):
    """A call that may come next; ``params`` is null if the caller must choose the arguments."""

    type: Literal["manual_hits", "manual_read", "manual_find", "manual_scan"]
    confidence: float | None
    params: dict[str, JsonValue] | None


def is_exhaustive(query: str) -> bool:
    """Return whether a query asks for everything, in Japanese or English."""
    folded = fold(query)
    return bool(_JAPANESE.search(folded) or _ENGLISH.search(folded))


def next_actions(
    trace: Trace,
    diagnosis: Diagnosis,
    account: CoverageReport,
    paths: Sequence[str],
    least_gain: float,
) -> tuple[Action, ...]:
    """Return the next actions, the most useful first; ``paths`` are the manual's files."""
    reading, gain = _read_action(trace, diagnosis, paths), marginal_gain(trace)
    weak = diagnosis.status in ("term_dropped_or_weakened", "required_none_matched")
    if weak and (gain is None or gain >= least_gain):
        return reading, _search_action(trace, account)
    return (reading,)


def _read_action(trace: Trace, diagnosis: Diagnosis, paths: Sequence[str]) -> Action:
    rows = trace.search.rows
    if is_exhaustive(trace.text) and (rows or paths):
        place: dict[str, JsonValue] = (
            {"path": rows[0].path, "start_line": rows[0].start_line} if rows else {"path": paths[0]}
        )
        params: dict[str, JsonValue] = {"manual_id": trace.manual_id, **place}
        return Action(type="manual_scan", confidence=_SURE if rows else _UNSURE, params=params)
    sure = bool(rows) and diagnosis.status == "required_effective"
    return Action(
        type="manual_hits",
        confidence=_LIKELY if sure else _UNSURE if rows else _DOUBTFUL,
        params={"trace_id": trace.id, "kind": "integrated_top"},
    )


def _search_action(trace: Trace, account: CoverageReport) -> Action:
    """Propose other terms: near spellings first, then terms that occur, then the query's.

    Words of the query that are known to be in no section are not among them.
    """
    required = {fold(item.term) for item in account.terms}
    near = [item.near[0] for item in account.terms if item.near]
    present = [item.term for item in account.terms if item.sections]
    words = [item.text for item in concepts(trace.text) if item.text not in required]
    nowhere = absent_of(trace, NOWHERE, words)
    others = [word for word in words if word not in nowhere]
    terms = list(dict.fromkeys([*near, *present, *others]))[:TERMS]
    if not terms or {fold(term) for term in terms} == required:
        return Action(type="manual_find", confidence=_DOUBTFUL, params=None)
    params: dict[str, JsonValue] = {
        "query": trace.text,
        "manual_id": trace.manual_id,
        "required_terms": [*terms],
    }
    return Action(type="manual_find", confidence=_UNSURE if near else _DOUBTFUL, params=params)


class FilteredTerm(Answer):
    """A required term that is very rare, or so common that it is dropped."""

    term: str
    doc_freq: int
    doc_freq_ratio: float
    reason: Literal["too_rare", "too_common"]
    dropped: bool


class TermStats(Answer):
    """The number of sections with a required term."""

    term: str
    matched_docs: int
    matched_doc_ratio: float


class Applied(Answer):
    """The arguments in effect, and their result."""

    manual_id: str
    requested_expand_scope: bool | None
    expand_scope: bool
    required_terms_source: Literal["user"]
    required_terms_decision_reason: str | None
    requested_required_terms: tuple[str, ...]
    required_terms: tuple[str, ...]
    required_terms_df_filtered: tuple[FilteredTerm, ...]
    required_terms_relaxed: bool
    required_terms_relax_reason: str | None
    required_effect_status: Status
    required_failure_reason: str | None
    required_strict_candidates: int
    required_filtered_candidates: int
    required_terms_match_stats: tuple[TermStats, ...]
    required_terms_missing: tuple[str, ...]
    required_top_k: int
    required_top_hits: int
    selected_gate: Literal["single", "single_base", "single_required", "g0", "g_req"]
    gate_selection_reason: str | None
    sem_cache_used: bool
    sem_cache_hit: bool
    sem_cache_mode: Literal["bypass", "miss", "exact", "semantic", "guard_revalidate"]
    sem_cache_score: float | None
    sem_cache_latency_saved_ms: float | None


class Summary(Answer):
    """The result of a search, in numbers; conflicts are not looked for, so there are 0."""

    scanned_files: int
    scanned_nodes: int
    candidates: int
    file_bias_ratio: float
    conflict_count: int
    gap_count: int
    integration_status: Literal["ready", "needs_followup", "blocked"]


class FullAnswer(Answer):
    """The full answer, for callers inside the process and the command line.

    The graph of claims is included on request; it is empty when a setting disables it.
    """

    trace_id: str
    applied: Applied
    claim_graph: OrAbsent[ClaimGraph] = None
    summary: Summary
    next_actions: tuple[Action, ...]


def full_tool(context: SurfaceContext, settings: ManualSurface) -> Tool[FindParams, FullAnswer]:
    """Return ``manual_find`` with its full answer; servers do not offer it."""

    def run(params: FindParams, call: Call) -> FullAnswer:
        manual_by_id(context, str(params.manual_id))
        trace = search(context, params, call, settings)
        diagnosis, account = diagnose(trace, settings.coverage_min), CoverageReport.of(trace)
        paths = context.manual(trace.manual_id).paths()
        answer = FullAnswer(
            trace_id=trace.id,
            applied=_applied(trace, diagnosis, params),
            claim_graph=graph_of(trace) if params.include_claim_graph else None,
            summary=Summary(
                scanned_files=account.scanned_files,
                scanned_nodes=account.scanned_sections,
                candidates=account.returned,
                file_bias_ratio=diagnosis.file_bias,
                conflict_count=0,
                gap_count=len(diagnosis.gaps),
                integration_status=_integration(account, diagnosis),
            ),
            next_actions=next_actions(trace, diagnosis, account, paths, settings.marginal_gain_min),
        )
        context.conclude(trace.id, assessment(trace, diagnosis, account, answer, settings))
        return answer

    return Tool(
        name="manual_find",
        title="Search a manual, with the full answer",
        summary="Search one manual, and say what was applied, how it went, and what to do next.",
        params=narrowed_params(FindParams, (), {"manual_id": ManualId}),
        answer=FullAnswer,
        run=run,
        before=after_discovery,
    )


def _applied(trace: Trace, diagnosis: Diagnosis, params: FindParams) -> Applied:
    report = trace.report
    effective, gated = report.effective, report.gated
    cut = gates_cut(trace)
    relaxed = bool(effective) and not (gated or report.applied or cut)
    shown, holding = top_hits(trace)
    size = trace.sections
    return Applied(
        manual_id=trace.manual_id,
        requested_expand_scope=params.expand_scope,
        expand_scope=False,
        required_terms_source="user",
        required_terms_decision_reason="provided_by_caller",
        requested_required_terms=trace.required,
        required_terms=effective,
        required_terms_df_filtered=tuple(
            FilteredTerm(
                term=row.term,
                doc_freq=row.sections,
                doc_freq_ratio=row.share,
                reason=row.reason,
                dropped=row.dropped,
            )
            for row in report.filtered
        ),
        required_terms_relaxed=relaxed,
        required_terms_relax_reason="zero_candidates_with_required_terms" if relaxed else None,
        required_effect_status=diagnosis.status,
        required_failure_reason=diagnosis.failure_reason,
        required_strict_candidates=report.strict,
        required_filtered_candidates=report.applied,
        required_terms_match_stats=tuple(
            TermStats(
                term=row.term,
                matched_docs=row.sections,
                matched_doc_ratio=round(min(1.0, row.sections / max(1, size)), _RATIO_DIGITS),
            )
            for row in report.terms
        ),
        required_terms_missing=report.missing,
        required_top_k=shown,
        required_top_hits=holding,
        selected_gate=REQUIRED if gated else FREE,
        gate_selection_reason=_why(gated=gated, effective=bool(effective), cut=cut),
        sem_cache_used=trace.cache.used,
        sem_cache_hit=trace.cache.hit,
        sem_cache_mode=trace.cache.mode,
        sem_cache_score=trace.cache.score,
        sem_cache_latency_saved_ms=trace.cache.saved_ms,
    )


def _why(*, gated: bool, effective: bool, cut: bool) -> str:
    if gated:
        return "rrf_fusion_with_required_gate"
    if effective and cut:
        return "time_budget"
    empty, dropped = "required_gate_empty_fallback_to_g0", "required_terms_dropped_by_df_guard"
    return empty if effective else dropped


def _integration(
    account: CoverageReport, diagnosis: Diagnosis
) -> Literal["ready", "needs_followup", "blocked"]:
    if not account.returned:
        return "blocked"
    unread = any(
        out.reason in _UNREAD or (out.start_line is None and out.reason != "navigation_file")
        for out in account.unread
    )
    capped = diagnosis.cutoff_reason in ("time_budget", "candidate_cap")
    open_ends = diagnosis.gaps or unread or capped or account.unranked
    return "needs_followup" if open_ends else "ready"
