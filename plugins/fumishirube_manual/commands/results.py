"""What a search over several manuals brought: one ranking, and a truthful account of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from fumishirube import Citation, CoverageReport, LeftOut, Span, Trace, TraceRow
from fumishirube_manual.unread import UnreadRow


class TracedHit(NamedTuple):
    """A hit, and the trace of the search that brought it."""

    trace: Trace
    row: TraceRow

    @property
    def cite(self) -> str:
        """The citation: which lines of which file of which manual, and a hash of them."""
        row = self.row
        place = (row.path, row.start_line, row.end_line, row.digest)
        return str(Citation(self.trace.manual_id, *place))


def _worth(row: TraceRow) -> float:
    return row.score * row.coverage


class SearchResults(NamedTuple):
    """The searches of one query, a trace a manual; and what kept a manual from being searched.

    ``unread`` counts the files of each manual that no loader reads; ``loose`` ones are in none.
    """

    query: str
    required: tuple[str, ...]
    limit: int
    traces: Sequence[Trace]
    failed: Sequence[tuple[str, str]] = ()
    unread: Mapping[str, Sequence[UnreadRow]] = {}
    loose: Sequence[str] = ()

    def ranked(self) -> list[TracedHit]:
        """Return the hits of all manuals, best first.

        Scores depend on what is rare in a manual. Between manuals, how much of the query a section
        covers counts as well; within one, the order stays as it is.
        """
        best = [trace for trace in self.traces if trace.search.rows]
        worth = {trace.id: _worth(trace.search.rows[0]) for trace in best}
        weighted = [
            (worth[trace.id] * row.score / trace.search.rows[0].score, TracedHit(trace, row))
            for trace in best
            for row in trace.search.rows
        ]
        return [hit for _, hit in sorted(weighted, key=lambda pair: -pair[0])]

    def shown(self) -> list[TracedHit]:
        """Return the hits that are shown."""
        return self.ranked()[: self.limit]

    def matched(self) -> int:
        """Return how many sections matched the query at all, as far as the stages tell."""
        return sum(account.matched for account in self.accounts())

    def least(self) -> str:
        """Return what stands before that number where there may be more."""
        return "at least " if any(account.at_least for account in self.accounts()) else ""

    def accounts(self) -> list[CoverageReport]:
        """Return the account of each search."""
        return [CoverageReport.of(trace) for trace in self.traces]

    def skipped(self) -> list[tuple[str, LeftOut]]:
        """Return the files that were not searched, with their manuals."""
        return [(trace.manual_id, row) for trace in self.traces for row in trace.skipped]

    def searched_files(self) -> int:
        """Return how many files were searched."""
        return sum(account.scanned_files for account in self.accounts())

    def sections(self) -> int:
        """Return how many sections were searched."""
        return sum(trace.sections for trace in self.traces)

    def degraded(self) -> list[str]:
        """Return what was not as it should be, a line a manual."""
        stale = [f"{trace.manual_id}: {trace.degraded}" for trace in self.traces if trace.degraded]
        late = [t.manual_id for t in self.traces if t.report.out_of_time]
        stale += [f"{manual}: time ran out before every stage was done" for manual in late]
        return stale + [f"{manual}: not searched: {reason}" for manual, reason in self.failed]

    def terms(self, trace: Trace) -> list[str]:
        """Return the terms of one search: the caller's, or those picked for it."""
        return list(self.required) or picked(trace) or []


def picked(trace: Trace) -> list[str] | None:
    """Return the terms that a fuser picked by itself; ``None`` when none of them does that."""
    chosen = trace.report.picked
    return None if chosen is None else list(chosen)


def as_json(results: SearchResults, *, explain: bool) -> dict[str, JsonValue]:
    """Return the findings as one JSON object."""
    answer: dict[str, JsonValue] = {
        "query": results.query,
        "terms": {trace.manual_id: [*results.terms(trace)] for trace in results.traces},
        "terms_source": "caller" if results.required else "picked",
        "hits": [_hit(hit) for hit in results.shown()],
        "coverage": {
            "manuals": len(results.traces),
            "files": results.searched_files(),
            "sections": results.sections(),
            "matched": results.matched(),
            "ranked": len(results.ranked()),
            "returned": len(results.shown()),
            "skipped": [
                {"manual_id": manual, "path": row.path, "reason": row.reason}
                for manual, row in results.skipped()
            ],
            "unread_files": [
                {"manual_id": manual, **row.model_dump()}
                for manual, rows in results.unread.items()
                for row in rows
            ],
            "loose_files": [*results.loose],
            "degraded": [*results.degraded()],
        },
        "traces": {trace.manual_id: trace.id for trace in results.traces},
    }
    if explain:
        spans = {trace.manual_id: _span(trace.search) for trace in results.traces}
        answer["spans"] = {**spans}
    return answer


def _hit(hit: TracedHit) -> JsonValue:
    row = hit.row
    return {
        "ref": {
            "manual_id": hit.trace.manual_id,
            "path": row.path,
            "start_line": row.start_line,
        },
        "title": row.title,
        "score": row.score,
        "matched": [*row.matched],
        "cite": hit.cite,
        "signals": {name: round(value, 4) for name, value in row.signals.items()},
    }


def _span(span: Span) -> JsonValue:
    return {
        "kind": span.kind,
        "name": span.name,
        "started_ms": span.started_ms,
        "ms": span.ms,
        "rows": len(span.rows),
        "left_out": len(span.left_out),
        "weight": span.weight,
        "error": span.error,
        "children": [_span(child) for child in span.children],
    }
