"""References in Japanese texts, such as 第3章を参照: by number, label, neighbourhood or title."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from operator import itemgetter
from typing import Literal, NamedTuple

_DIGITS = {kanji: digit for digit, kanji in enumerate("〇一二三四五六七八九")} | {"零": 0}
_POWERS = {"十": 10, "百": 100, "千": 1000}
_NUMERALS = "".join([*_DIGITS, *_POWERS])
_KANJI = re.compile(f"[{_NUMERALS}]{{1,12}}")
HYPHEN = "\\-\u2010-\u2015\u2043\u2212ーの"
"""Hyphens between two digits, as the inside of a character class."""
_BETWEEN = re.compile(f"(?<=[0-9])[{HYPHEN}](?=[0-9])")
_ZEROS = re.compile(r"(?<![0-9])0+(?=[0-9])")
_BLANKS = re.compile(r"\s+")
_CLOSED = re.compile(f"第[0-9{_NUMERALS}{HYPHEN}\\s]+[章節条項編部]")
_APART = re.compile(f"(?<=[0-9{_NUMERALS}])\\s+(?=[0-9{_NUMERALS}])")
APART = "\0"
"""What stands for a blank between two numbers, as in 別表1 三大疾病."""

Rule = Literal["number", "id", "child", "parent", "heading", "label", "relative", "title"]

NUMBERED = (
    f"第(?P<n>[0-9]+)(?:-(?P<inner>[0-9]+))?(?P<unit>[章節条項編部])(?:[{HYPHEN}](?P<sub>[0-9]+))?"
)
LABELLED = "(?P<label>別表|別紙|付録|様式|資料)(?:第)?(?P<number>[0-9]+(?:-[0-9]+)?)"
_ID = re.compile(r"([0-9]+)(?:-([0-9]+))?")
_TITLE_NUMBER = re.compile(NUMBERED)
_TITLE_LABEL = re.compile(LABELLED)
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
_BLOCK = 65_536
_SECTION_LINE = re.compile(r"^[^\S\n]*第[^\n節]{1,12}節", re.MULTILINE)


class ReferenceTarget(NamedTuple):
    """A target of references: an id, and its title."""

    id: str
    title: str


class ReferenceMatch(NamedTuple):
    """A possible target of a reference, and the rule that found it."""

    id: str
    title: str
    rule: Rule


class Number(NamedTuple):
    """第N章, or 第N章-M; the digits as text, without leading zeros."""

    unit: str
    n: str
    m: str | None = None


class ReferenceTargets(NamedTuple):
    """The entries by number, by label and in order."""

    entries: Mapping[str, ReferenceTarget]
    titled: Mapping[Number, Sequence[ReferenceTarget]]
    by_id: Mapping[Number, Sequence[ReferenceTarget]]
    children: Mapping[Number, Sequence[ReferenceTarget]]
    labelled: Mapping[str, Sequence[ReferenceTarget]]
    numbers: Sequence[tuple[str, Number]]
    titles: Sequence[tuple[ReferenceTarget, frozenset[str]]]

    def chapter(self, number: Number) -> list[ReferenceMatch]:
        """Return the targets of a number: by title, by id, its parts, or what it is a part of."""
        whole = number._replace(m=None)
        steps: tuple[tuple[Rule, Sequence[ReferenceTarget]], ...] = (
            ("number", self.titled.get(number, ())),
            ("id", self.by_id.get(number, ())),
            ("child", self.children.get(number, ()) if number.m is None else ()),
            ("parent", self.titled.get(whole, ()) if number.m else ()),
            ("parent", self.by_id.get(whole, ()) if number.m else ()),
        )
        for rule, entries in steps:
            if entries:
                return [ReferenceMatch(*entry, rule) for entry in entries]
        return []


@lru_cache(maxsize=16)
def targets_of(entries: tuple[ReferenceTarget, ...]) -> ReferenceTargets:
    """Return the entries of a manual, by everything that can name them."""
    titled: dict[Number, list[ReferenceTarget]] = defaultdict(list)
    by_id: dict[Number, list[ReferenceTarget]] = defaultdict(list)
    children: dict[Number, list[ReferenceTarget]] = defaultdict(list)
    labelled: dict[str, list[ReferenceTarget]] = defaultdict(list)
    numbers: list[tuple[str, Number]] = []
    titles: list[tuple[ReferenceTarget, frozenset[str]]] = []
    for entry in entries:
        title = normalised(entry.title)
        match, label = _TITLE_NUMBER.match(title), _TITLE_LABEL.match(title)
        number = number_of(match) if match else None
        if number is not None:
            titled[number].append(entry)
        elif label is not None:
            labelled[label["label"] + label["number"]].append(entry)
        if number is None and (plain := _ID.fullmatch(normalised(entry.id))):
            number = Number("章", *plain.groups())
            by_id[number].append(entry)
        if number is not None:
            numbers.append((entry.id, number))
            if number.m is not None:
                children[number._replace(m=None)].append(entry)
        bare = title[match.end() if match else label.end() if label else 0 :]
        names = {text.replace(APART, "") for text in (title, bare)}
        titles.append((entry, frozenset(names - {""})))
    known = {entry.id: entry for entry in entries}
    return ReferenceTargets(known, titled, by_id, children, labelled, numbers, titles)


def number_of(match: re.Match[str]) -> Number:
    """Return the number of a match of ``NUMBERED``."""
    return Number(match["unit"], match["n"], match["inner"] or match["sub"])


def normalised(text: str) -> str:
    """Return a text in NFKC without blanks, its numbers in one spelling.

    A blank between two numbers becomes ``APART``, unless 第 and 章 or the like enclose both.
    """
    text = unicodedata.normalize("NFKC", text)
    text = _CLOSED.sub(lambda match: _BLANKS.sub("", match.group()), text)
    text = _BLANKS.sub("", _APART.sub(APART, text))
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


class ResolvedReference(NamedTuple):
    """The target of a reference if it is unambiguous, and all possible targets."""

    target: str | None
    candidates: tuple[ReferenceMatch, ...]


Sections = Callable[[str], Collection[str]]
"""Given an id, the numbers N of the lines in its text that begin with 第N節."""


class References:
    """References among the entries of a manual, each an id and its title.

    ``current`` is the id of the entry that contains the text; ``sections`` returns, for an id, the
    numbers of its own sections (``section_numbers`` of its text).
    """

    def __init__(self, entries: Iterable[tuple[str, str]]) -> None:
        self._targets = targets_of(tuple(ReferenceTarget(*entry) for entry in entries))

    def resolve(self, text: str, current: str | None, sections: Sections) -> ResolvedReference:
        """Return the target of a reference, and all possible targets."""
        target: str | None = None
        candidates: dict[str, ReferenceMatch] = {}
        for reference in _references(normalised(text)):
            matches, sure = reference(self._targets, current, sections)
            if target is None and sure:
                target = matches[0].id
            for candidate in matches:
                candidates.setdefault(candidate.id, candidate)
        chosen = sorted(candidates.values(), key=lambda match: match.id != target)
        return ResolvedReference(target, tuple(chosen[:_MOST]))

    def mentioned(self, text: str, current: str, sections: Sections) -> list[ReferenceMatch]:
        """Return the sure targets of a running text, in its order, except its own entry.

        Quoted words count only if を参照 or the like follows.
        """
        results: dict[str, ReferenceMatch] = {}
        for reference in _references(normalised(text), running=True):
            candidates, sure = reference(self._targets, current, sections)
            if sure and candidates[0].id != current:
                results.setdefault(candidates[0].id, candidates[0])
        return [*results.values()][:_MOST]

    @staticmethod
    def section_numbers(text: str) -> frozenset[str]:
        """Return the numbers of the lines of an NFKC text that begin with 第N節."""
        return frozenset(
            normalised(match[0])[1:-1]
            for start, end in _blocks(text)
            for match in _SECTION_LINE.finditer(text, start, end)
        )


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges of blocks of whole lines, of which one too long for a block is cut.

    A search through one block holds the interpreter for a few milliseconds.
    """
    start = 0
    while start < len(text):
        end = text.find("\n", start + _BLOCK) + 1 or len(text)
        yield start, min(end, start + 2 * _BLOCK)  # what follows in the last line begins none
        start = end


