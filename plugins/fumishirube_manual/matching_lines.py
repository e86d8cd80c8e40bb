"""The lines of a text that match: texts looked for as a reader would, or a regular expression."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

from pydantic import JsonValue

from fumishirube import (
    Budget,
    InvalidParameter,
    Passage,
    Query,
    Ranking,
    Scorer,
    SequenceCorpus,
    SurfaceContext,
)
from fumishirube.text import (
    FileText,
    Projection,
    Reading,
    TextForm,
    UnreadFile,
    holds_newline,
    project,
    reading,
    reading_form,
    required_literals,
    wraps,
)

_SCORER = "regex"
_SETTINGS: Mapping[str, JsonValue] = {"deadline_ms": 20_000}
"""For the lines of one file; the scorer's own limit is meant for a whole search."""
_BLANK = re.compile(r" |\\s")
_CAPITALS = re.compile(r"\[(?![^\]]*[a-z]-[a-z])[^\]]*[A-Z]-[A-Z]")
"""A class of capital letters, which would mean all letters if case did not count."""
_QUOTED = " \t>"
_MATCHES_IN_LINE = 64
"""How many matches of a line are told apart; a line has rarely more than a few."""

Spans = Sequence[tuple[int, int]]


class MatchingLine(NamedTuple):
    """A line of a text that matches, by which of the texts that are looked for.

    ``last`` is the next line where words are divided by the end of this one.
    """

    number: int
    texts: tuple[int, ...]
    last: int

    def written(self, lines: Sequence[str]) -> Sequence[str]:
        """Return what is written in it, of the lines of its file, and in those it goes on in."""
        return lines[self.number - 1 : self.last]


def joined_lines(written: Sequence[str]) -> str:
    """Return lines of running text as one, without the marks of a quotation at each."""
    first, *rest = written
    return " ".join([first.rstrip(), *(line.strip(_QUOTED) for line in rest)]) if rest else first


class LineMatcher(Protocol):
    """Tells which lines of a text match, and where."""

    @property
    def readings(self) -> Sequence[Reading]:
        """What the index may rule files out by; nothing when it cannot."""
        ...

    def lines(self, text: FileText) -> Sequence[MatchingLine | UnreadFile]:
        """Return the lines that match, in order; and whatever could not be looked through."""
        ...

    def spans(self, line: str) -> Spans:
        """Return where a line matches that does."""
        ...

    def spans_of(self, lines: Sequence[str]) -> Sequence[Spans]:
        """Return that for several lines at once."""
        ...


class TextMatcher(NamedTuple):
    """Looks for several texts."""

    readings: tuple[Reading, ...]

    def lines(self, text: FileText) -> Sequence[MatchingLine]:
        """Return the lines that hold one of them."""
        form = reading_form(text.text)
        by_line: defaultdict[int, list[int]] = defaultdict(list)
        ends: dict[int, int] = {}
        for number, each in enumerate(self.readings):
            for line, last in each.matching_lines(text.text, form):
                by_line[line].append(number)
                ends[line] = max(last, ends.get(line, 0))
        return [MatchingLine(line, tuple(by_line[line]), ends[line]) for line in sorted(by_line)]

    def spans(self, line: str) -> Spans:
        """Return where a line holds any of them."""
        return sorted(span for reading in self.readings for span in reading.spans(line))

    def spans_of(self, lines: Sequence[str]) -> Sequence[Spans]:
        """Return that for several lines."""
        return [self.spans(line) for line in lines]


