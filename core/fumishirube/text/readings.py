"""Readings: patterns that match a text as a reader would."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from fumishirube.text.folding import DEPENDENT, fold_letters, nfkc
from fumishirube.text.projections import FOLDED, project
from fumishirube.text.text_units import (
    JAPANESE,
    UNITS,
    WORDS,
    TextUnit,
    divided,
    edges,
    number_borders,
    with_one_dash,
)
from fumishirube.text.word_forms import cuts_number, inflected

_NAMES = (("letters", "letters"), ("letters", "digits"))
"""The first two units of a text whose first one is no end of a longer word."""
_GAPS = r"\s_*`-"
"""The characters of a gap, as the inside of a class."""
_BLANK = r"[^\S\n]"
_JAPANESE_GAP = f"(?:(?:{_BLANK}|\u30fb){{0,3}}|{_BLANK}*\\n{_BLANK}*)"
_GAP = r"(?:[^\S\n]|[_*`-])"
_EMPHASIS = "(?:`+|[*][*]?|__?)?"
"""The end of code or emphasis between a word and a mark: ``**Note**:``, ```core.editor`::``."""
_LINE_END = r"[^\S\n]*\n[^\S\n]*(?:>[^\S\n]*)?"
_BLOCK = re.compile(r"\s*(?:#|\||```|~~~|[-*+] |[0-9]{1,3}[.)] |$)")
"""The beginning of a line that neither continues the line before nor continues in the next."""
_ROW_OR_HEADING = re.compile(r"\s*(?:#|\||```|~~~|$)")
_NO_MINUS = r"(?<!\s-)(?<!\s[_*`]-)(?<!\s[_*]{2}-)"
"""After a blank, a hyphen is the sign of the number; after code or emphasis, it joins two words."""
_WIDEST = 6
_SHORTEST, _TOGETHER = 2, 5
"""Words of so many letters, each and together, also match when joined: set up, setup; not a_b."""
_VOICED = frozenset("\u3099\u309a")
"""Marks of sound; in the index the characters beside them are no runs as in the text."""
_SPACED_LETTER = r"[^\W\d_\u3005-\u9fff\uac00-\U0010ffff]"
"""A letter, but of no script that is written beside others without a space, as far as is fast."""
_NO_MARK = f"(?![{DEPENDENT}])"
"""A character with a combining mark is another one."""


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

    def matching_lines(
        self, text: str, form: str, goes_on: Callable[[int], bool] | None = None
    ) -> Iterator[tuple[int, int]]:
        """Yield the lines of a text in which a match begins, given the form of the text too.

        Each comes with the line in which its first match ends, which is the next one if the end of
        a line divides its words; both are counted from 1. Only lines of running text go on in the
        next one; of those that look so, ``goes_on`` decides.
        """
        searched = text if self.exact else form
        line, place = 1, 0
        while (match := self._match(searched, place)) is not None:
            line += searched.count("\n", place, match.start())
            last = line + match.group().count("\n")
            if last > line and not (
                _wraps_at(searched, match)
                and (goes_on is None or all(map(goes_on, range(line, last))))
            ):
                place = match.start() + 1
                continue
            yield line, last
            end = searched.find("\n", match.start())
            if end < 0:
                return
            line, place = line + 1, end + 1

    def spans(self, line: str) -> list[tuple[int, int]]:
        """Return where a line matches, in its own characters."""
        if self.exact:
            return [match.span() for match in self.pattern.finditer(line)]
        projection = project(line, FOLDED)
        form, place, spans = with_one_dash(projection.text), 0, []
        while (match := self._match(form, place)) is not None:
            spans.append(projection.span(*match.span()))
            place = match.end()
        return spans

    def _match(self, searched: str, place: int) -> re.Match[str] | None:
        """Return the first match from a place on; unless ``exact``, it cuts no number."""
        while (match := self.pattern.search(searched, place)) is not None:
            if self.exact or not cuts_number(searched, *match.span()):
                break
            place = match.start() + 1
        return match


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
    return text.lower() if text.isascii() else with_one_dash(fold_letters(nfkc(text).casefold()))


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
        units = divided(text)
        before, after = edges(units, before=word, after=word)
        pattern = re.compile(f"{before}{re.escape(text)}{after}")
        return Reading(text, exact, pattern, _exact_stems(text))
    wide = fold_letters(nfkc(text))
    if not wide.strip():
        return None
    units = divided(wide.strip())
    before, after = edges(
        units, before=word or wide[:1].isspace(), after=word or wide[-1:].isspace()
    )
    written, stems = _written(units, closed=bool(after))
    if not _VOICED.isdisjoint(wide):
        stems = ()
    numbers = number_borders(units)
    whole = _NO_MARK if units[-1].kind in WORDS else ""
    pattern = re.compile(f"{before}{numbers[0]}{written}{numbers[1]}{after}{whole}")
    return Reading(text, exact, pattern, stems)


def _written(units: Sequence[TextUnit], *, closed: bool) -> tuple[str, tuple[str, ...]]:
    """Return the pattern of the units, and their stems."""
    parts: list[str] = []
    stems: list[str] = []
    previous: TextUnit | None = None
    gap: str | None = None
    for place, unit in enumerate(units):
        if unit.kind == "gap":
            following = units[place + 1] if place + 1 < len(units) else None
            if _separates(unit, previous, following):
                gap = unit.text
            else:
                parts += [
                    _between(previous, gap, TextUnit("mark", unit.text)),
                    re.escape(unit.text),
                ]
                previous, gap = TextUnit("mark", unit.text), None
            continue
        last = place == len(units) - 1
        parts.append(_between(previous, gap, unit))
        pattern, stem = _unit_pattern(unit, last=last, closed=closed)
        if previous is units[0] and (previous.kind, unit.kind) in _NAMES:
            parts[1] = _whole_before(gap or "", stems[0], parts[1])
        parts.append(pattern)
        if last and previous and previous.kind in WORDS:
            parts.append(_whole_after(gap or "", unit))
        if stem:
            stems.append(stem)
        previous, gap = unit, None
    return "".join(parts), tuple(dict.fromkeys(stems))


def _separates(unit: TextUnit, previous: TextUnit | None, following: TextUnit | None) -> bool:
    """Tell whether white space or hyphens only separate; at an end, or at a mark, they do not."""
    if unit.text.isspace() or not unit.text:
        return True
    return bool(
        previous and following and previous.kind in WORDS and following.kind in WORDS
    ) and not (previous and following and previous.kind == following.kind == "digits")


def _between(previous: TextUnit | None, gap: str | None, unit: TextUnit) -> str:
    if previous is None:
        return ""
    kinds = previous.kind, unit.kind
    if "mark" in kinds:
        ends = _EMPHASIS if previous.kind in WORDS and gap is None else ""
        return f"{_BLANK}*" if gap is not None or "digits" in kinds else ends
    if kinds == ("digits", "digits"):
        return f"(?:{_BLANK}+|{_LINE_END})"
    least, widest = 0, max(_WIDEST, len(gap or ""))
    if kinds == ("letters", "letters") and gap and (gap.isspace() or "_" in gap):
        lengths = len(previous.text), len(unit.text)
        least = int(min(lengths) < _SHORTEST or sum(lengths) < _TOGETHER)
    between = f"{_GAP}{{{least},{widest}}}"
    if unit.kind == "digits" and "-" not in (gap or ""):
        between += _NO_MINUS
    if gap is not None and gap.isspace():
        between = f"(?:{between}|{_LINE_END})"
    japanese = previous.kind in JAPANESE and unit.kind in JAPANESE
    return f"(?:{_JAPANESE_GAP}|{between})" if japanese else between


def _whole_before(gap: str, stem: str, pattern: str) -> str:
    """Return the pattern of a first word which, before another gap, ends no longer word.

    So ``ETag`` is in ``removeETag`` and ``e-tag``, but not in ``the tag``.
    """
    stem = re.escape(stem)
    endings = pattern.removeprefix(stem)
    other = f"(?!{endings}[{_other_gaps(gap[:1])}])"
    return f"{stem}(?:(?<!{_letter(stem)}{stem})|{other}){endings}"


def _whole_after(gap: str, unit: TextUnit) -> str:
    """Return the condition by which one letter, after another gap, begins no longer word."""
    if unit.kind != "letters" or len(unit.text) >= _SHORTEST:
        return ""
    own = re.escape(unit.text.casefold())
    return f"(?:(?!{_letter(own)})|(?<![{_other_gaps(gap[-1:])}]{own}))"


def _letter(word: str) -> str:
    return "[a-z]" if word.isascii() else _SPACED_LETTER


def _other_gaps(mark: str) -> str:
    return _GAPS.replace(r"\s" if mark.isspace() else mark, "")


def _unit_pattern(unit: TextUnit, *, last: bool, closed: bool) -> tuple[str, str]:
    """Return the pattern of one unit, and its constant part if it is a word."""
    text = with_one_dash(unit.text.casefold())
    if unit.kind in JAPANESE:
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
    for match in re.compile(UNITS).finditer(form):
        if match.lastgroup in WORDS:
            first = match.start() == 0 and not match.group().isascii()
            last = match.end() == len(form)
            stems.append(match.group()[int(first) : len(match.group()) - int(last)])
    return tuple(dict.fromkeys(filter(None, stems)))