# --- kinds of references --------------------------------------------------------------------------

_Resolution = tuple[list[ReferenceMatch], bool]
_Reference = Callable[[ReferenceTargets, str | None, Sections], _Resolution]


def _references(text: str, *, running: bool = False) -> Iterator[_Reference]:
    """Yield the resolution of each reference in a text, in their order."""
    references: list[tuple[bool, int, _Reference]] = []
    chapter: Number | None = None
    end = -1
    for match in _POINTING.finditer(text):
        if match["label"]:
            label = match["label"] + match["number"]
            references.append((False, match.start(), partial(_labelled, label)))
        elif match["relative"]:
            references.append((False, match.start(), partial(_relative, match["relative"])))
        else:
            number = number_of(match)
            if number.unit == "節" and chapter is not None and match.start() == end:
                references.append((False, references.pop()[1], partial(_numbered, chapter, number)))
            else:
                references.append((False, match.start(), partial(_numbered, number, None)))
            chapter = number if number.unit == "章" else None
            end = match.end()
    for start, phrase in sorted(_phrases(text, running=running))[:_PHRASES]:
        words = _POINTING.sub("", phrase).replace(APART, "")
        if len(words) >= _SHORTEST:
            references.append((True, start, partial(_titled, words)))
    # A number wins over the words beside it.
    references.sort(key=itemgetter(0, 1))
    return (reference for *_, reference in references)


