"""The full answer of a search: the arguments in effect, the result, and the next actions."""

from __future__ import annotations

from typing import Literal

from fumishirube import Answer, Call, CoverageReport, SurfaceContext, Tool, Trace
from fumishirube.agreed_names import FREE, REQUIRED
from fumishirube.tools import OrAbsent, narrowed_params
from fumishirube_manual.actions import Action, next_actions
from fumishirube_manual.arguments import ManualId, after_discovery, manual_by_id
from fumishirube_manual.claim_graph import ClaimGraph, graph_of
from fumishirube_manual.diagnosis import Diagnosis, Status, diagnose, gates_cut, top_hits
from fumishirube_manual.surface import ManualSurface
from fumishirube_manual.tools.find import assessment, search
from fumishirube_manual.tools.find_arguments import FindParams

_RATIO_DIGITS = 4
_UNREAD = frozenset({"candidate_cap", "per_file_cap", "pool_full", "time_budget"})


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
            summary=_summary(account, diagnosis),
            next_actions=next_actions(trace, diagnosis, account, paths, settings.marginal_gain_min),
        )
        context.conclude(trace.id, assessment(trace, diagnosis, account, answer))
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
                matched_doc_ratio=_ratio(row.sections, size),
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
    return (
        "required_gate_empty_fallback_to_g0" if effective else "required_terms_dropped_by_df_guard"
    )


def _ratio(number: int, size: int) -> float:
    return round(min(1.0, number / size), _RATIO_DIGITS) if size else 0.0


def _summary(account: CoverageReport, diagnosis: Diagnosis) -> Summary:
    return Summary(
        scanned_files=account.scanned_files,
        scanned_nodes=account.scanned_sections,
        candidates=account.returned,
        file_bias_ratio=diagnosis.file_bias,
        conflict_count=0,
        gap_count=len(diagnosis.gaps),
        integration_status=_integration(account, diagnosis),
    )


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
