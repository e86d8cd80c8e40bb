"""PDFs with tables of known cells, and how many of them are in the right row and column."""

from __future__ import annotations

import io
import random
from collections.abc import Sequence

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

Rows = list[list[str]]

_NOUNS = ("Bolt", "Nut", "Washer", "Screw", "Hinge", "Bracket", "Spring", "Gear", "Valve", "Pump")
_HEADERS = ("Price", "Quantity", "Weight (kg)", "Total", "Year", "Share %", "Origin", "Remarks")
_WIDTH = 450
_STYLE = getSampleStyleSheet()["BodyText"]


def rows_of(chance: random.Random) -> Rows:
    """Return a header and some rows; the first cells differ, others may be empty."""
    header = ["Item", *chance.sample(_HEADERS, chance.randint(2, 5))]
    return [header, *(_row(number, header, chance) for number in range(chance.randint(4, 14)))]


def _row(number: int, header: Sequence[str], chance: random.Random) -> list[str]:
    cells = [f"{chance.choice(_NOUNS)}-{number}"]
    for name in header[1:]:
        if chance.random() < 0.08:
            cells.append("")
        elif name in ("Origin", "Remarks"):
            words = chance.choices(_NOUNS, k=chance.randint(1, 3))
            cells.append(" ".join(words).lower())
        elif chance.random() < 0.5:
            cells.append(f"{chance.uniform(0, 20_000):,.2f}")
        else:
            cells.append(str(chance.randint(1, 2_500)))
    return cells


def pdf_of(rows: Rows, *, ruled: bool, wrapped: bool, chance: random.Random) -> bytes:
    """Return a page with a table, with rules or without; ``wrapped`` cells may have more lines."""
    style: list[tuple[object, ...]] = [
        ("FONTNAME", (0, 0), (-1, 0), "Helvetica-Bold"),
        ("FONTSIZE", (0, 0), (-1, -1), 8),
    ]
    if chance.random() < 0.7:
        style.append(("ALIGN", (1, 0), (-1, -1), "RIGHT"))
    if ruled:
        style.append(("GRID", (0, 0), (-1, -1), 0.5, colors.black))
    cells = [
        [Paragraph(c, _STYLE) if wrapped and chance.random() < 0.5 else c for c in r] for r in rows
    ]
    widths = [_WIDTH / len(rows[0])] * len(rows[0]) if wrapped else None
    buffer = io.BytesIO()
    text = Paragraph("Some text before the table, which says what it is about.", _STYLE)
    table = Table(cells, style=TableStyle(style), colWidths=widths)
    SimpleDocTemplate(buffer, pagesize=A4, invariant=1).build([text, Spacer(1, 10), table])
    return buffer.getvalue()


def right_cells(rows: Rows, text: str) -> tuple[int, int]:
    """Return how many cells are in their row, below their header; and how many there are."""
    served = [_cells(line) for line in text.split("\n")]
    wanted = [
        (row[0], name, cell)
        for row in rows[1:]
        for name, cell in zip(rows[0], row, strict=True)
        if cell
    ]
    return sum(_is_right(served, *each) for each in wanted), len(wanted)


def _is_right(served: Sequence[list[str]], first: str, header: str, cell: str) -> bool:
    for number, cells in enumerate(served):
        if cells[:1] == [first]:
            top = number
            while top > 0 and served[top - 1]:
                top -= 1
            if any(pair == (header, cell) for pair in zip(served[top], cells, strict=False)):
                return True
    return False


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line[1:-1].split("|")] if line.startswith("| ") else []
