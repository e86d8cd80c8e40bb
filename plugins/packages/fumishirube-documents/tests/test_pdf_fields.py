"""Forms as PDFs: what is written into their fields, and cells that stand lower than their row."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

from fumishirube_documents import Pdf
from opened_loaders import running
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from fumishirube import Root, Source


def text_of(folder: Path, draw: Callable[[Canvas], object]) -> str:
    """Return the text of a page that a function draws."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    canvas.setFont("Helvetica", 10)
    draw(canvas)
    canvas.save()
    (folder / "a.pdf").write_bytes(buffer.getvalue())
    return running(Pdf()).load(Root(folder), Source("a.pdf")).text


def test_what_is_written_into_a_field_follows_its_label(tmp_path: Path) -> None:
    def form(canvas: Canvas) -> None:
        for label, value, height in (("Name:", "Ursula", 700), ("Plate:", "KX-4711", 660)):
            canvas.drawString(72, height, label)
            canvas.acroForm.textfield(x=150, y=height - 6, width=200, height=20, value=value)
        canvas.drawString(72, 620, "Signed in town.")

    words = text_of(tmp_path, form).replace("|", "").split()
    assert words == ["Name:", "Ursula", "Plate:", "KX-4711", "Signed", "in", "town."]


def test_a_cell_at_the_left_of_a_higher_one_is_not_its_end(tmp_path: Path) -> None:
    def table(canvas: Canvas) -> None:
        canvas.grid([72, 172, 272, 372], [660, 672, 684])
        canvas.drawString(76, 675, "2023")
        canvas.drawString(276, 669, "Remark")  # in the middle of two rows
        canvas.drawString(76, 663, "Sales")
        canvas.drawString(176, 663, "Profit")

    lines = text_of(tmp_path, table).splitlines()
    assert not any("Remark Sales" in line for line in lines)
    assert any(line.startswith("| Sales | Profit |") for line in lines)
