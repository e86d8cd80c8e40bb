"""Explains a search: the tree of stages, and the signals of a hit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from fumishirube import Span, Trace, TraceRow
from fumishirube.commands import counted, filled, listed, table, translated, word

LEGEND = (
    "legend: a run is one search inside the search (g0 the whole query, g_req among the sections "
    "that hold required terms, A and B one of them each); rows are the sections that a step left; "
    "signals are what each scorer gave, marks the reasons; a fuser merges runs, a refiner reorders"
)
"""The legend of the tree and the signals."""


def signals_line(row: TraceRow) -> str:
    """Return a hit's signals by scorer, its labels, and its coverage of the query."""
    signals = [f"{name} {value:.2f}" for name, value in row.signals.items() if value]
    parts = [
        filled("signals: {0}", ", ".join(signals) or word("value", "none")),
        translated(f"covers {row.coverage:.0%} of the query"),
    ]
    if row.labels:
        parts.append(filled("marks: {0}", ", ".join(sorted(row.labels))))
    return "; ".join(parts)


def tree_lines(trace: Trace) -> Iterator[str]:
    """Yield the spans of one search, one a line, indented by depth."""
    yield ""
    yield filled("trace {0} of {1}:", trace.id, trace.manual_id)
    yield from table([_cells(span, depth) for span, depth in _spans(trace.search, 1)])
    yield ""


def _spans(span: Span, depth: int) -> Iterator[tuple[Span, int]]:
    yield span, depth
    for child in span.children:
        yield from _spans(child, depth + 1)


def _cells(span: Span, depth: int) -> tuple[str, str, str]:
    return "  " * depth + span.label, f"{span.ms:8.2f} ms", "; ".join(_details(span))


def _details(span: Span) -> Iterator[str]:
    if span.kind != "scorer":
        yield translated(counted(len(span.rows), "row"))
    if span.kind == "run" and span.weight != 1.0:
        yield translated(f"weight {span.weight:g}")
    if span.left_out and span.kind in ("fuser", "refiner"):
        reasons = Counter(row.reason for row in span.left_out)
        left_out = listed(f"{reason} {n}" for reason, n in sorted(reasons.items()))
        yield filled("left out: {0}", left_out)
    if span.kind == "fuser":
        for label in ("picked", "kept"):
            terms = span.diagnostics.get(label)
            if isinstance(terms, list):
                yield f"{label}: {', '.join(map(str, terms)) or word('value', 'none')}"
    if span.error:
        yield filled("FAILED: {0}", span.error)
