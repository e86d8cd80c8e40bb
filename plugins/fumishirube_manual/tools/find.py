"""``manual_find``: searches manuals."""

from __future__ import annotations

from functools import partial

from fumishirube import (
    Answer,
    Call,
    CoverageReport,
    Query,
    SearchAssessment,
    SurfaceContext,
    Tool,
    Trace,
)
from fumishirube_manual.arguments import (
    CANDIDATES,
    TIME_MS,
    after_discovery,
    note_discovery,
    other_wordings,
)
from fumishirube_manual.coverage import unscanned
from fumishirube_manual.diagnosis import Diagnosis, diagnose, marginal_gain, recall_ok
from fumishirube_manual.plain_texts import find_text
from fumishirube_manual.scopes import (
    after_discovery_or_everywhere,
    excluded_sections,
    files_below,
    scope_id,
    which_manual,
)
from fumishirube_manual.stores import stored_search
from fumishirube_manual.surface import ManualSurface
from fumishirube_manual.tools.find_answers import FindAnswer, find_answer, tokens
from fumishirube_manual.tools.find_arguments import (
    FindBudget,
    FindParams,
    offered_arguments,
    shown_size,
)
from fumishirube_manual.views import hits_view


def find_tool(context: SurfaceContext, settings: ManualSurface) -> Tool[FindParams, FindAnswer]:
    """Return the tool."""

    def run(params: FindParams, call: Call) -> FindAnswer:
        trace = search(context, params, call, settings)
        diagnosis, account = diagnose(trace, settings.coverage_min), CoverageReport.of(trace)
        answer = find_answer(context, trace, diagnosis, account, shown_size(params), settings)
        context.conclude(trace.id, assessment(trace, diagnosis, account, answer, settings))
        if trace.manuals:
            note_discovery(call.session)
        return answer

    everywhere = "everywhere" in settings.extras

    return Tool(
        name="manual_find",
        title="Search a manual",
        summary=_summary(settings),
        params=offered_arguments(settings),
        answer=FindAnswer,
        run=run,
        question=partial(which_manual, context),
        before=after_discovery_or_everywhere if everywhere else after_discovery,
        text=find_text if "plain" in settings.extras else None,
        view=hits_view(),
        examples=(
            {
                "query": "Who may claim the travel allowance?",
                "manual_id": "handbook",
                "required_terms": ["travel allowance"],
            },
        ),
    )


def _summary(settings: ManualSurface) -> str:
    """Describe the search, and what the settings add to it."""
    lines, others = "lines" in settings.extras, "alternatives" in settings.extras
    shown = "each with the numbered lines that bear most on the question"
    alternatives = (
        "; alternatives take the user's own words, other guesses and each part of a question: one "
        "call serves all"
    )
    parts = lines and others
    return (
        f"Returns the best sections, {shown if lines else 'by path and title'}. Finds most in the "
        f"words that such a document would use{alternatives * others}"
        f"{', with passages for parts' * parts}. Costs {600 if lines else 300} tokens"
        f"{'; of three parts 2,000' * parts}."
    )


def search(
    context: SurfaceContext, params: FindParams, call: Call, settings: ManualSurface
) -> Trace:
    """Run the search of a call, and return its trace."""
    scope = scope_id(context, params.manual_id, settings.extras)
    limits = params.budget or FindBudget()
    earlier = params.only_unscanned_from_trace_id
    exclude, read = excluded_sections(context, scope, earlier, call.session)
    query = Query(
        text=params.query,
        required=params.required_terms,
        alternatives=other_wordings(params.query, params.alternatives or ()),
        limit=limits.max_candidates or CANDIDATES,
        exclude=exclude,
        read=read,
        within=files_below(context, scope, params.path_prefix),
        budget=call.budget.part(limits.time_ms or TIME_MS),
        cache=False if params.include_claim_graph or earlier is not None else params.use_cache,
    )
    claims = bool(params.include_claim_graph) and settings.claim_graph
    return stored_search(context, scope, query, settings, call.progress, claims=claims)


def assessment(
    trace: Trace,
    diagnosis: Diagnosis,
    account: CoverageReport,
    answer: Answer,
    settings: ManualSurface,
) -> SearchAssessment:
    """Return the assessment of a search for the cache and the statistics."""
    return SearchAssessment(
        status=diagnosis.status,
        cutoff_reason=diagnosis.cutoff_reason,
        recall_ok=recall_ok(trace),
        gaps=len(diagnosis.gaps),
        unscanned=len(unscanned(account, settings)),
        tokens=tokens(answer),
        marginal_gain=marginal_gain(trace),
    )
