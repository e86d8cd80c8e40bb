"""Counts distinct matching texts, with the place of the first match."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fumishirube.commands import digest
from fumishirube.text import FileText, TextRange, fold
from fumishirube_manual.grep.matching_lines import (
    LineMatcher,
    LinePlace,
    MatchingLine,
    joined_lines,
)
from fumishirube_manual.rows import HEADING_SEPARATOR
from fumishirube_manual.text_parts import heading_of, section_of, unrepeated

_LONGEST = 200
"""The most characters of a text that are shown; texts are compared whole."""
_BESIDE = 50
"""The most characters of the line on either side of a match."""
_HEADINGS, _LONG = 2, 80
_FEW = 20
"""Up to this many distinct texts are shown in their lines, unless no context is requested."""
_OTHERS = 2
"""If a text has up to this many further places, they are named beside it.

If it has more, up to this many lines are shown where other characters are beside it.
"""
_ROW_CHARS, _FILE_CHARS = 12, 4


class MatchedText(NamedTuple):
    """A matching text: the line of its first match, its count, and the heading and text there.

    ``also`` are its other places, if they are few. If they are many, ``within`` goes on with
    those where it stands between other characters.
    """

    line: int
    number: int
    text: str
    within: str = ""
    also: tuple[str, ...] = ()


class MatchedTexts:
    """The distinct matching texts, counted file by file."""

    def __init__(self, matcher: LineMatcher, *, exact: bool, context: int | None) -> None:
        self._matcher = matcher
        self._exact = exact
        self._context = context
        self._counts: Counter[str] = Counter()
        self._first: dict[str, tuple[LinePlace, str, str]] = {}
        self._later: defaultdict[str, list[LinePlace]] = defaultdict(list)
        self._forms: defaultdict[str, dict[tuple[str, str], tuple[LinePlace, str]]] = defaultdict(
            dict
        )

    def __len__(self) -> int:
        return len(self._first)

    def add(self, manual_id: str, text: FileText, matches: Sequence[MatchingLine]) -> None:
        """Add the matching lines of a file."""
        lines = text.text.split("\n")
        written = [joined_lines(match.written(lines)) for match in matches]
        known = [match.spans for match in matches if match.spans is not None]
        spans_of_lines = known if len(known) == len(matches) else self._matcher.spans_of(written)
        for match, line, spans in zip(matches, written, spans_of_lines, strict=True):
            place = LinePlace(manual_id, text.path, match.number)
            for start, end in spans:
                if start > len(lines[match.number - 1]):
                    break  # a match on the next line is counted there
                shown = line[start:end].strip()
                if not shown:
                    continue
                key = _key(shown if self._exact else fold(shown))
                self._counts[key] += 1
                if is_short := len(shown) < _LONG:
                    self._note_form(key, place, line, (start, end))
                if key in self._first:
                    if self._counts[key] <= _OTHERS + 1:
                        self._later[key].append(place)
                    continue
                beside = self._context or (self._context is None and len(self) < _FEW)
                around = _stretch(line, start, end) if is_short else ""
                within = _within(text, match.number, line, around, shown) if beside else ""
                cut = f"{shown[:_LONGEST]}…" if len(shown) > _LONGEST else shown
                self._first[key] = place, cut, within

    def page(
        self, offset: int, max_chars: int
    ) -> tuple[Sequence[tuple[LinePlace, MatchedText]], int]:
        """Return matches with the places of the first, and the number of texts after them.

        The page begins with text number ``offset``, and has about ``max_chars`` characters.
        """
        rows: list[tuple[LinePlace, MatchedText]] = []
        file = None
        in_lines = self._context or (self._context is None and len(self) <= _FEW)
        for key, (place, shown, stretch) in [*self._first.items()][offset:]:
            within = stretch if in_lines else ""
            also = self._others(key, place) if in_lines else ()
            if in_lines and self._counts[key] > _OTHERS + 1:
                within = " | ".join(filter(None, (within, *self._examples(key, place))))
            max_chars -= len(shown) + len(within) + sum(map(len, also)) + _ROW_CHARS
            if place[:2] != file:
                file = place[:2]
                max_chars -= len(place.path) + _FILE_CHARS
            if max_chars < 0 and rows:
                break
            rows.append((place, MatchedText(place.line, self._counts[key], shown, within, also)))
        return rows, len(self) - offset - len(rows)

    def _note_form(self, key: str, place: LinePlace, line: str, span: tuple[int, int]) -> None:
        """Keep a match if other characters are beside it than beside those kept."""
        start, end = span
        before, after = line[max(0, start - 1) : start], line[end : end + 1]
        forms, beside = self._forms[key], (before.strip(), after.strip())
        if len(forms) <= _OTHERS and beside not in forms:
            forms[beside] = place, _stretch(line, start, end)

    def _examples(self, key: str, first: LinePlace) -> Iterator[str]:
        """Yield a text's other forms: its place, and the text around it."""
        for place, around in self._forms[key].values():
            if place != first:
                yield f"{place.relative_to(first)}: {around}"

    def _others(self, key: str, first: LinePlace) -> tuple[str, ...]:
        """Return the other places of a text, if they are few; each line once."""
        if self._counts[key] > _OTHERS + 1:
            return ()
        places = dict.fromkeys(place for place in self._later[key] if place != first)
        return tuple(place.relative_to(first) for place in places)


def _key(text: str) -> str:
    """Return a text, or the hash of a long one, of which a file may have very many."""
    return text if len(text) <= _LONGEST else digest(text, 64)


def _within(text: FileText, number: int, line: str, around: str, shown: str) -> str:
    """Return the last headings above a match, and the text around it if it is more."""
    headings = unrepeated(text.headings(number))
    section = section_of(headings, text.path)
    if headings and around and heading_of(line) == headings[-1]:
        around = around.strip("# \t")
        headings.pop()
    named = section and HEADING_SEPARATOR.join(headings[-_HEADINGS:])
    return ": ".join(filter(None, (named, "" if around == shown else around)))


def _stretch(line: str, start: int, end: int) -> str:
    first, last = max(0, start - _BESIDE), min(len(line), end + _BESIDE)
    return TextRange(first, last, first > 0, last < len(line)).shown(line).strip()
