"""Readings above kanji of PDF pages: they are left out, and the words below them are whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from drawn_pages import Drawn, drawn, parsed
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont

FONT = "HeiseiMin-W3"
WORDS = [("この", ""), ("日", "に"), ("本", "ほん"), ("国", "こく"), ("憲", "けん"), ("法", "ぽう")]
WORDS += [("と、", ""), ("安", "あん"), ("全", "ぜん"), ("装置の話である。", "")]
LINE = "この日本国憲法と、安全装置の話である。"


def annotated(words: Sequence[tuple[str, str]], top: float) -> list[tuple[Drawn, Drawn]]:
    """Return the parts of a line, each with its reading."""
    left = 72.0
    parts: list[tuple[Drawn, Drawn]] = []
    for word, reading in words:
        parts.append(((word, FONT, 10, left, top), (reading, FONT, 5, left, top + 10.5)))
        left += 10 * len(word)
    return parts


@pytest.fixture(autouse=True)
def _japanese() -> None:
    pdfmetrics.registerFont(UnicodeCIDFont(FONT))


@pytest.mark.parametrize("order", ["each before its word", "all before", "all after"])
def test_readings_above_kanji_are_left_out(tmp_path: Path, order: str) -> None:
    page: list[Drawn] = []
    for top in (700, 675):
        parts = annotated(WORDS, top)
        words, readings = zip(*parts, strict=True)
        orders = {
            "each before its word": [each for part in parts for each in reversed(part)],
            "all before": [*readings, *words],
            "all after": [*words, *readings],
        }
        page += [each for each in orders[order] if each[0]]
    lines = [line for line in parsed(tmp_path, drawn(page)).text.splitlines() if line]
    assert lines == [LINE, LINE]


def test_kana_that_are_no_readings_stay(tmp_path: Path) -> None:
    page = [
        ("ちゅうい", FONT, 5, 72, 740),  # far above
        ("この装置は重い。", FONT, 10, 72, 700),
        ("おわり", FONT, 5, 72, 690),  # below
        ("フリガナ", FONT, 5, 72, 660.5),  # the name of a field
        ("氏名", FONT, 10, 72, 650),
        ("ですます", FONT, 5, 72, 610.5),  # above kana
        ("ひらがな", FONT, 10, 72, 600),
    ]
    text = parsed(tmp_path, drawn(page)).text
    assert [line for line in text.splitlines() if line] == [each[0] for each in page]


def test_vertical_writing_goes_on_from_kana_to_kanji(tmp_path: Path) -> None:
    columns = ["この装置は水を温める。", "次の章に安全の話がある。"]
    page = [
        (letter, FONT, 12, 500 - 22 * column, 750 - 12.5 * row)
        for column, text in enumerate(columns)
        for row, letter in enumerate(text)
    ]
    (line,) = [each for each in parsed(tmp_path, drawn(page)).text.splitlines() if each]
    assert line == " ".join(columns)
