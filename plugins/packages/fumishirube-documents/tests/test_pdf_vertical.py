"""Vertical writing in PDFs."""

from __future__ import annotations

import io
import shutil
import subprocess
from pathlib import Path

import pytest
from fumishirube_documents import Pdf
from opened_loaders import running
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

from fumishirube import Root, Source

FONT = "HeiseiKakuGo-W5"
LINES = [
    ("年次有給休暇は、その年の", 500),
    ("四月一日に一斉に付与する", 484),
    ("申請の期限は前営業日と", 440),
    ("する。", 424),
]


def lacks_font() -> bool:
    """Tell whether this system has no Japanese font, without which nobody knows the columns.

    The font is not in the file: that of the system takes its place.
    """
    listing = shutil.which("fc-list")
    return listing is not None and not subprocess.check_output([listing, ":lang=ja"])


@pytest.mark.skipif(lacks_font(), reason="there is no Japanese font, such as IPAexGothic")
def test_lines_beside_each_other_are_a_paragraph_from_right_to_left(tmp_path: Path) -> None:
    pdfmetrics.registerFont(UnicodeCIDFont(FONT, isVertical=True))
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    canvas.setFont(FONT, 10)
    for text, left in LINES:
        canvas.drawString(left, 760, text)
    canvas.save()
    (tmp_path / "a.pdf").write_bytes(buffer.getvalue())
    assert running(Pdf()).load(Root(tmp_path), Source("a.pdf")).text == (
        "年次有給休暇は、その年の\n四月一日に一斉に付与する\n\n申請の期限は前営業日と\nする。\n\n"
    )
