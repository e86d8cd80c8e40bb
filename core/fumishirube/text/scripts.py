"""Scripts: which words are found inside runs of characters, and which spellings are equal."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3005-\u3007\U00020000-\U0003ffff"
HIRAGANA = "\u3041-\u309f"
KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
CJK = HAN + HIRAGANA + KATAKANA
HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"
_BOPOMOFO = "\u3105-\u312f\u31a0-\u31bf"
_THAI = "\u0e01-\u0e3a\u0e40-\u0e4e"
_LAO = "\u0e81-\u0ece\u0edc-\u0edf"
_TIBETAN = "\u0f40-\u0f84\u0f90-\u0fbc"
_MYANMAR = "\u1000-\u103f\u1050-\u109f"
_KHMER = "\u1780-\u17d3\u17d7\u17dc\u17dd"
UNSPACED = _BOPOMOFO + _THAI + _LAO + _TIBETAN + _MYANMAR + _KHMER
"""Scripts other than Chinese and Japanese that have no spaces between words."""
JOINED = CJK + UNSPACED + HANGUL
"""Scripts whose words are found inside runs of characters: Korean joins them to their endings."""
INDIC = "\u0900-\u0963\u0966-\u0df3"
"""Letters, and the marks of vowels, which are no letters to Python but belong to a word."""
DEPENDENT = (
    "\u0300-\u036f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece"
    "\u102b-\u103e\u17b6-\u17d3\u3099\u309a"
)
"""Marks that change the character before them into another one."""

_INVISIBLE = (
    "\u00ad\u200b\u2060\ufeff"  # where lines may be divided, and where not
    "\ufe00-\ufe0f\U000e0100-\U000e01ef"  # variation selectors
)
_REMOVED = (
    f"{_INVISIBLE}\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"  # Hebrew points and accents
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
    "\u08ca-\u08e1\u08e3-\u08ff"  # Arabic vowel signs, and the line that lengthens words
)
_STRESS = "\u0301"
_CYRILLIC = "\u0400-\u04ff"
_EQUAL = {
    **dict.fromkeys("آأإٱ", "ا"),
    **dict.fromkeys("ىی", "ي"),
    **dict.fromkeys("ةۀہۃ", "ه"),
    "ک": "ك",
    "Ё": "Е",
    "ё": "е",
    "\u05be": "-",
    "\u05f3": "'",
    "\u05f4": '"',
}
_LAST = 0x17FF
_AFFECTED = re.compile(f"[\u0300-\u036f\u0400-{chr(_LAST)}{_INVISIBLE}]+")
_OTHER_ROWS = bytes({*range(256)}.difference(range(0x03, (_LAST >> 8) + 1), (0xDB, 0xFE)))
"""The high bytes in UTF-16 of characters that are not affected."""


def fold_letters(text: str) -> str:
    """Return a text in NFKC in which the spellings of a word in its script are equal. Idempotent.

    Arabic and Hebrew lose their vowel signs, Arabic also its lengthening lines; the forms of alef,
    yeh, kaf and heh become one each, as in Lucene's ArabicNormalizer and PersianNormalizer; ё
    becomes е, and Cyrillic loses its stress marks; the digits of all these scripts become 0 to 9.
    Soft hyphens, spaces without a width, word joiners and variation selectors are removed. Line
    ends stay.
    """
    return _AFFECTED.sub(_folded_run, text) if _may_change(text) else text


def letter_changes(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start and end of each part that :func:`fold_letters` changes, and its new text.

    A part with removed marks begins with the character that they belong to, if there is one.
    """
    for run in _AFFECTED.finditer(text) if _may_change(text) else ():
        pattern, equal = _changes()
        for match in pattern.finditer(text, *run.span()):
            start, end = match.span()
            new = equal.get(text[start], "")
            if not new and start:
                start -= 1
                new = text[start]
            yield start, end, new


def _may_change(text: str) -> bool:
    """Tell whether a text may have such characters; ten times as fast as a pattern."""
    rows = text.encode("utf-16-le", "surrogatepass")[1::2]
    if rows.translate(None, _OTHER_ROWS):
        return True
    # Most texts have others of their rows, such as quotation marks.
    return "\u00ad" in text or "\u200b" in text or "\u2060" in text


def _folded_run(run: re.Match[str]) -> str:
    pattern, equal = _changes()
    return pattern.sub(lambda match: equal.get(match.group()[0], ""), run.group())


@lru_cache(maxsize=1)
def _changes() -> tuple[re.Pattern[str], Mapping[str, str]]:
    """Return the pattern of what changes, and the equal characters; both take milliseconds."""
    digits = {chr(code): unicodedata.decimal(chr(code), -1) for code in range(0x400, _LAST)}
    equal = {character: str(digit) for character, digit in digits.items() if digit >= 0} | _EQUAL
    marks = f"[{_REMOVED}{_STRESS}]"
    pattern = f"[{''.join(equal)}]{marks}*|(?<=[{_CYRILLIC}]){marks}+|[{_REMOVED}]+"
    return re.compile(pattern), equal
