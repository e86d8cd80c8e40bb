"""Formats what happened to a section in a search, as lines and as JSON."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator

from pydantic import JsonValue

from fumishirube import Citation, InvalidParameter, NotFound, SurfaceContext, Trace
from fumishirube.commands import (
    SCHEME,
    FateStep,
    SectionFate,
    filled,
    section_at,
    section_fate,
    table,
    translated,
)
from fumishirube_manual.commands.pages import about_unlisted


def add_explanations(parser: ArgumentParser) -> None:
    """Add ``--explain`` and ``--why-not``."""
    help_text = "also show the effect of each stage, and the signals of each section"
    parser.add_argument("--explain", action="store_true", help=help_text)
    help_text = "explain why this section (manual://ID/PATH#L10) is not among the hits, or its rank"
    parser.add_argument("--why-not", metavar="REF", type=_reference, help=help_text)


def fate_in(trace: Trace, cite: Citation, context: SurfaceContext) -> SectionFate:
    """Return what happened to a cited section in a search of its manual, or of several.

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
    return section_fate(trace, path, section)


def fate_lines(section_fate: SectionFate) -> Iterator[str]:
    """Yield the result, and the effect of each stage, indented by depth."""
    yield f"{section_fate.place}: {translated(section_fate.explanation)}"
    yield from table(
        [("  " * step.depth + step.stage, _step_text(step)) for step in section_fate.steps]
    )


def fate_json(section_fate: SectionFate) -> JsonValue:
    """Return the same as JSON."""
    return {
        "ref": str(section_fate.place),
        "rank": section_fate.rank,
        "stage": section_fate.stage,
        "reason": section_fate.reason,
        "explanation": section_fate.explanation,
        "steps": [
            {
                "depth": step.depth,
                "stage": step.stage,
                "rank": step.rank,
                "rows": step.rows,
                "score": step.score,
                "left_out": step.left_out,
            }
            for step in section_fate.steps
        ],
    }


def _reference(word: str) -> Citation:
    """Parse a citation from the command line; the scheme is optional."""
    try:
        return Citation.parse(SCHEME + word.removeprefix(SCHEME))
    except InvalidParameter as error:
        raise ArgumentTypeError(f"expected manual://ID/PATH#L10, got {word[:80]!r}") from error


def _step_text(step: FateStep) -> str:
    if step.rank is not None and step.score is not None:
        return translated(f"rank {step.rank} of {step.rows}, score {step.score:.2f}")
    if step.left_out is not None:
        return filled("left out: {0}", step.left_out)
    return translated(f"not among the {step.rows}")
