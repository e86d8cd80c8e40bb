"""What a definition looks like: forms in which manuals say what a term means."""

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
    """Lines of a text, counted from 0, that say what a term means, and the form they have."""

    first: int
    last: int
    form: Form


def definitions(lines: list[str], title: str, term: str) -> Iterator[Definition]:
    """Yield where these lines of one section, the heading being the first, define a term."""
    wanted = fold(term)
    entry, sentence = _entry(wanted), _sentence(wanted)
    for place, line in enumerate(lines):
        said = fold(line.translate({ord(mark): None for mark in _MARKS}))[:_LONGEST]
        following = lines[place + 1] if place + 1 < len(lines) else ""
        if said == wanted and following.startswith(": "):
            yield Definition(place, place + 1, "entry")
        elif entry.match(said):
            yield Definition(place, place, "entry")
        elif sentence.search(said):
            yield Definition(place, place, "sentence")
    if _named(title) == wanted:
        body = [place for place, line in enumerate(lines) if place and line.strip()]
        if body:
            end = next((n for n in range(body[0], len(lines)) if not lines[n].strip()), len(lines))
            yield Definition(body[0], end - 1, "heading")


def _entry(wanted: str) -> re.Pattern[str]:
    """Return what matches ``- term: meaning`` and ``| term | meaning |``."""
    term = re.escape(wanted) + _AFTER
    listed = rf"{_LIST}{term}\s*(?::|\.\.\.|--?\s|=)\s*\S"
    return re.compile(rf"(?:{listed}|\|\s*{term}\s*\|\s*\S)")


def _sentence(wanted: str) -> re.Pattern[str]:
    """Return what matches 「term」とは…, 「term」は…をいう, ``A term is a …``, ``term means …``."""
    term = re.escape(wanted) + _AFTER
    says = "をいう|を指す|のことである|のことです"
    japanese = rf"とは(?!いえ|言え|限ら|別)|という(?:の|もの)は|は、?[^。]{{1,120}}(?:{says})"
    english = "is an?|is the|are the|means?|refers? to|denotes?|stands? for"
    return re.compile(rf"{term}(?:{japanese})|\b(?:an? |the )?{term} (?:{english}) ")


def _named(title: str) -> str:
    """Return a title without its number and its particles: 「2.1 有給休暇とは」."""
    return re.sub(r"^(?:第?[\d.]+[章節条項]?\s*)|(?:とは)?[??]?$", "", fold(title)).strip()
