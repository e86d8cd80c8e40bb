"""Leaves out the readings that a PDF page prints above its kanji."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from fumishirube_documents.pdf_lines import PdfLine, share_width

_READING = re.compile(r"(?!フリガナ|ふりがな)[ぁ-ゖァ-ヺー・゛゜ 　]+")
"""Kana, but for the names of fields for readings."""
_KANJI = re.compile("[々〆\u3400-\u9fff\uf900-\ufaff]")
_SMALLER = 0.6
"""The size of a reading at most, in sizes of the letters below it."""
_LOWEST, _HIGHEST = 0.6, 1.4
"""How far above the feet of those letters its own are, in their sizes."""


def without_readings(fragments: Sequence[PdfLine]) -> list[PdfLine]:
    """Return the parts of the lines of a page without those that are readings.

    A reading tears the word apart above which it stands.
    """
    readings = [part for part in fragments if part.size and _READING.fullmatch(part.text)]
    if not readings:
        return [*fragments]
    kanji = sorted(
        (part for part in fragments if part.size and _KANJI.search(part.text)),
        key=lambda part: part.base,
    )
    largest = max((part.size for part in kanji), default=0)
    out = {id(part) for part in readings if _is_above(part, kanji, largest)}
    return [part for part in fragments if id(part) not in out]


def _is_above(part: PdfLine, kanji: Sequence[PdfLine], largest: float) -> bool:
    """Return whether a part stands above one of those with kanji, which are in order of height."""
    lowest = bisect_left(kanji, part.base - _HIGHEST * largest, key=lambda each: each.base)
    highest = bisect_right(kanji, part.base, key=lambda each: each.base)
    return any(
        part.size <= _SMALLER * each.size
        and _LOWEST * each.size <= part.base - each.base <= _HIGHEST * each.size
        and share_width(part, each)
        for each in kanji[lowest:highest]
    )