class PatternMatcher:
    """Looks for a regular expression in single lines; a scorer sees to it that time is bounded."""

    def __init__(self, context: SurfaceContext, query: Query, literals: Iterable[str]) -> None:
        self._context = context
        self._query = query
        understood = [reading(literal, exact=True) for literal in literals]
        self.readings: Sequence[Reading] = [each for each in understood if each]
        if len(self.readings) < len(understood):
            self.readings = ()

    def lines(self, text: FileText) -> Sequence[MatchingLine | UnreadFile]:
        """Return the lines in which it matches; in running text, also over the end of a line."""
        lines = text.text.split("\n")
        ranking = self._ranking(_Lines(text.path, lines))
        ends = {hit.passage.start_line: hit.passage.start_line for hit in ranking.hits}
        if _BLANK.search(self._query.text):
            ends |= self._over_line_ends(text.path, lines)
        matches: list[MatchingLine | UnreadFile] = [
            MatchingLine(line, (0,), ends[line]) for line in sorted(ends)
        ]
        if ranking.left_out:
            matches.append(UnreadFile(text.path, "pattern_too_slow"))
        return matches

    def _over_line_ends(self, path: str, lines: Sequence[str]) -> dict[int, int]:
        """Return the lines with a match that ends in the next one, and that one's number."""
        pairs = [
            joined_lines((line, following)) if wraps(line, following) else ""
            for line, following in pairwise(lines)
        ]
        numbers = [hit.passage.start_line for hit in self._ranking(_Lines(path, pairs)).hits]
        spans = self.spans_of([pairs[number - 1] for number in numbers])
        return {
            number: number + 1
            for number, places in zip(numbers, spans, strict=True)
            if any(start < len(lines[number - 1].rstrip()) < end - 1 for start, end in places)
        }

    def spans(self, line: str) -> Spans:
        """Return where it first matches in a line."""
        return self.spans_of([line])[0]

    def spans_of(self, lines: Sequence[str]) -> Sequence[Spans]:
        """Return that for several lines, which are looked through together.

        The scorer tells where a text matches first; so what follows a match is looked through
        again, until nothing matches.
        """
        spans: list[list[tuple[int, int]]] = [[] for _ in lines]
        waiting = {number: 0 for number, line in enumerate(lines) if line}
        for _ in range(_MATCHES_IN_LINE):
            numbers = [*waiting]
            rests = [lines[number][waiting[number] :] for number in numbers]
            ranking = self._ranking(_Lines("", rests)) if rests else Ranking()
            begun = dict(waiting)
            waiting.clear()
            for hit in ranking.hits:
                number = numbers[hit.passage.start_line - 1]
                place = hit.places[0]
                start, end = begun[number] + place.start, begun[number] + place.end
                spans[number].append((start, end))
                if max(end, start + 1) < len(lines[number]):
                    waiting[number] = max(end, start + 1)
            if not waiting:
                break
        return spans

    def _ranking(self, lines: _Lines) -> Ranking:
        scored = self._scorer().score(self._query, lines, {})
        return scored if isinstance(scored, Ranking) else Ranking(tuple(scored))

    def _scorer(self) -> Scorer:
        context = self._context
        return context.keep("scorer of patterns", lambda: context.scorer(_SCORER, _SETTINGS))


def pattern_matcher(
    context: SurfaceContext, pattern: str, budget: Budget, *, exact: bool, word: bool
) -> PatternMatcher:
    """Return what looks for a pattern, in its own case if ``exact`` or if it names capitals.

    Raises:
        InvalidParameter: when it is no regular expression.
    """
    wanted = rf"\b(?:{pattern})\b" if word else pattern
    for written in (pattern, wanted):
        try:
            re.compile(written)
        except (re.error, RecursionError, OverflowError, MemoryError) as error:
            message = f"regex is no regular expression: {str(error)[:120]}"
            raise InvalidParameter(message, parameter="regex") from error
    if holds_newline(pattern):
        raise InvalidParameter(
            "regex matches within a line: write a space, which also meets the end of a line of "
            "running text, in place of the line feed",
            parameter="regex",
        )
    query = Query(wanted, case_sensitive=exact or names_capitals(pattern), budget=budget)
    return PatternMatcher(context, query, required_literals(pattern))


def names_capitals(pattern: str) -> bool:
    """Tell whether a regular expression has a class of capitals alone, as in ``[A-Z_]+``."""
    ignores_case = re.compile(pattern).flags & re.IGNORECASE
    return not ignores_case and _CAPITALS.search(pattern) is not None


class _Lines(SequenceCorpus):
    """The lines of one text, as the passages of a corpus that is read through."""

    def __init__(self, path: str, lines: Iterable[str]) -> None:
        super().__init__()
        self._path = path
        self._lines = lines

    def texts(self) -> Iterator[_Line]:
        """Return each line that is not blank."""
        for number, line in enumerate(self._lines, 1):
            if line:
                passage = Passage(self._path, number, number, "", (), 1, "", {"body": line})
                yield _Line(passage, line)


class _Line(NamedTuple):
    passage: Passage
    own: str

    def form(self, form: TextForm) -> Projection:
        if self.own.isascii() and not form.fold and form.separators is None:
            return Projection(self.own)
        return project(self.own, form)
