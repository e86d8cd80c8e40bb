"""Tables of PDFs whose merged cells are drawn after the others, as office programs do."""

from __future__ import annotations

import io
import time
from collections.abc import Sequence
from pathlib import Path

from fumishirube_documents import Pdf
from opened_loaders import running
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from fumishirube import Root, Source

Drawn = tuple[str, float, float]
ROWS: list[Drawn] = [
    (text, left, 700 - 13 * row)
    for row, cells in enumerate(
        [
            ("Branch", "Kind", "Sales", "Profit"),
            ("", "inland", "1,000", "200"),
            ("", "abroad", "1,300", "210"),
            ("", "inland", "2,000", "400"),
            ("", "abroad", "2,300", "410"),
        ]
    )
    for text, left in zip(cells, (72, 172, 272, 372), strict=True)
    if text
]


def text_of(folder: Path, texts: Sequence[Drawn]) -> str:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    canvas.setFont("Helvetica", 10)
    for text, left, bottom in texts:
        canvas.drawString(left, bottom, text)
    canvas.save()
    (folder / "a.pdf").write_bytes(buffer.getvalue())
    return running(Pdf()).load(Root(folder), Source("a.pdf")).text


def test_merged_cells_are_in_their_rows_and_groups_above_them(tmp_path: Path) -> None:
    late = [("The year 2024", 290, 713), ("North", 72, 681), ("South", 72, 655)]
    lines = text_of(tmp_path, [*ROWS, *late]).splitlines()
    assert lines[0].replace("|", "").split() == ["The", "year", "2024"]
    assert lines[1:6] == [
        "| Branch | Kind | Sales | Profit |",
        "| North | inland | 1,000 | 200 |",
        "|  | abroad | 1,300 | 210 |",
        "| South | inland | 2,000 | 400 |",
        "|  | abroad | 2,300 | 410 |",
    ]


def test_a_column_of_text_beside_a_table_stays_what_it_is(tmp_path: Path) -> None:
    beside = [(f"words of line {n} beside it", 450, 700 - 13 * n) for n in range(5)]
    text = text_of(tmp_path, [*ROWS, *beside])
    assert "\n".join(words for words, _, _ in beside) in text


def test_thousands_of_texts_without_order_take_seconds(tmp_path: Path) -> None:
    texts = [(f"{n % 97}", 20 + 37 * n % 550, 20 + 101 * n % 800) for n in range(6_000)]
    began = time.perf_counter()
    assert text_of(tmp_path, texts)
    assert time.perf_counter() - began < 20
