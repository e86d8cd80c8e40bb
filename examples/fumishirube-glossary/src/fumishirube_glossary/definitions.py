"""Recognises definitions by the forms that manuals use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from fumishirube.text import fold

Form = Literal["entry", "sentence", "heading"]

_LIST = r"(?:[-*+]|\d{1,3}[.)])?\s*"
_MARKS = '*_`「」『』"“”'
_AFTER = r"(?:\s*[((][^))]{0,80}[))])?"
_LONGEST = 500


class Definition(NamedTuple):
    """The lines of a definition, counted from 0, and its form."""

    first: int
    last: int
    form: Form


def definitions(lines: list[str], title: str, term: str) -> Iterator[Definition]:
    """Yield the definitions of a term in the lines of a section, heading included."""
    folded = fold(term)
    entry, sentence = _entry(folded), _sentence(folded)
    for place, line in enumerate(lines):
        plain = fold(line.translate({ord(mark): None for mark in _MARKS}))[:_LONGEST]
        following = lines[place + 1] if place + 1 < len(lines) else ""
        if plain == folded and following.startswith(": "):
            yield Definition(place, place + 1, "entry")
        elif entry.match(plain):
            yield Definition(place, place, "entry")
        elif sentence.search(plain):
            yield Definition(place, place, "sentence")
    if _named(title) == folded:
        body = [place for place, line in enumerate(lines) if place and line.strip()]
        if body:
            end = next((n for n in range(body[0], len(lines)) if not lines[n].strip()), len(lines))
            yield Definition(body[0], end - 1, "heading")


def _entry(folded: str) -> re.Pattern[str]:
    """Return a pattern for ``- term: meaning`` and ``| term | meaning |``."""
    term = re.escape(folded) + _AFTER
    listed = rf"{_LIST}{term}\s*(?::|\.\.\.|--?\s|=)\s*\S"
    return re.compile(rf"(?:{listed}|\|\s*{term}\s*\|\s*\S)")


def _sentence(folded: str) -> re.Pattern[str]:
    """Return a pattern for 「term」とは…, 「term」は…をいう, ``A term is a …``, ``term means …``"""
    term = re.escape(folded) + _AFTER
    says = "をいう|を指す|のことである|のことです"
    japanese = rf"とは(?!いえ|言え|限ら|別)|という(?:の|もの)は|は、?[^。]{{1,120}}(?:{says})"
    english = "is an?|is the|are the|means?|refers? to|denotes?|stands? for"
    return re.compile(rf"{term}(?:{japanese})|\b(?:an? |the )?{term} (?:{english}) ")


def _named(title: str) -> str:
    """Return a title without its number and particles: 「2.1 有給休暇とは」."""
    return re.sub(r"^(?:第?[\d.]+[章節条項]?\s*)|(?:とは)?[??]?$", "", fold(title)).strip()
