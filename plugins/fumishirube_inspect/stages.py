"""The tree of runs and stages, with their times and results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from fumishirube import Span
from fumishirube_inspect.differences import StageTiming
from fumishirube_inspect.frame import isolated, milliseconds
from fumishirube_inspect.markup import Content, Markup, stretched, table_of, tag

_DEEPEST = 8
_BOX = "0 0 1000 10"
_RUNS = {
    "g0": "first gate: the question alone, without required terms",
    "side": "one side of a comparison, by itself",
    "base": "the whole question, beside its parts",
    "together": "the question and all its other wordings as one text",
    "query": "the question without its other wordings",
}
"""What the runs of the built-in fusers search."""


def tree(search: Span) -> Markup:
    """Return the tree of one search, with a time line."""
    ends = [span.started_ms + span.ms for span, _ in search.walk()]
    whole = max(search.ms, *ends, 0.001)
    rows = [_row(span, depth, whole) for span, depth in search.walk()]
    heads = (("Stage", "stage"), ("Time", "number"), ("", "line"), ("Rows", "number"))
    return table_of(heads, rows, "stages")


def gates(search: Span) -> Markup | None:
    """Return what the names of a search's runs mean, in the order of the runs."""
    runs = {span.name: span for span, _ in search.walk() if span.kind == "run"}
    terms = [
        (tag("dt", name), tag("dd", meaning))
        for name, span in runs.items()
        if (meaning := _meaning(span)) is not None
    ]
    return tag("dl", terms, class_="gates") if terms else None


def _meaning(run: Span) -> Content:
    """Return what a run of a built-in fuser searches."""
    gate, _, _ = run.name.partition(":")
    if gate == "g_req":
        words = [(" and " if place else "", isolated(term)) for place, term in enumerate(run.must)]
        return "second gate: only sections with the required ", words
    if gate.startswith("alternative-"):
        return "another wording of the question, by itself"
    return _RUNS.get(gate)


def compared(stages: tuple[StageTiming, ...]) -> Markup:
    """Return the trees of two searches as one, with both times."""
    timed = [span.ms for item in stages for span in (item.before, item.after) if span]
    slowest = max(timed, default=0.0) or 0.001
    rows = [_compared_row(item, slowest) for item in stages]
    sides = [(letter(item), "number letters") for item in "AB"]
    return table_of([("Stage", "stage"), *sides, ("", "line"), ("Rows", "number")], rows, "stages")


def _row(span: Span, depth: int, whole: float) -> Markup:
    rect = tag(
        "rect",
        x=round(1000 * max(0.0, span.started_ms) / whole, 2),
        width=max(2.0, round(1000 * span.ms / whole, 2)),
        height=10,
    )
    return tag(
        "tr",
        _named(span, depth),
        tag("td", milliseconds(span.ms), class_="number"),
        tag("td", stretched(rect, _BOX, f"time {span.kind}"), class_="line"),
        tag("td", "" if span.kind == "scorer" else len(span.rows), class_="number"),
    )


def _compared_row(stage: StageTiming, slowest: float) -> Markup:
    span = stage.after or stage.before
    assert span is not None
    sides = (stage.before, stage.after)
    rects = [
        tag(
            "rect",
            y=place * 6,
            width=round(1000 * side.ms / slowest, 2),
            height=4,
            class_="ab"[place],
        )
        for place, side in enumerate(sides)
        if side
    ]
    counts = ["–" if side is None else str(len(side.rows)) for side in sides]
    rows = counts[0] if counts[0] == counts[1] else " → ".join(counts)
    return tag(
        "tr",
        _named(span, len(stage.path) - 1),
        [tag("td", milliseconds(side.ms) if side else "–", class_="number") for side in sides],
        tag("td", stretched(rects, _BOX, "time pair"), class_="line"),
        tag("td", "" if span.kind == "scorer" else rows, class_="number"),
        class_=None if all(sides) else "alone",
    )


def _named(span: Span, depth: int) -> Markup:
    name = None if span.name == span.kind else f" {span.name}"
    weight = tag("span", f"×{span.weight:g}", class_="chip") if span.weight != 1.0 else None
    left = [tag("span", text, class_="chip quiet") for text in _left_out(span)]
    failed = tag("span", span.error, class_="chip bad") if span.error else None
    return tag(
        "td",
        tag("span", span.kind, class_=f"kind {span.kind}"),
        name,
        weight,
        left,
        failed,
        class_=f"stage d{min(depth, _DEEPEST)}",
    )


def _left_out(span: Span) -> Iterator[str]:
    if span.kind in ("fuser", "refiner"):
        reasons = Counter(out.reason for out in span.left_out)
        for reason, number in sorted(reasons.items()):
            yield f"left out {number}: {reason.replace('_', ' ')}"


def letter(name: str) -> Markup:
    """Return the badge of one of the two searches."""
    return tag("b", name, class_=f"letter {name.lower()}")
