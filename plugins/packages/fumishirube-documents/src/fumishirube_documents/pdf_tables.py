"""Recognises tables on a page: consecutive rows with cells in the same columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fumishirube_documents.pdf_lines import PdfLine

_LEAST_ROWS = 2
_LEAST_CELLS = 2


def with_rows(lines: Sequence[PdfLine]) -> Iterator[str]:
    """Yield the text of each line; rows of tables as Markdown rows with aligned cells."""
    for run in _runs(lines):
        if len(run) >= _LEAST_ROWS and len(run[0].cells) >= _LEAST_CELLS:
            columns = _columns(run)
            for line in run:
                yield _row(line, columns)
        else:
            yield from (" ".join(cell for cell, _, _ in line.cells) or line.text for line in run)


def _runs(lines: Sequence[PdfLine]) -> Iterator[list[PdfLine]]:
    """Yield groups of lines: consecutive lines with several cells together, others alone."""
    run: list[PdfLine] = []
    for line in lines:
        if len(line.cells) >= _LEAST_CELLS:
            run.append(line)
            continue
        if run:
            yield run
            run = []
        yield [line]
    if run:
        yield run


def _columns(rows: Sequence[PdfLine]) -> list[tuple[float, float]]:
    """Return the left and right edge of each column: where cells overlap."""
    columns: list[tuple[float, float]] = []
    for row in sorted(rows, key=lambda line: -len(line.cells)):
        for _, left, right in row.cells:
            over = [c for c in columns if c[0] < right and left < c[1]]
            if not over:
                columns.append((left, right))
            elif len(over) == 1:  # a cell over several columns widens none
                columns.remove(over[0])
                columns.append((min(left, over[0][0]), max(right, over[0][1])))
    return sorted(columns)


def _row(line: PdfLine, columns: Sequence[tuple[float, float]]) -> str:
    cells = [""] * len(columns)
    for text, left, right in line.cells:
        shared = [min(right, end) - max(left, begin) for begin, end in columns]
        place = max(range(len(columns)), key=shared.__getitem__)
        cells[place] = f"{cells[place]} {text}".strip().replace("|", r"\|")
    return f"| {' | '.join(cells)} |"
