"""The units of a text to search: its words, numbers, marks, and the gaps between them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from fumishirube.text.folding import HAN, HANGUL, HIRAGANA, INDIC, JOINED, KATAKANA, UNSPACED
from fumishirube.text.word_forms import BEFORE_NUMBER, after_number

_DASHES = "\u2010\u2012\u2013\u2014\u2015\u2043\u2212"
_HUMPS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?!s\Z)[a-z])")
# Patterns with whole scripts take milliseconds, so that this one is compiled at its first use.
UNITS = (
    f"(?P<letters>[^\\W\\d_{JOINED}]+(?:[{INDIC}]+[^\\W\\d_{JOINED}]*)*)|(?P<digits>[0-9]+)"
    f"|(?P<han>[{HAN}]+)|(?P<hiragana>[{HIRAGANA}]+)|(?P<katakana>[{KATAKANA}]+)"
    f"|(?P<hangul>[{HANGUL}]+)|(?P<unspaced>[{UNSPACED}]+)"
    r"|(?P<gap>[\s_-]+)|(?P<mark>(?s:.))"
)
_SCRIPTS = {
    "han": f"[{HAN}]",
    "hiragana": f"[{HIRAGANA}]",
    "katakana": f"[{KATAKANA}]",
    "hangul": f"[{HANGUL}]",
    "unspaced": f"[{UNSPACED}]",
    "letters": f"(?:[^\\W{JOINED}]|[{INDIC}])",
    "digits": f"(?:[^\\W{JOINED}]|[{INDIC}])",
}
"""Characters that must not be beside a whole word of a script."""
JAPANESE = ("han", "hiragana", "katakana")
WORDS = ("letters", "digits", "hangul", "unspaced", *JAPANESE)


class TextUnit(NamedTuple):
    """A part of a text, of a kind: a script, ``digits``, a ``gap``, or a ``mark``."""

    kind: str
    text: str


def with_one_dash(text: str) -> str:
    """Return a text with hyphens for its dashes."""
    for dash in _DASHES:  # str.translate takes a thousand times as long
        text = text.replace(dash, "-")
    return text


def divided(text: str) -> list[TextUnit]:
    """Return the units of a text in its own case: words at their humps, numbers, and marks."""
    units: list[TextUnit] = []
    for match in re.compile(UNITS).finditer(text):
        kind = match.lastgroup or "mark"
        parts = _HUMPS.split(match.group()) if kind == "letters" else [match.group()]
        for number, part in enumerate(parts):
            if number:
                units.append(TextUnit("gap", ""))
            units.append(TextUnit(kind, part))
    return units


def edges(units: Sequence[TextUnit], *, before: bool, after: bool) -> tuple[str, str]:
    """Return the conditions that prevent a pattern from matching inside a word."""
    first = _SCRIPTS.get(units[0].kind) if before else None
    last = _SCRIPTS.get(units[-1].kind) if after else None
    return f"(?<!{first})" if first else "", f"(?!{last})" if last else ""


def number_borders(units: Sequence[TextUnit]) -> tuple[str, str]:
    """Return the conditions that prevent the first and the last number from being cut."""
    before = after = ""
    if units[0].kind == "digits":
        before = BEFORE_NUMBER
    if units[-1].kind == "digits":
        dotted = [unit.kind for unit in units[-3:]] == ["digits", "mark", "digits"]
        after = after_number(dotted=dotted and units[-2].text == ".")
    return before, after
