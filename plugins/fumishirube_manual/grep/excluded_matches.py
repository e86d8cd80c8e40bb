"""Leaves out matching lines, or matching texts, that a further pattern matches."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from operator import itemgetter

from fumishirube.text import FileText, Reading
from fumishirube_manual.grep.matching_lines import LineMatcher, MatchingLine, Spans, joined_lines
from fumishirube_manual.grep.pattern_lines import PatternMatcher


class ExcludingMatcher:
    """Finds what a matcher finds, without what another pattern matches.

    With ``matches`` a matching text is left out if the pattern matches it, or matches a part of
    its line that overlaps it, and a line is left out if no match remains. Otherwise a line is left
    out if the pattern matches anywhere in it. ``left_out`` counts the lines.
    """

    def __init__(self, matcher: LineMatcher, excluded: PatternMatcher, *, matches: bool) -> None:
        self.left_out = 0
        self._matcher = matcher
        self._excluded = excluded
        self._matches = matches

    @property
    def readings(self) -> Sequence[Reading]:
        """The readings by which the index can exclude files."""
        return self._matcher.readings

    @property
    def unfinished(self) -> int:
        """The number of searches that either pattern did not finish."""
        return self._matcher.unfinished + self._excluded.unfinished

    def lines(self, text: FileText) -> Sequence[MatchingLine]:
        """Return the matching lines that are not left out."""
        matching = self._matcher.lines(text)
        lines = text.text.split("\n")
        written = [joined_lines(line.written(lines)) for line in matching]
        if self._matches:
            remaining = [
                line._replace(spans=spans)
                for line, spans in zip(matching, self.spans_of(written), strict=True)
                if any(start <= len(lines[line.number - 1]) for start, _ in spans)
            ]
        else:
            out = self._excluded.matching(written)
            remaining = [line for number, line in enumerate(matching) if number not in out]
        self.left_out += len(matching) - len(remaining)
        return remaining

    def spans_of(self, lines: Sequence[str]) -> Sequence[Spans]:
        """Return the spans of the remaining matches in each of several lines."""
        spans_of_lines = self._matcher.spans_of(lines)
        if not self._matches:
            return spans_of_lines
        texts = list(
            dict.fromkeys(
                line[start:end]
                for line, spans in zip(lines, spans_of_lines, strict=True)
                for start, end in spans
            )
        )
        numbers = self._excluded.matching(texts)
        out = {texts[number] for number in numbers}
        return [
            [
                (start, end)
                for start, end in spans
                if line[start:end] not in out and not _overlaps(start, end, excluded)
            ]
            for line, spans, excluded in zip(
                lines, spans_of_lines, self._excluded.spans_of(lines), strict=True
            )
        ]


def _overlaps(start: int, end: int, spans: Spans) -> bool:
    """Tell whether a span shares a character with any of the others, which are in order."""
    following = bisect_right(spans, start, key=itemgetter(1))
    return following < len(spans) and spans[following][0] < end
