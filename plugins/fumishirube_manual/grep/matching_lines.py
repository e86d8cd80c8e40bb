"""Matching lines: those with a text, as a reader would find it, or with a regular expression."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from time import monotonic
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
    project,
    reading,
    reading_form,
    wraps,
)
from fumishirube_manual.grep.pattern_literals import holds_newline, names_case, required_literals

_SCORER = "regex"
_SECONDS, _SLOW_SECONDS = 20.0, 5.0
"""The time limits of a call for its pattern: in all, and of searches that were not finished."""
_LEAST_SECONDS, _CHARS_A_SECOND = 1.0, 50_000
"""The time limit of one search: this much, and more for a long text."""
_SETTINGS: Mapping[str, JsonValue] = {"deadline_ms": int(_SECONDS * 1000)}
_BLANK = re.compile(r" |\\s")
_QUOTED = " \t>"

Spans = Sequence[tuple[int, int]]


class MatchingLine(NamedTuple):
    """The number of a matching line from 1, and the indexes of the texts that match in it.

    ``last`` is the line in which the last match ends: a match may continue after the end of a line.
    """

    number: int
    texts: tuple[int, ...]
    last: int

    def written(self, lines: Sequence[str]) -> Sequence[str]:
        """Return the lines of its matches, given all lines of the file."""
        return lines[self.number - 1 : self.last]


def joined_lines(written: Sequence[str]) -> str:
    """Join lines of running text; remove the quote marks (``>``) of those after the first."""
    first, *rest = written
    return " ".join([first.rstrip(), *(line.strip(_QUOTED) for line in rest)]) if rest else first


class LineMatcher(Protocol):
    """Finds the matching lines of a text, and the matches in a line."""

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

    def spans(self, line: str) -> Spans:
        """Return the spans of the matches in a line."""
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
        form = reading_form(text.text)
        by_line: defaultdict[int, list[int]] = defaultdict(list)
        ends: dict[int, int] = {}
        for number, each in enumerate(self.readings):
            for line, last in each.matching_lines(text.text, form):
                by_line[line].append(number)
                ends[line] = max(last, ends.get(line, 0))
        return [MatchingLine(line, tuple(by_line[line]), ends[line]) for line in sorted(by_line)]

    def spans(self, line: str) -> Spans:
        """Return the spans of all texts in a line, in order."""
        return sorted(span for reading in self.readings for span in reading.spans(line))

    def spans_of(self, lines: Sequence[str]) -> Sequence[Spans]:
        """Return the spans for each of several lines."""
        return [self.spans(line) for line in lines]


class PatternMatcher:
    """Finds a regular expression in lines, by means of a scorer that limits the time.

    When the time of all its searches is over, it ends the budget of the query.
    """

    def __init__(self, context: SurfaceContext, query: Query, literals: Iterable[str]) -> None:
        self.unfinished = 0
        self._left, self._slow_left = _SECONDS, _SLOW_SECONDS
        self._context = context
        self._query = query
        understood = [reading(literal, exact=True) for literal in literals]
        self.readings: Sequence[Reading] = [each for each in understood if each]
        if len(self.readings) < len(understood):
            self.readings = ()

    def lines(self, text: FileText) -> Sequence[MatchingLine]:
        """Return the lines with a match; in running text, a match may end in the next line."""
        lines = text.text.split("\n")
        ranking = self._ranking(text.path, lines)
        ends = {hit.passage.start_line: hit.passage.start_line for hit in ranking.hits}
        if _BLANK.search(self._query.text):
            ends |= self._over_line_ends(text.path, lines, ends)
        return [MatchingLine(line, (0,), ends[line]) for line in sorted(ends)]

    def _over_line_ends(
        self, path: str, lines: Sequence[str], alone: Collection[int]
    ) -> dict[int, int]:
        """Return the lines with a match that ends in the next line, each with the next number.

        A match that begins where one within its line does is not one of them: ``[^`]*`` would
        join any line to the next.
        """
        pairs = [
            joined_lines((line, following)) if wraps(line, following) else ""
            for line, following in pairwise(lines)
        ]
        numbers = [hit.passage.start_line for hit in self._ranking(path, pairs).hits]
        within = self.spans_of([lines[n - 1] if n in alone else "" for n in numbers])
        over = self.spans_of([pairs[number - 1] for number in numbers])
        return {
            number: number + 1
            for number, own, places in zip(numbers, within, over, strict=True)
            if any(
                start < len(lines[number - 1].rstrip()) < end - 1
                and start not in {begin for begin, _ in own}
                for start, end in places
            )
        }

    def spans(self, line: str) -> Spans:
        """Return the spans of the matches in a line."""
        return self.spans_of([line])[0]

    def spans_of(self, lines: Sequence[str]) -> Sequence[Spans]:
        """Return the spans of the matches in several lines, which are searched together."""
        spans: list[Spans] = [() for _ in lines]
        for hit in self._ranking("", lines, every_place=True).hits if any(lines) else ():
            spans[hit.passage.start_line - 1] = [(place.start, place.end) for place in hit.places]
        return spans

    def matching(self, texts: Sequence[str]) -> frozenset[int]:
        """Return the indexes of the texts with a match."""
        ranking = self._ranking("", texts)
        return frozenset(hit.passage.start_line - 1 for hit in ranking.hits)

    def _ranking(self, path: str, lines: Sequence[str], *, every_place: bool = False) -> Ranking:
        """Search some lines, for as long as is allowed and left."""
        budget, began = self._query.budget, monotonic()
        if budget.late:
            self.unfinished += 1
            return Ranking()
        allowed = _LEAST_SECONDS + sum(map(len, lines)) / _CHARS_A_SECOND
        query = replace(self._query, budget=budget.within(min(allowed, self._left)))
        scored = self._scorer(every_place=every_place).score(query, _Lines(path, lines), {})
        ranking = scored if isinstance(scored, Ranking) else Ranking(tuple(scored))
        seconds = monotonic() - began
        self._left -= seconds
        if ranking.left_out:
            self.unfinished += 1
            self._slow_left -= seconds
        if min(self._left, self._slow_left) <= 0:
            budget.ended.set()
        return ranking

    def _scorer(self, *, every_place: bool) -> Scorer:
        context, settings = self._context, {**_SETTINGS, "every_place": every_place}
        name = "scorer of all matches" if every_place else "scorer of patterns"
        return context.keep(name, lambda: context.scorer(_SCORER, settings))


def pattern_matcher(
    context: SurfaceContext,
    pattern: str,
    budget: Budget,
    *,
    exact: bool | None,
    word: bool = False,
    parameter: str = "regex",
) -> PatternMatcher:
    """Return a matcher for a pattern.

    Case counts if ``exact``; without a value, if the pattern names a case.

    ``parameter`` is named in errors.

    Raises:
        InvalidParameter: when it is no valid regular expression, or contains a line feed.
    """
    wanted = rf"\b(?:{pattern})\b" if word else pattern
    for written in (pattern, wanted):
        try:
            re.compile(written)
        except (re.error, RecursionError, OverflowError, MemoryError) as error:
            message = f"{parameter} is no regular expression: {str(error)[:120]}"
            raise InvalidParameter(message, parameter=parameter) from error
    if holds_newline(pattern):
        raise InvalidParameter(
            f"{parameter} matches within a line: write a space, which also meets the end of a line "
            "of running text, in place of the line feed",
            parameter=parameter,
        )
    cased = names_case(pattern) if exact is None else exact
    query = Query(wanted, case_sensitive=cased, budget=budget)
    return PatternMatcher(context, query, required_literals(pattern))


class _Lines(SequenceCorpus):
    """The lines of one text as the passages of a corpus without an index."""

    def __init__(self, path: str, lines: Iterable[str]) -> None:
        super().__init__()
        self._path = path
        self._lines = lines

    def texts(self) -> Iterator[_Line]:
        """Yield each line that is not empty."""
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
