"""Finds the tables with ruled lines between their cells, and puts texts into their cells."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from ctypes import byref, c_float, c_int
from functools import reduce
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from fumishirube_documents.pdf_lines import Border, PdfLine, continued
from fumishirube_documents.pdf_tables import table_row

_THIN = 2.0
"""The greatest thickness of a ruled line, and the distance at which lines meet, in points."""
_CLOSEST = 5.0
"""The least width of a column, and height of a row; rules that are closer are a double one."""
_SHORTEST = 4.0
_LEAST_CELLS = 2
_LEAST_LINES = 3
_MOST_RULES = 3_000
_MOST_EDGES = 400
"""The most edges of a path that may be rules; others are drawings."""


class _Rule(NamedTuple):
    """A ruled line: its left, bottom, right and top edge."""

    left: float
    bottom: float
    right: float
    top: float

    def meets(self, other: _Rule) -> bool:
        return (
            self.left - _THIN <= other.right
            and other.left - _THIN <= self.right
            and self.bottom - _THIN <= other.top
            and other.bottom - _THIN <= self.top
        )


class Grid(NamedTuple):
    """A ruled table: the edges of its columns from the left, and of its rows from the top."""

    columns: Sequence[float]
    rows: Sequence[float]
    rules: Sequence[_Rule]

    def cell_of(self, line: PdfLine) -> tuple[int, int] | None:
        """Return the row and the column of a text, by its left end; ``None`` outside."""
        height = (line.bottom + line.top) / 2
        column = bisect_right(self.columns, line.left + _THIN) - 1
        row = bisect_right(self.rows, -height, key=lambda edge: -edge) - 1
        inside = 0 <= column < len(self.columns) - 1 and 0 <= row < len(self.rows) - 1
        return (row, column) if inside else None

    def divides(self, left: float, right: float, height: float) -> bool:
        """Tell whether an inner border is between two edges, at a height."""
        inside = self.rows[-1] < height < self.rows[0]
        return inside and any(left - _THIN < edge < right + _THIN for edge in self.columns[1:-1])


def borders_of(grids: Sequence[Grid]) -> Border:
    """Return whether a border of one of some tables is between two edges, at a height."""
    return lambda *place: any(grid.divides(*place) for grid in grids)


def grids_of(paths: Iterable[Any]) -> list[Grid]:
    """Return the ruled tables of a page, from its drawn paths."""
    rules = [rule for path in paths for rule in _rules(path)]
    if len(rules) > _MOST_RULES:  # a drawing
        return []
    grids = []
    for around, group in _groups(rules):
        upright = [rule.left for rule in group if rule.right - rule.left <= _THIN]
        level = [rule.bottom for rule in group if rule.top - rule.bottom <= _THIN]
        # The outer rules may be missing.
        columns = _distinct([*upright, around.left, around.right])
        rows = _distinct([*level, around.bottom, around.top])
        if len(columns) > _LEAST_CELLS and len(rows) > _LEAST_CELLS:
            grids.append(Grid(columns, rows[::-1], group))
    return grids


def with_grid_rows(lines: Sequence[PdfLine], grids: Sequence[Grid]) -> list[PdfLine]:
    """Return the lines, with those in ruled tables as rows, each where its table began."""
    if not grids:
        return [*lines]
    written: list[PdfLine] = []
    tables: dict[int, dict[tuple[int, int], list[PdfLine]]] = {}
    places: dict[int, int] = {}
    for line in lines:
        parts = [*_parts(line, grids)]
        if not parts:
            written.append(line)
        for number, cell, part in parts:
            places.setdefault(number, len(written))
            tables.setdefault(number, {}).setdefault(cell, []).append(part)
    for number in sorted(places, key=lambda n: -places[n]):
        place = places[number]
        grid = grids[number]
        cells = _with_merged(tables[number], grid)
        written[place:place] = _rows(cells, len(grid.columns) - 1)
    return written


def _with_merged(
    cells: dict[tuple[int, int], list[PdfLine]], grid: Grid
) -> dict[tuple[int, int], list[PdfLine]]:
    """Return the cells, with the texts of those that are merged over rows in each of the rows."""
    joined = _Joined.of(grid)
    merged = dict(cells)
    for column in range(len(grid.columns) - 1):
        group = [0]
        for row in range(1, len(grid.rows)):
            if row < len(grid.rows) - 1 and joined.goes_on(row, column):
                group.append(row)
                continue
            own = [line for each in group for line in cells.get((each, column), ())]
            if own and len(group) > 1:
                merged |= {(each, column): own for each in group}
            group = [row]
    return merged


class _Joined(NamedTuple):
    """A ruled table, with its level rules by row and its upright rules by column."""

    grid: Grid
    level: Mapping[int, Sequence[_Rule]]
    upright: Mapping[int, Sequence[_Rule]]

    @classmethod
    def of(cls, grid: Grid) -> _Joined:
        level, upright = defaultdict[int, list[_Rule]](list), defaultdict[int, list[_Rule]](list)
        for rule in grid.rules:
            if rule.top - rule.bottom <= _THIN:
                above = bisect_left(grid.rows, -rule.bottom, key=lambda edge: -edge)
                level[above].append(rule)
            if rule.right - rule.left <= _THIN:
                upright[bisect_right(grid.columns, rule.left) - 1].append(rule)
        return cls(grid, level, upright)

    def goes_on(self, row: int, column: int) -> bool:
        """Tell whether a cell is one with that above: only its sides are ruled between them."""
        height = self.grid.rows[row]
        middle = sum(self.grid.columns[column : column + 2]) / 2
        if any(rule.left <= middle <= rule.right for rule in self.level.get(row, ())):
            return False
        return all(
            any(
                rule.bottom + _THIN < height < rule.top - _THIN
                for rule in self.upright.get(side, ())
            )
            for side in (column, column + 1)
        )


def _parts(line: PdfLine, grids: Sequence[Grid]) -> Iterator[tuple[int, tuple[int, int], PdfLine]]:
    """Yield the parts of a line in a table: the number of the table, the cell, and the part."""
    for number, grid in enumerate(grids):
        parts = [line._replace(text=c.text, left=c.left, right=c.right) for c in line.cells]
        cells = [grid.cell_of(part) for part in parts]
        if any(cells):
            near = next(cell for cell in cells if cell)
            for cell, part in zip(cells, parts, strict=True):
                yield number, cell or near, part
            return


def _rows(cells: dict[tuple[int, int], list[PdfLine]], width: int) -> Iterator[PdfLine]:
    bands = [
        [cells.get((row, n), []) for n in range(width)] for row in sorted({r for r, _ in cells})
    ]
    for count, own in enumerate(row for band in bands for row in _divided(band)):
        texts = [reduce(continued, (line.text for line in _in_order(cell)), "") for cell in own]
        inside = [line for cell in own for line in cell]
        yield inside[0]._replace(
            text=" ".join(text for text in texts if text),
            bottom=min(line.bottom for line in inside),
            top=max(line.top for line in inside),
            right=max(line.right for line in inside),
            cells=(),
            row=table_row(texts),
            goes_on=count > 0,
            broken=False,
        )


def _divided(band: list[list[PdfLine]]) -> Iterator[list[list[PdfLine]]]:
    """Yield the rows between two rules: several where most columns have as many lines."""
    counts = [len(cell) for cell in band if cell]
    several = counts[0] >= _LEAST_LINES and 2 * counts.count(counts[0]) > len(counts)
    if not several or len(counts) < _LEAST_CELLS:
        yield band
        return
    first = next(cell for cell in band if cell)
    heights = sorted((line.bottom for line in first), reverse=True)
    for height in heights:
        yield [
            [line for line in cell if min(heights, key=lambda h: abs(h - line.bottom)) == height]
            for cell in band
        ]


def _in_order(cell: Sequence[PdfLine]) -> list[PdfLine]:
    return sorted(cell, key=lambda line: (-round(line.bottom / _THIN), line.left))


def _rules(path: Any) -> Iterator[_Rule]:
    """Yield the rules of a path: itself when it is thin, or its level and upright edges."""
    edges = [c_float() for _ in range(4)]
    if not pdfium.FPDFPageObj_GetBounds(path, *map(byref, edges)):
        return
    left, bottom, right, top = (edge.value for edge in edges)
    wide, high = right - left, top - bottom
    if min(wide, high) <= _THIN:
        if max(wide, high) >= _SHORTEST:
            yield _Rule(left, bottom, right, top)
    elif pdfium.FPDFPath_CountSegments(path) <= _MOST_EDGES and _is_stroked(path):
        yield from _edges(path)


def _edges(path: Any) -> Iterator[_Rule]:
    """Yield the straight edges of a path that are level or upright."""
    matrix, x, y = pdfium.FS_MATRIX(), c_float(), c_float()
    pdfium.FPDFPageObj_GetMatrix(path, byref(matrix))
    begin = before = (0.0, 0.0)
    for number in range(pdfium.FPDFPath_CountSegments(path)):
        segment = pdfium.FPDFPath_GetPathSegment(path, number)
        pdfium.FPDFPathSegment_GetPoint(segment, byref(x), byref(y))
        point = (
            matrix.a * x.value + matrix.c * y.value + matrix.e,
            matrix.b * x.value + matrix.d * y.value + matrix.f,
        )
        kind = pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_LINETO:
            yield from _edge(before, point)
            if pdfium.FPDFPathSegment_GetClose(segment):
                yield from _edge(point, begin)
        elif kind == pdfium.FPDF_SEGMENT_MOVETO:
            begin = point
        before = point


def _edge(begin: tuple[float, float], end: tuple[float, float]) -> Iterator[_Rule]:
    (left, right), (bottom, top) = (sorted(pair) for pair in zip(begin, end, strict=True))
    if min(right - left, top - bottom) <= _THIN and max(right - left, top - bottom) >= _SHORTEST:
        yield _Rule(left, bottom, right, top)


def _is_stroked(path: Any) -> bool:
    fill, stroke = c_int(), c_int()
    return bool(pdfium.FPDFPath_GetDrawMode(path, byref(fill), byref(stroke)) and stroke.value)


def _groups(rules: Sequence[_Rule]) -> list[tuple[_Rule, list[_Rule]]]:
    """Return the rules that meet, directly or by others, with the rectangle around them."""
    groups: list[tuple[_Rule, list[_Rule]]] = []
    for rule in rules:
        meeting = [group for group in groups if group[0].meets(rule)]
        boxes = [rule, *(around for around, _ in meeting)]
        around = _Rule(
            min(each.left for each in boxes),
            min(each.bottom for each in boxes),
            max(each.right for each in boxes),
            max(each.top for each in boxes),
        )
        # The largest grows: a table of thousands of rules is not copied for each of them.
        joined = max((group for _, group in meeting), key=len, default=[])
        for _, group in meeting:
            if group is not joined:
                joined.extend(group)
        joined.append(rule)
        groups = [group for group in groups if not group[0].meets(rule)]
        groups.append((around, joined))
    return groups


def _distinct(values: Iterable[float]) -> list[float]:
    """Return values in order, without those too close to the one before."""
    distinct: list[float] = []
    for value in sorted(values):
        if not distinct or value - distinct[-1] > _CLOSEST:
            distinct.append(value)
    return distinct
