"""Numbers in Japanese texts: one spelling for 第三章, 第 3 章, 第３章 and 第03章."""

from __future__ import annotations

import re
import unicodedata

_DIGITS = {kanji: digit for digit, kanji in enumerate("〇一二三四五六七八九")} | {"零": 0}
_POWERS = {"十": 10, "百": 100, "千": 1000}
_KANJI = re.compile(f"[{''.join([*_DIGITS, *_POWERS])}]{{1,12}}")
HYPHEN = "\\-\u2010-\u2015\u2043\u2212ーの"
"""Hyphens between two digits, as the inside of a character class."""
_BETWEEN = re.compile(f"(?<=[0-9])[{HYPHEN}](?=[0-9])")
_ZEROS = re.compile(r"(?<![0-9])0+(?=[0-9])")
_BLANKS = re.compile(r"\s+")


def normalised(text: str) -> str:
    """Return a text in NFKC without blanks, its numbers in one spelling."""
    text = _BLANKS.sub("", unicodedata.normalize("NFKC", text))
    text = _KANJI.sub(lambda match: _read(match.group()), text)
    return _ZEROS.sub("", _BETWEEN.sub("-", text))


def _read(kanji: str) -> str:
    """Return a number in kanji as digits: 十二, 百二十 and 二〇 are 12, 120 and 20."""
    if not any(character in _POWERS for character in kanji):
        return "".join(str(_DIGITS[character]) for character in kanji)
    total = digit = 0
    for character in kanji:
        if character in _POWERS:
            total += (digit or 1) * _POWERS[character]
            digit = 0
        else:
            digit = digit * 10 + _DIGITS[character]
    return str(total + digit)
