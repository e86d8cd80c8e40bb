"""The entries of a manual, by the numbers and labels at the beginning of their titles."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
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

    def chapter(self, number: Number) -> tuple[list[ReferenceMatch], Rule]:
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
                return [ReferenceMatch(*entry, rule) for entry in entries], rule
        return [], "number"


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
