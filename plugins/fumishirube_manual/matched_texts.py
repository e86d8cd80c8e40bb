"""Counts distinct matching texts, with the place of the first match."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from fumishirube.text import FileText, TextRange, fold
from fumishirube_manual.line_pages import LinePlace
from fumishirube_manual.matching_lines import LineMatcher, MatchingLine, joined_lines
from fumishirube_manual.rows import HEADING_SEPARATOR

_LONGEST = 200
_BESIDE = 50
"""The most characters of the line on either side of a match."""
_HEADINGS, _LONG = 2, 80
_FEW = 20
"""Up to this many distinct texts are shown in their lines, unless no context is requested."""
_ROW_CHARS, _FILE_CHARS = 12, 4


class MatchedText(NamedTuple):
    """A matching text: the line of its first match, its count, and the heading and text there."""

    line: int
    number: int
    text: str
    within: str = ""


class FileMatches(NamedTuple):
    """The texts whose first match is in one file."""

    manual_id: str
    path: str
    texts: Sequence[MatchedText]


class MatchedTexts:
    """The distinct matching texts, counted file by file."""

    def __init__(self, matcher: LineMatcher, *, exact: bool, context: int | None) -> None:
        self._matcher = matcher
        self._exact = exact
        self._context = context
        self._counts: Counter[str] = Counter()
        self._first: dict[str, tuple[LinePlace, str, str]] = {}

    def __len__(self) -> int:
        return len(self._first)

    def add(self, manual_id: str, text: FileText, matches: Sequence[MatchingLine]) -> None:
        """Add the matching lines of a file."""
        lines = text.text.split("\n")
        written = [joined_lines(match.written(lines)) for match in matches]
        for match, line, spans in zip(
            matches, written, self._matcher.spans_of(written), strict=True
        ):
            for start, end in spans:
                if start > len(lines[match.number - 1]):
                    break  # a match on the next line is counted there
                shown = line[start:end].strip()[:_LONGEST]
                key = shown if self._exact else fold(shown)
                self._counts[key] += 1
                if key not in self._first:
                    place = LinePlace(manual_id, text.path, match.number)
                    within = ""
                    if self._context or (self._context is None and len(self) < _FEW):
                        within = HEADING_SEPARATOR.join(text.headings(match.number)[-_HEADINGS:])
                        if len(shown) < _LONG:
                            within += f": {_stretch(line, start, end)}"
                    self._first[key] = place, shown, within

    def page(self, offset: int, max_chars: int) -> tuple[list[FileMatches], int]:
        """Return the matches by the file of their first match, and the number of texts after them.

        The page begins with text number ``offset``, and has about ``max_chars`` characters.
        """
        rows: list[tuple[LinePlace, MatchedText]] = []
        file = None
        in_lines = bool(self._context) or len(self) <= _FEW
        for key, (place, shown, stretch) in [*self._first.items()][offset:]:
            within = stretch if in_lines else ""
            max_chars -= len(shown) + len(within) + _ROW_CHARS
            if place[:2] != file:
                file = place[:2]
                max_chars -= len(place.path) + _FILE_CHARS
            if max_chars < 0 and rows:
                break
            rows.append((place, MatchedText(place.line, self._counts[key], shown, within)))
        grouped = groupby(rows, key=lambda row: (row[0].manual_id, row[0].path))
        files = [
            FileMatches(manual_id, path, [text for _, text in texts])
            for (manual_id, path), texts in grouped
        ]
        return files, len(self) - offset - len(rows)


def _stretch(line: str, start: int, end: int) -> str:
    """Return a match with the text around it."""
    first, last = max(0, start - _BESIDE), min(len(line), end + _BESIDE)
    return TextRange(first, last, first > 0, last < len(line)).shown(line).strip()