def _phrases(text: str, *, running: bool) -> Iterator[tuple[int, str]]:
    """Yield the positions of words that may be a title, quoted or before を参照, and the words."""
    for match in _QUOTED.finditer(text):
        if not running or _POINTS.match(text, match.end()):
            yield match.start(), match[1] or match[2]
    for points in _POINTS.finditer(text):
        before = text[max(0, points.start() - _LONGEST) : points.start()]
        words = _BEFORE.search(before)
        if words is not None:
            yield points.start() - len(words.group()), words.group()


def _labelled(
    name: str, targets: ReferenceTargets, _current: str | None, _sections: Sections
) -> _Resolution:
    """Resolve a label such as 別表1."""
    matches = [ReferenceMatch(*entry, "label") for entry in targets.labelled.get(name, ())]
    return matches, len(matches) == 1


def _relative(
    where: str, targets: ReferenceTargets, current: str | None, _sections: Sections
) -> _Resolution:
    """Resolve a relative reference such as 前章 from its own entry."""
    order = [(entry, number.n) for entry, number in targets.numbers if number.unit == "章"]
    at = next((place for place, (entry, _) in enumerate(order) if entry == current), None)
    if at is None:
        return [], False
    here = order[at][1]
    way = {"前": order[at::-1], "次": order[at:]}.get(where)
    n = here if way is None else next((other for _, other in way if other != here), None)
    matches = [] if n is None else targets.chapter(Number("章", n))
    return [entry._replace(rule="relative") for entry in matches], len(matches) == 1


def _numbered(
    number: Number,
    section: Number | None,
    targets: ReferenceTargets,
    current: str | None,
    sections: Sections,
) -> _Resolution:
    """Resolve 第3章, 第3章-1 or 第3章第2節; a section alone may also be inside a chapter."""
    joined = number
    if section is not None and number.m is None:
        joined = number._replace(m=section.n)
    matches = targets.chapter(joined)
    if not matches and section is not None:
        within = targets.chapter(number)
        containing = [match for match in within if section.n in sections(match.id)]
        matches = [match._replace(rule="heading") for match in containing] or within
    elif not matches and number.unit == "節":
        matches = _containing(number.n, targets, current, sections)
    return matches, len(matches) == 1


def _titled(
    words: str, targets: ReferenceTargets, _current: str | None, _sections: Sections
) -> _Resolution:
    """Resolve the words of a title."""
    pairs = _pairs(words)
    scored = [
        (max((_likeness(words, pairs, title) for title in titles), default=0.0), entry)
        for entry, titles in targets.titles
    ]
    alike = sorted((row for row in scored if row[0] >= _ALIKE), key=lambda row: -row[0])
    matches = [ReferenceMatch(*entry, "title") for _, entry in alike[:_MOST]]
    sure = len(alike) == 1 or (len(alike) > 1 and alike[0][0] - alike[1][0] >= _LEAD - 1e-9)
    return matches, sure


def _containing(
    n: str, targets: ReferenceTargets, current: str | None, sections: Sections
) -> list[ReferenceMatch]:
    """Return the chapters with such a section: the current one, or else any."""
    if current is not None and current in targets.entries and n in sections(current):
        return [ReferenceMatch(*targets.entries[current], "heading")]
    return [
        ReferenceMatch(*entry, "heading")
        for entry in targets.entries.values()
        if n in sections(entry.id)
    ]


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
