"""Where 第3章を参照 points: references by number, label, neighbourhood or title."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from fumishirube.text.reference_targets import (
    LABELLED,
    NUMBERED,
    Candidate,
    Entry,
    Number,
    Places,
    number_of,
    places_of,
)
from fumishirube.text.numerals import normalised

_MOST = 10
_PHRASES = 20
_LEAD = 0.1
_ALIKE = 0.5
_SHORTEST = 2
_LONGEST = 200

_RELATIVE = "(?P<relative>[前次同本])章"
_POINTING = re.compile(f"{NUMBERED}|{LABELLED}|{_RELATIVE}")
_QUOTED = re.compile(r"「([^「」]{1,200})」|『([^『』]{1,200})』")
_BEFORE = re.compile(r"[^「」『』、。,;]+\Z")
_POINTS = re.compile("を参照|に記載|を見よ")
_SECTION_LINE = re.compile(r"^[^\S\n]*第([^\n節]{1,12})節", re.MULTILINE)


class Resolved(NamedTuple):
    """What a text points at, if that is one thing, and all that it may point at."""

    target: str | None
    candidates: tuple[Candidate, ...]


Sections = Callable[[str], Collection[str]]
"""Given an id, the numbers N of the lines in its text that begin with 第N節."""


def resolve(
    entries: Sequence[Entry], text: str, current: str | None, sections: Sections
) -> Resolved:
    """Return what a text points at; ``current`` is the id of where the text stands."""
    places = places_of(tuple(entries))
    asked = normalised(text)
    target: str | None = None
    candidates: dict[str, Candidate] = {}
    for reference in _references(asked):
        found, sure = reference(places, current, sections)
        if target is None and sure:
            target = found[0].id
        for candidate in found:
            candidates.setdefault(candidate.id, candidate)
    chosen = sorted(candidates.values(), key=lambda one: one.id != target)
    return Resolved(target, tuple(chosen[:_MOST]))


def mentioned(
    entries: Sequence[Entry], text: str, current: str, sections: Sections
) -> list[Candidate]:
    """Return what a running text surely points at, in its order, but for where it stands itself.

    Quoted words count only where they are followed by を参照 or the like.
    """
    places = places_of(tuple(entries))
    found: dict[str, Candidate] = {}
    for reference in _references(normalised(text), running=True):
        candidates, sure = reference(places, current, sections)
        if sure and candidates[0].id != current:
            found.setdefault(candidates[0].id, candidates[0])
    return [*found.values()][:_MOST]


def section_numbers(text: str) -> frozenset[str]:
    """Return the numbers of the lines of an NFKC text that begin with 第N節."""
    return frozenset(normalised(number) for number in _SECTION_LINE.findall(text))


# --- what is asked --------------------------------------------------------------------------

_Found = tuple[list[Candidate], bool]
_Reference = Callable[[Places, str | None, Sections], _Found]


def _references(asked: str, *, running: bool = False) -> Iterator[_Reference]:
    """Yield how each reference in a text is answered, in the order in which they stand there."""
    found: list[tuple[int, _Reference]] = []
    chapter: Number | None = None
    end = -1
    for match in _POINTING.finditer(asked):
        if match["label"]:
            found.append((match.start(), _Label(match["label"] + match["number"])))
        elif match["relative"]:
            found.append((match.start(), _Relative(match["relative"])))
        else:
            number = number_of(match)
            if number.unit == "節" and chapter is not None and match.start() == end:
                found[-1] = (found[-1][0], _Part(chapter, number))
            else:
                found.append((match.start(), _Part(number, None)))
            chapter = number if number.unit == "章" else None
            end = match.end()
    for start, phrase in sorted(_phrases(asked, running=running))[:_PHRASES]:
        words = _POINTING.sub("", phrase)
        if len(words) >= _SHORTEST:
            found.append((start, _Words(words)))
    # A number beats the words beside it.
    found.sort(key=lambda one: (isinstance(one[1], _Words), one[0]))
    return (reference for _, reference in found)


def _phrases(asked: str, *, running: bool) -> Iterator[tuple[int, str]]:
    """Yield where words stand that may be a title, quoted or before を参照, and the words."""
    for match in _QUOTED.finditer(asked):
        if not running or _POINTS.match(asked, match.end()):
            yield match.start(), match[1] or match[2]
    for points in _POINTS.finditer(asked):
        before = asked[max(0, points.start() - _LONGEST) : points.start()]
        words = _BEFORE.search(before)
        if words is not None:
            yield points.start() - len(words.group()), words.group()


@dataclass(frozen=True)
class _Label:
    """別表1 and the like."""

    name: str

    def __call__(self, places: Places, _current: str | None, _sections: Sections) -> _Found:
        found = [Candidate(*one, "label") for one in places.labelled.get(self.name, ())]
        return found, len(found) == 1


@dataclass(frozen=True)
class _Relative:
    """前章 and the like, seen from where the reference stands."""

    where: str

    def __call__(self, places: Places, current: str | None, _sections: Sections) -> _Found:
        order = [(one, number.n) for one, number in places.numbers if number.unit == "章"]
        at = next((place for place, (one, _) in enumerate(order) if one == current), None)
        if at is None:
            return [], False
        here = order[at][1]
        way = {"前": order[at::-1], "次": order[at:]}.get(self.where)
        n = here if way is None else next((other for _, other in way if other != here), None)
        found = [] if n is None else places.chapter(Number("章", n))[0]
        return [one._replace(rule="relative") for one in found], len(found) == 1


@dataclass(frozen=True)
class _Part:
    """第3章, 第3章-1 or 第3章第2節; a section alone may also stand inside a chapter."""

    number: Number
    section: Number | None

    def __call__(self, places: Places, current: str | None, sections: Sections) -> _Found:
        number = self.number
        if self.section is not None and number.m is None:
            number = number._replace(m=self.section.n)
        found, _ = places.chapter(number)
        if not found and self.section is not None:
            within = places.chapter(self.number)[0]
            held = [one for one in within if self.section.n in sections(one.id)]
            found = [one._replace(rule="heading") for one in held] or within
        elif not found and number.unit == "節":
            found = _holding(number.n, places, current, sections)
        return found, len(found) == 1


@dataclass(frozen=True)
class _Words:
    """The words of a title."""

    words: str

    def __call__(self, places: Places, _current: str | None, _sections: Sections) -> _Found:
        pairs = _pairs(self.words)
        scored = [
            (max((_likeness(self.words, pairs, title) for title in titles), default=0.0), entry)
            for entry, titles in places.titles
        ]
        alike = sorted((one for one in scored if one[0] >= _ALIKE), key=lambda one: -one[0])
        found = [Candidate(*entry, "title") for _, entry in alike[:_MOST]]
        sure = len(alike) == 1 or (len(alike) > 1 and alike[0][0] - alike[1][0] >= _LEAD - 1e-9)
        return found, sure


def _holding(n: str, places: Places, current: str | None, sections: Sections) -> list[Candidate]:
    """Return the chapters with such a section: the current one, or else any."""
    if current is not None and current in places.entries and n in sections(current):
        return [Candidate(*places.entries[current], "heading")]
    return [Candidate(*one, "heading") for one in places.entries.values() if n in sections(one.id)]


def _likeness(words: str, pairs: frozenset[str], title: str) -> float:
    if words == title:
        return 1.0
    if title in words:
        return 0.9
    if words in title:
        return 0.8
    others = _pairs(title)
    return 2 * len(pairs & others) / max(1, len(pairs) + len(others))


@lru_cache(maxsize=4096)
def _pairs(text: str) -> frozenset[str]:
    return frozenset(text[place : place + 2] for place in range(len(text) - 1))
