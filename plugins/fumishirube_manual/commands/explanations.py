"""Explains a search: the tree of stages, the signals of a hit, and the fate of a section."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections import Counter
from collections.abc import Iterator

from pydantic import JsonValue

from fumishirube import Citation, InvalidParameter, NotFound, Span, SurfaceContext, Trace, TraceRow
from fumishirube.commands import (
    SCHEME,
    FateStep,
    SectionFate,
    counted,
    filled,
    listed,
    section_at,
    section_fate,
    show,
    table,
    translated,
    word,
)
from fumishirube_manual.commands.scan import about_unlisted

LEGEND = (
    "legend: a run is one search inside the search (g0 the whole query, g_req among the sections "
    "that hold required terms, A and B one of them each); rows are the sections that a step left; "
    "signals are what each scorer gave, marks the reasons; a fuser merges runs, a refiner reorders"
)
"""The legend of the tree and the signals."""


def signals_line(row: TraceRow, *, counted: bool = True) -> str:
    """Return a hit's signals by scorer, its labels, and its coverage of the query if counted."""
    signals = [f"{name} {value:.2f}" for name, value in row.signals.items() if value]
    parts = [filled("signals: {0}", ", ".join(signals) or word("value", "none"))]
    if counted or row.coverage:
        parts.append(filled("covers {0} of the query", f"{row.coverage:.0%}"))
    if row.labels:
        parts.append(filled("marks: {0}", ", ".join(sorted(row.labels))))
    return "; ".join(parts)


def tree_lines(trace: Trace) -> Iterator[str]:
    """Yield the spans of one search, one a line, indented by depth."""
    yield ""
    yield filled("trace {0} of {1}:", trace.id, trace.manual_id)
    yield from table([_cells(span, depth) for span, depth in trace.search.walk(1)])
    yield ""


def _cells(span: Span, depth: int) -> tuple[str, str, str]:
    return "  " * depth + span.label, f"{span.ms:8.2f} ms", "; ".join(_details(span))


def _details(span: Span) -> Iterator[str]:
    if span.kind != "scorer":
        yield translated(counted(len(span.rows), "row"))
    if span.kind == "run" and span.weight != 1.0:
        yield filled("weight {0}", f"{span.weight:g}")
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


def add_explanations(parser: ArgumentParser) -> None:
    """Add ``--explain`` and ``--why-not``."""
    help_text = "also show the effect of each stage, and the signals of each section"
    parser.add_argument("--explain", action="store_true", help=help_text)
    help_text = "explain why this section (manual://ID/PATH#L10) is not among the hits, or its rank"
    parser.add_argument("--why-not", metavar="REF", type=_reference, help=help_text)


def show_fate(trace: Trace, cite: Citation, context: SurfaceContext, options: Namespace) -> int:
    """Print what happened to a cited section in a search of its manual, or of several.

    Raises:
        NotFound: when there is no such file; it names the nearest one.
    """
    try:
        document = context.manual(cite.manual_id).document(cite.path)
    except NotFound as error:
        if unlisted := about_unlisted(context, cite.manual_id, cite.path):
            error.add_note(unlisted)
        raise
    section = section_at(document, cite.within(document).start_line)
    path = f"{cite.manual_id}/{cite.path}" if trace.manuals else cite.path
    fate = section_fate(trace, path, section)
    return show(_fate_json(fate), options, lambda _: _fate_lines(fate))


def _fate_lines(fate: SectionFate) -> Iterator[str]:
    """Yield the result, and the effect of each stage, indented by depth."""
    yield f"{fate.place}: {translated(fate.explanation)}"
    yield from table([("  " * step.depth + step.stage, _step_text(step)) for step in fate.steps])


def _fate_json(fate: SectionFate) -> JsonValue:
    return {
        "ref": str(fate.place),
        "rank": fate.rank,
        "stage": fate.stage,
        "reason": fate.reason,
        "explanation": fate.explanation,
        "steps": [step._asdict() for step in fate.steps],
    }


def _reference(word: str) -> Citation:
    """Parse a citation from the command line; the scheme is optional."""
    try:
        return Citation.parse(SCHEME + word.removeprefix(SCHEME))
    except InvalidParameter as error:
        raise ArgumentTypeError(f"expected manual://ID/PATH#L10, got {word[:80]!r}") from error


def _step_text(step: FateStep) -> str:
    if step.rank is not None and step.score is not None:
        return filled("rank {0} of {1}, score {2}", step.rank, step.rows, f"{step.score:.2f}")
    if step.left_out is not None:
        return filled("left out: {0}", step.left_out)
    return filled("not among the {0}", step.rows)
