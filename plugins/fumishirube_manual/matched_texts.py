"""What matched, each text once: how often it stands, and where first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from fumishirube.text import FileText, TextRange, fold
from fumishirube_manual.line_pages import LinePlace
from fumishirube_manual.matching_lines import LineMatcher, MatchingLine, on_one_line

_LONGEST = 200
_BESIDE = 50
"""So many characters on either side of a match are shown of its line, where that is wanted."""
_ROW_CHARS, _FILE_CHARS = 12, 4


class MatchedText(NamedTuple):
    """A text that matched: the line of the first place, how often, and what it stands in there."""

    line: int
    number: int
    text: str
    within: str = ""


class FileMatches(NamedTuple):
    """The texts whose first place is in one file."""

    manual_id: str
    path: str
    texts: Sequence[MatchedText]


class MatchedTexts:
    """The different texts that matched, counted while files come in."""

    def __init__(self, matcher: LineMatcher, *, exact: bool, within: bool) -> None:
        self._matcher = matcher
        self._exact = exact
        self._within = within
        self._counts: Counter[str] = Counter()
        self._first: dict[str, tuple[LinePlace, str, str]] = {}

    def __len__(self) -> int:
        return len(self._first)

    def add(self, manual_id: str, text: FileText, matches: Sequence[MatchingLine]) -> None:
        """Take in the matching lines of a file."""
        lines = text.text.split("\n")
        written = [on_one_line(match.written(lines)) for match in matches]
        for match, line, spans in zip(
            matches, written, self._matcher.spans_of(written), strict=True
        ):
            for start, end in spans:
                if start > len(lines[match.number - 1]):
                    break  # the next line counts for itself
                shown = line[start:end].strip()[:_LONGEST]
                key = shown if self._exact else fold(shown)
                self._counts[key] += 1
                if key not in self._first:
                    within = _stretch(line, start, end) if self._within else ""
                    place = LinePlace(manual_id, text.path, match.number)
                    self._first[key] = place, shown, within

    def page(self, offset: int, max_chars: int) -> tuple[list[FileMatches], int]:
        """Return what matched, by the file of its first place, and how many texts come after.

        It begins with the text number ``offset``, and takes about so many characters.
        """
        rows: list[tuple[LinePlace, MatchedText]] = []
        file = None
        for key, (place, shown, within) in [*self._first.items()][offset:]:
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
    """Return what a match stands in, with as much on either side as is shown."""
    first, last = max(0, start - _BESIDE), min(len(line), end + _BESIDE)
    return TextRange(first, last, first > 0, last < len(line)).shown(line).strip()
