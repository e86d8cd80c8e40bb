"""Readings: patterns that match a text as a reader would."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from fumishirube.text.folding import nfkc
from fumishirube.text.projections import FOLDED, project
from fumishirube.text.scripts import (
    DEPENDENT,
    HAN,
    HANGUL,
    HIRAGANA,
    INDIC,
    JOINED,
    KATAKANA,
    UNSPACED,
    fold_letters,
)
from fumishirube.text.word_forms import after_number, before_number, inflected

_DASHES = "\u2010\u2012\u2013\u2014\u2015\u2043\u2212"
_HUMPS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?!s\Z)[a-z])")
# Patterns with whole scripts take milliseconds, so that this one is compiled at its first use.
_UNITS = (
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
_JAPANESE = ("han", "hiragana", "katakana")
_WORDS = ("letters", "digits", "hangul", "unspaced", *_JAPANESE)

_BLANK = r"[^\S\n]"
_JAPANESE_GAP = f"(?:(?:{_BLANK}|\u30fb){{0,3}}|{_BLANK}*\\n{_BLANK}*)"
_GAP = r"(?:[^\S\n]|[_*`-])"
_EMPHASIS = "(?:`+|[*][*]?|__?)?"
"""The end of code or emphasis between a word and a mark: ``**Note**:``, ```core.editor`::``."""
_LINE_END = r"[^\S\n]*\n[^\S\n]*(?:>[^\S\n]*)?"
_BLOCK = re.compile(r"\s*(?:#|\||```|~~~|[-*+] |[0-9]{1,3}[.)] |$)")
"""The beginning of a line that neither continues the line before nor continues in the next."""
_ROW_OR_HEADING = re.compile(r"\s*(?:#|\||```|~~~|$)")
_WIDEST = 6
_SHORTEST, _TOGETHER = 2, 5
"""Words of so many letters, each and together, also match when joined: set up, setup; not a_b."""
_VOICED = frozenset("\u3099\u309a")
"""Marks of sound; in the index the characters beside them are no runs as in the text."""
_NO_MARK = f"(?![{DEPENDENT}])"
"""A character with a combining mark is another one."""


class _Unit(NamedTuple):
    kind: str
    text: str


class Reading(NamedTuple):
    """A text to search, compiled to a pattern.

    ``pattern`` matches in :func:`reading_form` of a line, or in the line itself when it is
    ``exact``. ``stems`` are words, digits and Japanese runs that occur in every line with a match,
    folded; without stems, any line may match.
    """

    text: str
    exact: bool
    pattern: re.Pattern[str]
    stems: tuple[str, ...]

    def matching_lines(self, text: str, form: str) -> Iterator[tuple[int, int]]:
        """Yield the lines of a text in which a match begins, given the form of the text too.

        Each comes with the line in which its first match ends, which is the next one if the end of
        a line divides its words; both are counted from 1.
        """
        searched = text if self.exact else form
        line, place = 1, 0
        while (match := self.pattern.search(searched, place)) is not None:
            line += searched.count("\n", place, match.start())
            if "\n" in match.group() and not _wraps_at(searched, match):
                place = match.start() + 1
                continue
            yield line, line + match.group().count("\n")
            end = searched.find("\n", match.start())
            if end < 0:
                return
            line, place = line + 1, end + 1

    def spans(self, line: str) -> list[tuple[int, int]]:
        """Return where a line matches, in its own characters."""
        if self.exact:
            return [match.span() for match in self.pattern.finditer(line)]
        projection = project(line, FOLDED)
        form = _with_one_dash(projection.text)
        return [projection.span(*match.span()) for match in self.pattern.finditer(form)]


def wraps(line: str, following: str) -> bool:
    """Tell whether running text continues from a line to the next: not from a heading, or a row."""
    return not _ROW_OR_HEADING.match(line) and not _BLOCK.match(following)


def _wraps_at(text: str, match: re.Match[str]) -> bool:
    start = text.rfind("\n", 0, match.start()) + 1
    lines = text[start : match.end()].split("\n")
    return all(wraps(*pair) for pair in pairwise(lines))


def reading_form(text: str) -> str:
    """Return the form in which lines are compared: NFKC, case and letters folded, dashes alike.

    It has as many lines as the text.
    """
    return text.lower() if text.isascii() else _with_one_dash(fold_letters(nfkc(text).casefold()))


def _with_one_dash(text: str) -> str:
    for dash in _DASHES:  # str.translate takes a thousand times as long
        text = text.replace(dash, "-")
    return text


@lru_cache(maxsize=256)
def reading(text: str, *, exact: bool = False, word: bool = False) -> Reading | None:
    """Compile a text to search; return ``None`` if it is only white space, or what is removed.

    With ``exact`` it matches letter by letter. Else width, case and the spellings that
    :func:`fold_letters` folds are ignored; numbers are not cut (``5 秒`` is not in 15 秒); spaces,
    hyphens and underscores between words, and between a number and its unit, may be others or none;
    a space may be the end of a line of running text, which may divide words of Japanese; English
    words match their plural and singular;
    and a space at either end means the border of a word, which ``word`` requires at both.
    """
    if not text.strip() or "\n" in text or "\r" in text:
        return None
    if exact:
        units = _divided(text)
        edges = _edges(units, before=word, after=word)
        pattern = re.compile(f"{edges[0]}{re.escape(text)}{edges[1]}")
        return Reading(text, exact, pattern, _exact_stems(text))
    wide = fold_letters(nfkc(text))
    if not wide.strip():
        return None
    units = _divided(wide.strip())
    before, after = _edges(
        units, before=word or wide[:1].isspace(), after=word or wide[-1:].isspace()
    )
    written, stems = _written(units, closed=bool(after))
    if not _VOICED.isdisjoint(wide):
        stems = ()
    numbers = _number_borders(units)
    whole = _NO_MARK if units[-1].kind in _WORDS else ""
    pattern = re.compile(f"{before}{numbers[0]}{written}{numbers[1]}{after}{whole}")
    return Reading(text, exact, pattern, stems)


def _divided(text: str) -> list[_Unit]:
    """Return the units of a text in its own case: words at their humps, numbers, and marks."""
    units: list[_Unit] = []
    for match in re.compile(_UNITS).finditer(text):
        kind = match.lastgroup or "mark"
        parts = _HUMPS.split(match.group()) if kind == "letters" else [match.group()]
        for number, part in enumerate(parts):
            if number:
                units.append(_Unit("gap", ""))
            units.append(_Unit(kind, part))
    return units


def _edges(units: Sequence[_Unit], *, before: bool, after: bool) -> tuple[str, str]:
    """Return the conditions that prevent a pattern from matching inside a word."""
    first = _SCRIPTS.get(units[0].kind) if before else None
    last = _SCRIPTS.get(units[-1].kind) if after else None
    return f"(?<!{first})" if first else "", f"(?!{last})" if last else ""


def _number_borders(units: Sequence[_Unit]) -> tuple[str, str]:
    """Return the conditions that prevent the first and the last number from being cut."""
    before = after = ""
    if units[0].kind == "digits":
        before = before_number(units[0].text)
    if units[-1].kind == "digits":
        dotted = [unit.kind for unit in units[-3:]] == ["digits", "mark", "digits"]
        after = after_number(units[-1].text, dotted=dotted and units[-2].text == ".")
    return before, after


def _written(units: Sequence[_Unit], *, closed: bool) -> tuple[str, tuple[str, ...]]:
    """Return the pattern of the units, and their stems."""
    parts: list[str] = []
    stems: list[str] = []
    previous: _Unit | None = None
    gap: str | None = None
    for place, unit in enumerate(units):
        if unit.kind == "gap":
            following = units[place + 1] if place + 1 < len(units) else None
            if _separates(unit, previous, following):
                gap = unit.text
            else:
                parts += [_between(previous, gap, _Unit("mark", unit.text)), re.escape(unit.text)]
                previous, gap = _Unit("mark", unit.text), None
            continue
        last = place == len(units) - 1
        parts.append(_between(previous, gap, unit))
        pattern, stem = _unit_pattern(unit, last=last, closed=closed)
        parts.append(pattern)
        if stem:
            stems.append(stem)
        previous, gap = unit, None
    return "".join(parts), tuple(dict.fromkeys(stems))


def _separates(unit: _Unit, previous: _Unit | None, following: _Unit | None) -> bool:
    """Tell whether white space or hyphens only separate; at an end, or at a mark, they do not."""
    if unit.text.isspace() or not unit.text:
        return True
    return bool(
        previous and following and previous.kind in _WORDS and following.kind in _WORDS
    ) and not (previous and following and previous.kind == following.kind == "digits")


def _between(previous: _Unit | None, gap: str | None, unit: _Unit) -> str:
    if previous is None:
        return ""
    kinds = previous.kind, unit.kind
    if "mark" in kinds:
        ends = _EMPHASIS if previous.kind in _WORDS and gap is None else ""
        return f"{_BLANK}*" if gap is not None or "digits" in kinds else ends
    if kinds == ("digits", "digits"):
        return f"(?:{_BLANK}+|{_LINE_END})"
    least, widest = 0, max(_WIDEST, len(gap or ""))
    if kinds == ("letters", "letters") and gap and (gap.isspace() or "_" in gap):
        lengths = len(previous.text), len(unit.text)
        least = int(min(lengths) < _SHORTEST or sum(lengths) < _TOGETHER)
    between = f"{_GAP}{{{least},{widest}}}"
    if gap is not None and gap.isspace():
        between = f"(?:{between}|{_LINE_END})"
    japanese = previous.kind in _JAPANESE and unit.kind in _JAPANESE
    return f"(?:{_JAPANESE_GAP}|{between})" if japanese else between


def _unit_pattern(unit: _Unit, *, last: bool, closed: bool) -> tuple[str, str]:
    """Return the pattern of one unit, and its constant part if it is a word."""
    text = _with_one_dash(unit.text.casefold())
    if unit.kind in _JAPANESE:
        return _JAPANESE_GAP.join(map(re.escape, text)), text
    if unit.kind == "digits":
        return re.escape(text), text
    if unit.kind == "letters":
        return _word_pattern(text, last=last, closed=closed)
    return re.escape(text), ""


def _word_pattern(word: str, *, last: bool, closed: bool) -> tuple[str, str]:
    """Return the pattern of an English word in plural and singular, and their common beginning."""
    stem, endings = inflected(word)
    if not endings:
        return re.escape(word), word
    if not last or closed:
        return f"{re.escape(stem)}(?:{'|'.join(endings)})", stem
    # At the end of the pattern the given form may continue in a longer word; other forms may not.
    own = word[len(stem) :]
    if not own:
        return re.escape(stem), stem
    others = "|".join(ending for ending in endings if ending != own)
    return f"{re.escape(stem)}(?:{own}|(?:{others})(?![a-z]))", stem


def _exact_stems(text: str) -> tuple[str, ...]:
    """Return the folded runs of a text that is searched letter by letter.

    Neighbours in a line may join its first and last characters, which are left out.
    """
    form = reading_form(text)
    if not _VOICED.isdisjoint(form):
        return ()
    stems = []
    for match in re.compile(_UNITS).finditer(form):
        if match.lastgroup in _WORDS:
            first = match.start() == 0 and not match.group().isascii()
            last = match.end() == len(form)
            stems.append(match.group()[int(first) : len(match.group()) - int(last)])
    return tuple(dict.fromkeys(filter(None, stems)))
