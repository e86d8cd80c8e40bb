"""``manual_hits``: the stored result of a search, page by page."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, JsonValue

from fumishirube import (
    Answer,
    Call,
    CoverageReport,
    InvalidParameter,
    Params,
    Span,
    SurfaceContext,
    Tool,
    Trace,
)
from fumishirube.agreed_names import FREE, PINNED, REQUIRED, SIDE
from fumishirube.tools import OrAbsent, fitting
from fumishirube_manual.claims import graph_of
from fumishirube_manual.coverage import unscanned, unscanned_reason
from fumishirube_manual.diagnosis import diagnose, file_bias
from fumishirube_manual.evidence.reader import EvidenceReader, ShownHit
from fumishirube_manual.evidence.shown_hits import LINE_CHARS
from fumishirube_manual.plain_texts import hits_text
from fumishirube_manual.rows import (
    SCORE_DIGITS,
    Json,
    candidate,
    integrated,
    ref_of,
    shown_row,
    signals,
)
from fumishirube_manual.surface import ManualSurface
from fumishirube_manual.views import hits_view

Kind = Literal[
    "candidates",
    "unscanned",
    "conflicts",
    "gaps",
    "integrated_top",
    "claims",
    "evidences",
    "edges",
    "gate_runs",
    "fusion_debug",
]

_LIMIT = 50
_MOST = 1000
_FARTHEST = 2**53


class HitsParams(Params):
    """The search, the kind of rows, and the page."""

    trace_id: Annotated[str, Field(description="From manual_find.")]
    kind: Annotated[Kind | None, Field(description="Default 'candidates'.")] = None
    offset: Annotated[int | None, Field(ge=0)] = None
    limit: Annotated[int | None, Field(ge=1, description="Default 50, at most 1000.")] = None


class HitsAnswer(Answer):
    """One page of rows; ``manual_id`` is here if the rows omit it."""

    trace_id: str
    kind: Kind
    offset: int
    limit: int
    total: int
    manual_id: OrAbsent[str] = None
    items: tuple[dict[str, JsonValue], ...]


def hits_tool(context: SurfaceContext, settings: ManualSurface) -> Tool[HitsParams, HitsAnswer]:
    """Return the tool."""

    def run(params: HitsParams, _call: Call) -> HitsAnswer:
        trace_id = params.trace_id.strip()
        if not trace_id:
            raise InvalidParameter("trace_id must not be blank", parameter="trace_id")
        trace = context.trace(trace_id)
        kind = params.kind or "candidates"
        rows = _rows(trace, kind, settings)
        # All offsets beyond the last row give an empty page; huge ones are no exact JSON numbers.
        offset, limit = min(params.offset or 0, _FARTHEST), min(params.limit or _LIMIT, _MOST)
        wanted = rows[offset : offset + limit]
        if kind == "integrated_top" and "lines" in settings.extras:
            places = "documents" in settings.extras
            reader = EvidenceReader(context, trace, places=places, earlier=True)
            shown = trace.search.rows[offset : offset + limit]
            wanted = [
                shown_row(trace, item, ShownHit(row, reader.evidence(row, LINE_CHARS)))
                for row, item in zip(shown, wanted, strict=True)
            ]
        items = tuple(fitting(wanted))
        return HitsAnswer(
            trace_id=trace.id,
            kind=kind,
            offset=offset,
            limit=limit if len(items) == len(wanted) else len(items),
            total=len(rows),
            manual_id=trace.manual_id if kind == "candidates" and not trace.manuals else None,
            items=items,
        )

    lines = " and lines" if "lines" in settings.extras else ""
    return Tool(
        name="manual_hits",
        title="Page through hits",
        summary=(
            "Returns more of what a manual_find found. kind: 'candidates' all hits; "
            f"'integrated_top' with titles{lines}; 'unscanned' ranked but not returned, and "
            "why; 'claims', 'evidences', 'edges' of include_claim_graph; 'gate_runs', "
            "'fusion_debug' how it was ranked. About 60 tokens a hit."
        ),
        params=HitsParams,
        answer=HitsAnswer,
        run=run,
        text=hits_text if "plain" in settings.extras else None,
        view=hits_view(),
        examples=({"trace_id": "7b017120588e43d2a1c4f578d582c42e", "offset": 5, "limit": 10},),
    )


def _rows(trace: Trace, kind: Kind, settings: ManualSurface) -> Sequence[Json]:
    final, extras = trace.search.rows, settings.extras
    made: dict[Kind, Callable[[], Sequence[Json]]] = {
        "candidates": lambda: [candidate(trace, row, extras) for row in final],
        "integrated_top": lambda: [integrated(trace, row, extras) for row in final],
        "unscanned": lambda: _unscanned(trace, settings),
        "conflicts": tuple,
        "gaps": lambda: [dict(gap) for gap in diagnose(trace, settings.coverage_min).gaps],
        "claims": lambda: _plain(graph_of(trace).claims),
        "evidences": lambda: _plain(graph_of(trace).evidences),
        "edges": lambda: _plain(graph_of(trace).edges),
        "gate_runs": lambda: _gate_runs(trace, settings),
        "fusion_debug": lambda: _fusion_debug(trace),
    }
    return made[kind]()


def _plain(items: Sequence[BaseModel]) -> list[Json]:
    return [item.model_dump(mode="json") for item in items]


def _unscanned(trace: Trace, settings: ManualSurface) -> list[Json]:
    return [
        {
            **ref_of(trace, out.path, out.start_line),
            "reason": unscanned_reason(out.reason, whole_file=out.start_line is None),
        }
        for out in unscanned(CoverageReport.of(trace), settings)
    ]


def _gate_runs(trace: Trace, settings: ManualSurface) -> list[Json]:
    weights = _fusion_settings(trace).get("weights", {})
    cutoff = diagnose(trace, settings.coverage_min).cutoff_reason
    runs = _runs(trace)
    rows: list[Json] = []
    applied: list[JsonValue] = [*trace.report.effective]
    # Without runs there are no gates.
    for gate, terms in ((FREE, []), (REQUIRED, applied)) if runs else ():
        spans = [span for span in runs if bool(span.must) == (gate == REQUIRED)]
        candidates = {(row.path, row.start_line): row for span in spans for row in span.rows}
        rows.append(
            {
                "gate": gate,
                "required_terms": terms,
                "candidates_count": len(candidates),
                "file_bias_ratio": file_bias([path for path, _ in candidates]),
                "top_score": round(
                    max((r.score for r in candidates.values()), default=0.0), SCORE_DIGITS
                ),
                "scoring_mode": _scoring_mode(spans),
                "cutoff_reason": cutoff,
                "weight": weights.get(gate, 1.0),
                "weight_reason": "configured",
                "selected": gate == (REQUIRED if trace.report.gated else FREE),
            }
        )
    return rows


def _runs(trace: Trace) -> Sequence[Span]:
    return [span for span in trace.search.children if span.kind == "run"]


def _fusion_settings(trace: Trace) -> Mapping[str, Any]:
    """Return the outermost fuser's diagnostics about its weights, for display."""
    spans = [span for span in trace.search.children if span.kind == "fuser"]
    return spans[0].diagnostics if spans else {}


