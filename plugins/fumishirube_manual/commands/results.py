"""The results of a search over one or more manuals: the ranking, and the account of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from fumishirube import Citation, CoverageReport, Span, Trace, TraceRow
from fumishirube_manual.citations import CitedPlace
from fumishirube_manual.coverage import UnreadRow
from fumishirube_manual.diagnosis import answerable, proves_nothing
from fumishirube_manual.evidence.annotations import stored_of
from fumishirube_manual.evidence.names import nowhere_of
from fumishirube_manual.vocabulary import vocabulary_of


class CitedHit(NamedTuple):
    """A hit, its manual and the path in that, and its page, slide or rows."""

    row: TraceRow
    place: tuple[str, str]
    cited: CitedPlace | None

    @property
    def cite(self) -> str:
        """The citation: lines, file and manual, and a hash of the text.

        For documents with pages, slides or rows, it names those instead of lines.
        """
        row = self.row
        if self.cited is not None:
            return str(self.cited.citation(*self.place))
        return str(Citation(*self.place, row.start_line, row.end_line, row.digest))


class SearchResults(NamedTuple):
    """A search, the hits of it that are shown, and what was not searched.

    ``requested`` are the manuals to search. ``unread`` counts the files of each manual that no
    loader reads; ``loose`` files are in no manual.
    """

    trace: Trace
    requested: Sequence[str]
    shown: Sequence[CitedHit]
    unread: Mapping[str, Sequence[UnreadRow]]
    loose: Sequence[str]

    @property
    def manuals(self) -> Sequence[str]:
        """The manuals searched."""
        return self.trace.manuals or (self.trace.manual_id,)

    @property
    def account(self) -> CoverageReport:
        """The account of the search."""
        return CoverageReport.of(self.trace)

    @property
    def complete(self) -> bool:
        """Whether all requested manuals were searched."""
        return {*self.requested} <= {*self.manuals}

    def skipped(self) -> list[tuple[str, str, str]]:
        """Return the files not searched: the manual, the path and the reason."""
        return [(*self.trace.file(row.path), row.reason) for row in self.trace.skipped]

    def degraded(self) -> list[str]:
        """Return why the search is degraded; with several manuals it names the one concerned."""
        trace = self.trace
        late = "time ran out before every stage was done" if trace.report.out_of_time else None
        lines = [line for line in (trace.degraded, late) if line]
        return lines if trace.manuals else [f"{trace.manual_id}: {line}" for line in lines]


def as_json(results: SearchResults, *, explain: bool) -> dict[str, JsonValue]:
    """Return the results as JSON; several manuals together have the id ``*``."""
    trace, account = results.trace, results.account
    answer: dict[str, JsonValue] = {
        "query": trace.text,
        "manuals": [*results.manuals],
        "terms": {trace.manual_id: [*(trace.required or trace.report.picked or ())]},
        "terms_source": "caller" if trace.required else "picked",
        "vocabulary": [*vocabulary_of(trace)],
        "nowhere": [*nowhere_of(trace)],
        "answerable": None if proves_nothing(trace) else answerable(trace),
        "glossary": {row.word: [*row.others] for row in trace.origin.query.synonyms},
        "hits": [_hit(trace, hit) for hit in results.shown],
        "coverage": {
            "manuals": len(results.manuals),
            "files": account.scanned_files,
            "sections": trace.sections,
            "matched": account.matched,
            "matched_at_least": account.at_least,
            "ranked": len(trace.search.rows),
            "returned": len(results.shown),
            "skipped": [
                {"manual_id": manual, "path": path, "reason": reason}
                for manual, path, reason in results.skipped()
            ],
            "unread_files": [
                {"manual_id": manual, **row.model_dump()}
                for manual, rows in results.unread.items()
                for row in rows
            ],
            "loose_files": [*results.loose],
            "degraded": [*results.degraded()],
        },
        "traces": {trace.manual_id: trace.id},
    }
    if explain:
        answer["spans"] = {trace.manual_id: _span(trace.search)}
    return answer


def _hit(trace: Trace, hit: CitedHit) -> JsonValue:
    row = hit.row
    manual_id, path = hit.place
    tags = stored_of(trace, "addressed", row)
    return {
        "ref": {"manual_id": manual_id, "path": path, "start_line": row.start_line},
        "title": row.title,
        "score": row.score,
        "matched": [*row.matched],
        "cite": hit.cite,
        "signals": {name: round(value, 4) for name, value in row.signals.items()},
        **({"addressed": tags} if tags else {}),
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
