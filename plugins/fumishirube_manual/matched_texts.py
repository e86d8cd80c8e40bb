"""What matched, each text once: how often it stands, and where first."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from fumishirube.text import FileText, fold
from fumishirube_manual.line_pages import section_of
from fumishirube_manual.matching_lines import LineMatcher, MatchingLine

_LONGEST = 200


class MatchedText(NamedTuple):
    """A text that matched, how often, where first, and below which headings."""

    text: str
    number: int
    place: str
    section: str


class MatchedTexts:
    """The different texts that matched, counted while files come in."""

    def __init__(self, matcher: LineMatcher, *, exact: bool) -> None:
        self._matcher = matcher
        self._exact = exact
        self._counts: Counter[str] = Counter()
        self._first: dict[str, tuple[str, str, str]] = {}

    def add(self, manual_id: str, text: FileText, matches: Sequence[MatchingLine]) -> None:
        """Take in the matching lines of a file."""
        lines = text.text.split("\n")
        written = [lines[match.number - 1] for match in matches]
        for match, line, spans in zip(
            matches, written, self._matcher.spans_of(written), strict=True
        ):
            for start, end in spans:
                shown = line[start:end].strip()[:_LONGEST]
                key = shown if self._exact else fold(shown)
                self._counts[key] += 1
                if key not in self._first:
                    place = f"manual://{manual_id}/{text.path}#L{match.number}"
                    section = section_of(text.headings(match.number), text.path)
                    self._first[key] = (shown, place, section)

    def rows(self, max_chars: int, *, several: bool) -> tuple[list[MatchedText], int]:
        """Return what matched, the most frequent first, and how many are left."""
        ordered = sorted(self._counts, key=lambda key: (-self._counts[key], key))
        rows: list[MatchedText] = []
        for key in ordered:
            shown, place, section = self._first[key]
            if not several:
                place = place.removeprefix("manual://").partition("/")[2]
            row = MatchedText(shown, self._counts[key], place, section)
            max_chars -= len(json.dumps(row, ensure_ascii=False)) + 1
            if max_chars < 0 and rows:
                break
            rows.append(row)
        return rows, len(ordered) - len(rows)
