"""Where 第3章を参照 points: references by number, label, neighbourhood or title."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from shirube_builtin.surfaces.numerals import HYPHEN, normalised

Rule = Literal["number", "id", "child", "parent", "heading", "label", "relative", "title"]

_MOST = 10
_PHRASES = 20
_LEAD = 0.1
_ALIKE = 0.5
_SHORTEST = 2

_NUMBERED = (
    f"第(?P<n>[0-9]+)(?:-(?P<inner>[0-9]+))?(?P<unit>[章節条項編部])(?:[{HYPHEN}](?P<sub>[0-9]+))?"
)
_LABELLED = "(?P<label>別表|別紙|付録|様式|資料)(?:第)?(?P<number>[0-9]+(?:-[0-9]+)?)"
_RELATIVE = "(?P<relative>[前次同本])章"
_ID = re.compile(r"([0-9]+)(?:-([0-9]+))?")
_TITLE_NUMBER = re.compile(_NUMBERED)
_TITLE_LABEL = re.compile(_LABELLED)
_POINTING = re.compile(f"{_NUMBERED}|{_LABELLED}|{_RELATIVE}")
_PHRASE = re.compile(
    r"「(?P<one>[^「」]{1,200})」|『(?P<two>[^『』]{1,200})』"
    r"|(?P<three>[^「」『』、。,;]{1,200}?)(?:を参照|に記載|を見よ)"
)
_SECTION_LINE = re.compile(r"^[^\S\n]*第([^\n節]{1,12})節", re.MULTILINE)


class Entry(NamedTuple):
    """What can be pointed at: an id, and the title under which it is known."""

    id: str
    title: str


class Candidate(NamedTuple):
    """Something that a reference may point at, and by which rule."""

    id: str
    title: str
    rule: Rule


class Resolved(NamedTuple):
    """What a text points at, if that is one thing, and all that it may point at."""

    target: str | None
    candidates: tuple[Candidate, ...]


class _Number(NamedTuple):
    unit: str
    n: str
    m: str | None = None


Sections = Callable[[str], Collection[str]]
"""Given an id, the numbers N of the lines in its text that begin with 第N節."""


def resolve(
    entries: Sequence[Entry], text: str, current: str | None, sections: Sections
) -> Resolved:
    """Return what a text points at; ``current`` is the id of where the text stands."""
    places = _places(tuple(entries))
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


def section_numbers(text: str) -> frozenset[str]:
    """Return the numbers of the lines of an NFKC text that begin with 第N節."""
    return frozenset(normalised(number) for number in _SECTION_LINE.findall(text))


# --- what there is --------------------------------------------------------------------------


@dataclass(frozen=True)
class _Places:
    """The entries by number, by label and in order."""

    entries: Mapping[str, Entry]
    titled: Mapping[_Number, Sequence[Entry]]
    by_id: Mapping[_Number, Sequence[Entry]]
    children: Mapping[_Number, Sequence[Entry]]
    labelled: Mapping[str, Sequence[Entry]]
    numbers: Sequence[tuple[str, _Number]]
    titles: Sequence[tuple[Entry, frozenset[str]]]

    def chapter(self, number: _Number) -> tuple[list[Candidate], Rule]:
        """Return what a number names: by title, by id, or its parts, or what it is a part of."""
        whole = number._replace(m=None)
        steps: tuple[tuple[Rule, Sequence[Entry]], ...] = (
            ("number", self.titled.get(number, ())),
            ("id", self.by_id.get(number, ())),
            ("child", self.children.get(number, ()) if number.m is None else ()),
            ("parent", self.titled.get(whole, ()) if number.m else ()),
            ("parent", self.by_id.get(whole, ()) if number.m else ()),
        )
        for rule, found in steps:
            if found:
                return [Candidate(*one, rule) for one in found], rule
        return [], "number"


@lru_cache(maxsize=16)
def _places(entries: tuple[Entry, ...]) -> _Places:
    titled: dict[_Number, list[Entry]] = defaultdict(list)
    by_id: dict[_Number, list[Entry]] = defaultdict(list)
    children: dict[_Number, list[Entry]] = defaultdict(list)
    labelled: dict[str, list[Entry]] = defaultdict(list)
    numbers: list[tuple[str, _Number]] = []
    titles: list[tuple[Entry, frozenset[str]]] = []
    for entry in entries:
        title = normalised(entry.title)
        match, label = _TITLE_NUMBER.match(title), _TITLE_LABEL.match(title)
        found = _number_of(match) if match else None
        if found is not None:
            titled[found].append(entry)
        elif label is not None:
            labelled[label["label"] + label["number"]].append(entry)
        if found is None and label is None and (plain := _ID.fullmatch(normalised(entry.id))):
            found = _Number("章", *plain.groups())
            by_id[found].append(entry)
        if found is not None:
            numbers.append((entry.id, found))
            if found.m is not None:
                children[found._replace(m=None)].append(entry)
        bare = title[match.end() if match else label.end() if label else 0 :]
        titles.append((entry, frozenset({title, bare} - {""})))
    known = {entry.id: entry for entry in entries}
    return _Places(known, titled, by_id, children, labelled, numbers, titles)


def _number_of(match: re.Match[str]) -> _Number:
    return _Number(match["unit"], match["n"], match["inner"] or match["sub"])


# --- what is asked --------------------------------------------------------------------------

_Found = tuple[list[Candidate], bool]
_Reference = Callable[[_Places, str | None, Sections], _Found]


def _references(asked: str) -> Iterator[_Reference]:
    """Yield how each reference in a text is answered, in the order in which they stand there."""
    found: list[tuple[int, _Reference]] = []
    chapter: _Number | None = None
    end = -1
    for match in _POINTING.finditer(asked):
        if match["label"]:
            found.append((match.start(), _Label(match["label"] + match["number"])))
        elif match["relative"]:
            found.append((match.start(), _Relative(match["relative"])))
        else:
            number = _number_of(match)
            if number.unit == "節" and chapter is not None and match.start() == end:
                found[-1] = (found[-1][0], _Part(chapter, number))
            else:
                found.append((match.start(), _Part(number, None)))
            chapter = number if number.unit == "章" else None
            end = match.end()
    for match in [*_PHRASE.finditer(asked)][:_PHRASES]:
        words = _POINTING.sub("", match["one"] or match["two"] or match["three"])
        if len(words) >= _SHORTEST:
            found.append((match.start(), _Words(words)))
    # A number beats the words beside it.
    found.sort(key=lambda one: (isinstance(one[1], _Words), one[0]))
    return (reference for _, reference in found)


@dataclass(frozen=True)
class _Label:
    """別表1 and the like."""

    name: str

    def __call__(self, places: _Places, _current: str | None, _sections: Sections) -> _Found:
        found = [Candidate(*one, "label") for one in places.labelled.get(self.name, ())]
        return found, len(found) == 1


@dataclass(frozen=True)
class _Relative:
    """前章 and the like, seen from where the reference stands."""

    where: str

    def __call__(self, places: _Places, current: str | None, _sections: Sections) -> _Found:
        order = [(one, number.n) for one, number in places.numbers if number.unit == "章"]
        at = next((place for place, (one, _) in enumerate(order) if one == current), None)
        if at is None:
            return [], False
        here = order[at][1]
        way = {"前": order[at::-1], "次": order[at:]}.get(self.where)
        n = here if way is None else next((other for _, other in way if other != here), None)
        found = [] if n is None else places.chapter(_Number("章", n))[0]
        return [one._replace(rule="relative") for one in found], len(found) == 1


@dataclass(frozen=True)
class _Part:
    """第3章, 第3章-1 or 第3章第2節; a section alone may also stand inside a chapter."""

    number: _Number
    section: _Number | None

    def __call__(self, places: _Places, current: str | None, sections: Sections) -> _Found:
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

    def __call__(self, places: _Places, _current: str | None, _sections: Sections) -> _Found:
        pairs = _pairs(self.words)
        scored = [
            (max((_likeness(self.words, pairs, title) for title in titles), default=0.0), entry)
            for entry, titles in places.titles
        ]
        alike = sorted((one for one in scored if one[0] >= _ALIKE), key=lambda one: -one[0])
        found = [Candidate(*entry, "title") for _, entry in alike[:_MOST]]
        sure = len(alike) == 1 or (len(alike) > 1 and alike[0][0] - alike[1][0] >= _LEAD - 1e-9)
        return found, sure


def _holding(n: str, places: _Places, current: str | None, sections: Sections) -> list[Candidate]:
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
