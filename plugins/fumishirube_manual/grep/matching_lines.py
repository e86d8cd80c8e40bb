"""Matching lines: those with a text, as a reader would find it, and how long ones are cut."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple, Protocol

from fumishirube.text import FileText, Reading, TextRange, reading_form
from fumishirube_manual.evidence.blocks import sentence_goes_on
from fumishirube_manual.evidence.code_blocks import inside_code
from fumishirube_manual.evidence.excerpts import whole_words
from fumishirube_manual.evidence.markup import rendered
from fumishirube_manual.rows import cited_path

QUOTED = " \t>"
"""What is before the text of a line in quotations."""

_DATA = (".csv", ".json", ".tsv")
"""The ends of names of files whose lines are rows."""

Spans = Sequence[tuple[int, int]]

WHOLE = 400
"""The most characters of a line that is shown whole."""
_SHOWN = 360
_MATCHES = 3
_BELOW_LABEL = 100
_LEAST_AROUND = 30
_NEW_SENTENCE = re.compile(r"[.!?](?=\s)|[。！？]")
_WRAPPED = range(40, 200)
"""A line with fewer or more characters is not wrapped: the next one is no part of its sentence."""
_ABOVE, _BELOW = 2, 3
"""The most lines in which a sentence begins before its match, and goes on after it."""


class LinePlace(NamedTuple):
    """A line of a file of a manual."""

    manual_id: str
    path: str
    line: int

    def relative_to(self, other: LinePlace) -> str:
        """Return the place relative to another one."""
        if self.manual_id != other.manual_id:
            return f"{cited_path(self.path, self.manual_id)}#L{self.line}"
        return (
            f"{cited_path(self.path)}#L{self.line}" if self.path != other.path else f"L{self.line}"
        )


class MatchingLine(NamedTuple):
    """The number of a matching line from 1, and the indexes of the texts that match in it.

    ``last`` is the line in which the last match ends: a match may continue after the end of a line.
    ``spans`` are those of its matches in its joined lines, where they are known.
    """

    number: int
    texts: tuple[int, ...]
    last: int
    spans: Spans | None = None

    def written(self, lines: Sequence[str]) -> Sequence[str]:
        """Return the lines of its matches, given all lines of the file."""
        return lines[self.number - 1 : self.last]


def joined_lines(written: Sequence[str]) -> str:
    """Join lines of running text; remove the quote marks (``>``) of those after the first."""
    first, *rest = written
    return " ".join([first.rstrip(), *(line.strip(QUOTED) for line in rest)]) if rest else first


def running_text(text: FileText) -> Callable[[int], bool]:
    """Return a function that tells whether a line, counted from 1, may go on in the next one.

    Rows of data do not, nor lines of code.
    """
    data = text.path.lower().endswith(_DATA)
    in_code = cache(lambda: inside_code(text.text.split("\n")))
    return lambda number: not data and not in_code()[number]


def sentence_lines(
    lines: Sequence[str], in_code: Sequence[bool], match: int, shown: range
) -> Iterator[int]:
    """Yield the numbers of further lines of the sentence of a match; all are counted from 1.

    Wrapped text has a sentence on several lines. It goes on below the shown lines, and begins above
    the matching one, if that is the first of them, and no sentence begins in it.
    """

    def goes_on(number: int) -> bool:
        line, following = lines[number - 1], lines[number]
        text = len(line) in _WRAPPED and not (in_code[number - 1] or in_code[number])
        return text and sentence_goes_on(line, following)

    first, last = shown.start, shown.stop - 1
    while last < len(lines) and last - shown.stop + 1 < _BELOW and goes_on(last):
        if last > match and _NEW_SENTENCE.search(lines[last - 1]):
            break
        last += 1
        yield last
    above = match == first and not _NEW_SENTENCE.search(lines[match - 1].rstrip()[:-1])
    while above and first > 1 and shown.start - first < _ABOVE and goes_on(first - 1):
        first -= 1
        yield first


class LineMatcher(Protocol):
    """Finds the matching lines of a text, and the matches in lines."""

    @property
    def unfinished(self) -> int:
        """The number of searches so far that a slow pattern did not finish."""
        ...

    @property
    def readings(self) -> Sequence[Reading]:
        """The readings by which the index can exclude files; empty if it cannot."""
        ...

    def lines(self, text: FileText) -> Sequence[MatchingLine]:
        """Return the matching lines in order."""
        ...

    def spans_of(self, lines: Sequence[str]) -> Sequence[Spans]:
        """Return the spans of the matches in each of several lines."""
        ...


class TextMatcher(NamedTuple):
    """Finds several texts."""

    readings: tuple[Reading, ...]
    unfinished: int = 0

    def lines(self, text: FileText) -> Sequence[MatchingLine]:
        """Return the lines that contain any of the texts."""
        form, goes_on = reading_form(text.text), running_text(text)
        by_line: defaultdict[int, list[int]] = defaultdict(list)
        ends: dict[int, int] = {}
        for number, each in enumerate(self.readings):
            for line, last in each.matching_lines(text.text, form, goes_on):
                by_line[line].append(number)
                ends[line] = max(last, ends.get(line, 0))
        return [MatchingLine(line, tuple(by_line[line]), ends[line]) for line in sorted(by_line)]

    def spans_of(self, lines: Sequence[str]) -> Sequence[Spans]:
        """Return the spans of all texts in each of several lines, in order."""
        return [sorted(span for each in self.readings for span in each.spans(ln)) for ln in lines]


def beginning(line: str) -> str:
    """Return the beginning of a line that is shown below a label."""
    shown = rendered(line)
    _, end = whole_words(shown, 0, _BELOW_LABEL)
    return shown if len(shown) <= end else f"{shown[:end]}…"


def cut(line: str, spans: Spans) -> str:
    """Return a line as shown: whole, or the parts around its first matches."""
    if len(line) <= WHOLE:
        return line.strip()
    spans = _merged(spans)
    chosen = list(spans[:_MATCHES]) or [(0, 0)]
    each = _SHOWN // len(chosen)
    parts = []
    for begin, finish in chosen:
        end = min(finish, begin + each)
        side = max(_LEAST_AROUND, (each - (end - begin)) // 2)
        parts.append(whole_words(line, max(0, begin - side), min(len(line), end + side)))
    ranges = _merged(parts, apart=1)
    shown = [
        TextRange(start, end, place == 0 and start > 0, end < len(line)).shown(line)
        for place, (start, end) in enumerate(ranges)
    ]
    hidden = sum(begin >= ranges[-1][1] for begin, _ in spans[_MATCHES:])
    return " ".join(shown) + (f" (+{hidden} more in this line)" if hidden else "")


def _merged(spans: Spans, apart: int = 0) -> Spans:
    """Return spans in order, as one those that share a character, or are so few ``apart``."""
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start < merged[-1][1] + apart:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged
