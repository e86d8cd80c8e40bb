"""Ranks as lines: the rank of each hit after each scorer group, fuser and refiner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from fumishirube import Span
from fumishirube_inspect.frame import key_of
from fumishirube_inspect.markup import Markup, tag

DEEPEST = 14
"""The lowest rank with a line of its own; all lower ranks share the last one."""
_STEP, _TOP, _LEFT, _LABELS = 26, 58, 16, 250
_WHOLE, _NARROWEST, _WIDEST = 1110, 106, 420
_HIGHEST = 3
"""A section that reaches this rank anywhere is shown."""
_NOWHERE = 10**6
_LETTERS = 19


class Column(NamedTuple):
    """One ranking: its stage, and the rank of each section."""

    kind: str
    name: str
    ranks: Mapping[str, int]


def columns_of(span: Span) -> list[Column]:
    """Return the rankings below a span, in order of time."""
    return [
        Column(child.kind, child.name, {key_of(row): n for n, row in enumerate(child.rows, 1)})
        for child in span.children
        if child.kind != "scorer"
    ]


def chart(columns: Sequence[Column], titles: Mapping[str, str]) -> Markup:
    """Return a chart of the sections with high final ranks, or the highest rank in a column.

    There are two columns or more. Runs are independent: lines between their columns are faint.
    """
    shown = [key for key in titles if _matters(key, columns)]
    back_to_front = sorted(shown, key=lambda key: -columns[-1].ranks.get(key, _NOWHERE))
    space = (_WHOLE - _LEFT - _LABELS) // (len(columns) - 1)
    wide = max(_NARROWEST, min(space, _WIDEST))
    lowest = min(DEEPEST, max(len(column.ranks) for column in columns))
    width = _LEFT + wide * (len(columns) - 1) + _LABELS
    height = _TOP + _STEP * (lowest + 1)
    lines = [_line(key, titles[key], columns, lowest, wide) for key in back_to_front]
    names = ", ".join(column.name for column in columns)
    drawn = tag(
        "svg",
        [_heading(column, place, wide) for place, column in enumerate(columns)],
        lines,
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
        aria_label=f"Ranks of {len(titles)} sections in {len(columns)} rankings: {names}",
        class_="ranks",
    )
    return tag("div", drawn, class_="scroll", tabindex=0, role="group", aria_label="Chart of ranks")


def _matters(key: str, columns: Sequence[Column]) -> bool:
    ends = columns[-1].ranks.get(key, _NOWHERE)
    return ends <= DEEPEST or any(column.ranks.get(key, _NOWHERE) <= _HIGHEST for column in columns)


def _heading(column: Column, place: int, wide: int) -> Markup:
    x = _LEFT + place * wide
    name = column.name if len(column.name) <= 15 else f"{column.name[:14]}…"  # noqa: PLR2004 - what fits
    return tag(
        "g",
        tag("text", column.kind, x=x - 9, y=16, class_="kind"),
        tag("text", tag("title", column.name), name, x=x - 9, y=32, class_="name"),
    )


def _line(key: str, title: str, columns: Sequence[Column], lowest: int, wide: int) -> Markup:
    points = [
        (place, _LEFT + place * wide, rank, _TOP + _STEP * (min(rank, lowest + 1) - 1))
        for place, column in enumerate(columns)
        if (rank := column.ranks.get(key)) is not None
    ]
    lines = [
        tag("path", d=_curve(x, y, next_x, next_y), class_=_drawn(columns, place, next_place))
        for (place, x, _, y), (next_place, next_x, _, next_y) in pairwise(points)
    ]
    dots = [_dot(x, y, rank, lowest) for _, x, rank, y in points]
    place, x, rank, y = points[-1]
    ended = place < len(columns) - 1
    label = None
    if not ended and rank <= lowest:
        label = tag("text", _shortened(title), x=x + 17, y=y + 4, class_="label")
    ranks = ", ".join(f"{column.name} {column.ranks.get(key, 'no')}" for column in columns)
    tooltip = tag("title", f"{title}: {ranks}")
    return tag("g", tooltip, lines, dots, label, class_=_way(points, ended=ended), data_line=key)


def _dot(x: int, y: int, rank: int, lowest: int) -> Markup:
    if rank > lowest:
        return tag("circle", cx=x, cy=y, r=3)
    number = tag("text", rank, x=x, y=y + 4, class_="rank")
    return tag("g", tag("circle", cx=x, cy=y, r=10), number)


def _way(points: Sequence[tuple[int, int, int, int]], *, ended: bool) -> str:
    """Return the class of a line: up, down, level, or lost."""
    if ended:
        return "lost"
    first, last = points[0][2], points[-1][2]
    return "up" if last < first else "down" if last > first else "level"


def _drawn(columns: Sequence[Column], place: int, next_place: int) -> str | None:
    """Return the class of a line between columns of independent runs, or over a gap."""
    run = "run" if columns[place].kind == "run" else ""
    broken = "broken" if next_place > place + 1 else ""
    return f"{run} {broken}".strip() or None


def _curve(x: int, y: int, next_x: int, next_y: int) -> str:
    middle = (x + next_x) // 2
    return f"M{x} {y}C{middle} {y} {middle} {next_y} {next_x} {next_y}"


def _shortened(title: str) -> str:
    """Return a title cut to the width of the chart; a wide character counts as two."""
    space = 2 * _LETTERS
    fitting: list[str] = []
    for character in title:
        space -= 1 if character.isascii() else 2
        if space < 0:
            return "".join(fitting) + "…"
        fitting.append(character)
    return title
