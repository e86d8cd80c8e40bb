"""What became of a section in a search, as lines and as JSON."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Iterator

from pydantic import JsonValue

from fumishirube.citations import SCHEME, Citation
from fumishirube.errors import InvalidParameter
from fumishirube.faces.cli.output import table
from fumishirube.traces.fates import Fate, Step


def fate_lines(one: Fate) -> Iterator[str]:
    """Yield the verdict, and what each stage did, the inner ones indented."""
    yield f"{one.place}: {one.told}"
    yield from table([("  " * step.depth + step.stage, _told(step)) for step in one.steps])


def fate_json(one: Fate) -> JsonValue:
    """Return the same as JSON."""
    return {
        "ref": str(one.place),
        "rank": one.rank,
        "stage": one.stage,
        "reason": one.reason,
        "told": one.told,
        "steps": [
            {
                "depth": step.depth,
                "stage": step.stage,
                "rank": step.rank,
                "rows": step.rows,
                "score": step.score,
                "left_out": step.left_out,
            }
            for step in one.steps
        ],
    }


def reference(word: str) -> Citation:
    """Take a citation, whose scheme may be left out, from the command line."""
    try:
        return Citation.parse(SCHEME + word.removeprefix(SCHEME))
    except InvalidParameter as error:
        raise ArgumentTypeError(f"expected manual://ID/PATH#L10, got {word[:80]!r}") from error


def _told(step: Step) -> str:
    if step.rank is not None and step.score is not None:
        return f"rank {step.rank} of {step.rows}, score {step.score:.2f}"
    if step.left_out is not None:
        return f"left out: {step.left_out}"
    return f"not among the {step.rows}"
