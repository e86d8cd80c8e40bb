"""PDF pages of texts at known places, and what is read of them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from fumishirube_documents import Pdf
from opened_loaders import load
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from fumishirube import Document

Drawn = tuple[str, str, float, float, float]
"""A text, with its font, size and place."""

SENTENCE = (
    "all",
    "prices",
    "of",
    "this",
    "catalogue",
    "are",
    "in",
    "euros",
    "and",
    "hold",
    "until",
)


def parsed(folder: Path, data: bytes) -> Document:
    return load(folder, "a.pdf", data, Pdf())


def drawn(*pages: Sequence[Drawn]) -> bytes:
    """Return pages of texts."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    for page in pages:
        for text, font, size, left, bottom in page:
            canvas.setFont(font, size)
            canvas.drawString(left, bottom, text)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()