def _scoring_mode(spans: Sequence[Span]) -> str:
    split = any(child.name.startswith(SIDE) for span in spans for child in span.children)
    return "query_decomp_rrf" if split else "lexical"


def _fusion_debug(trace: Trace) -> list[Json]:
    runs = _runs(trace)
    ranks = [
        {(row.path, row.start_line): rank for rank, row in enumerate(span.rows, start=1)}
        for span in runs
    ]
    k = _fusion_settings(trace).get("rrf_k", 60)
    items: list[Json] = []
    for place, row in enumerate(trace.search.rows, start=1):
        key = (row.path, row.start_line)
        contributions: list[Any] = [
            {
                "gate": span.name,
                "rank": ranked[key],
                "weight": span.weight,
                "rrf": round(span.weight / (k + ranked[key]), 6),
            }
            for span, ranked in zip(runs, ranks, strict=True)
            if key in ranked
        ]
        items.append(
            {
                "candidate_key": f"{'|'.join(trace.file(row.path))}|{row.start_line}",
                "rank": place,
                "score": round(row.score, SCORE_DIGITS),
                "ref": {
                    **ref_of(trace, row.path, row.start_line),
                    "signals": [*signals(trace, row)],
                },
                "contributions": contributions,
                "guaranteed_top": PINNED in row.labels,
            }
        )
    return items
