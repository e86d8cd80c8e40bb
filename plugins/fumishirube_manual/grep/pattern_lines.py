"""Lines that match a regular expression, and where in them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from time import monotonic
from typing import NamedTuple

from pydantic import JsonValue

from fumishirube import (
    Budget,
    InvalidParameter,
    Passage,
    Query,
    Ranking,
    SequenceCorpus,
    SurfaceContext,
)
from fumishirube.text import (
    FileText,
    Projection,
    Reading,
    TextForm,
    TextRange,
    project,
    reading,
    wraps,
)
from fumishirube_manual.grep.matching_lines import (
    QUOTED,
    MatchingLine,
    Spans,
    joined_lines,
    running_text,
)
from fumishirube_manual.grep.pattern_literals import (
    INVALID,
    below_indents,
    holds_newline,
    names_case,
    names_spelling,
    required_literals,
)

_SCORER = "regex"
_SECONDS, _SLOW_SECONDS = 20.0, 5.0
"""The time limits of a call for its pattern: in all, and of searches that were not finished."""
_LEAST_SECONDS, _CHARS_A_SECOND = 1.0, 50_000
"""The time limit of one search: this much, and more for a long text."""
_SETTINGS: Mapping[str, JsonValue] = {"deadline_ms": int(_SECONDS * 1000), "by_line": True}
_BLOCK_CHARS = 10_000
"""The most characters of lines that are searched together."""
_BLANK = re.compile(r" |\\s")
_FLAGS = re.compile(r"(?:\(\?[aiLmsux]+\))+")
"""Flags of the whole pattern, such as ``(?i)``, which must be at its start."""
_ALIKE = (
    r"[^\W\u3005-\u9fff\uac00-\U0010ffff]",
    "[\u3041-\u309a\u309d\u309e]",
    "[\u30a1-\u30fa\u30fc-\u30fe]",
    "[\u3005-\u3007\u3400-\u9fff\U00020000-\U0003ffff]",
    "[\uac00-\ud7a3]",
)
"""Letters of most scripts, then of each that is written beside others without a space: two that are
alike belong to one word. Above U+FFFF, only those of Chinese and Japanese are known."""
_BORDER = f"(?!{'|'.join(f'{letter}(?<={letter}{letter})' for letter in _ALIKE)})"
"""Not inside a word. ``\\b`` would take Latin and Japanese beside each other for one word."""

_Block = Sequence[tuple[int, str]]
"""Lines, each with its number."""


class PatternMatcher:
    """Finds a regular expression in lines, by means of a scorer that limits the time.

    With ``letters``, spellings of letters are equal in the lines. When the time of all its searches
    is over, it ends the budget of the query.
    """

    def __init__(
        self, context: SurfaceContext, query: Query, literals: Iterable[str], *, letters: bool
    ) -> None:
        self.unfinished = 0
        self._letters = letters
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
        ends = {number: number for number in self._spans(text.path, lines)}
        if _BLANK.search(self._query.text):
            ends |= self._over_line_ends(text, lines, ends)
        return [MatchingLine(line, (0,), ends[line]) for line in sorted(ends)]

    def _over_line_ends(
        self, text: FileText, lines: Sequence[str], alone: Collection[int]
    ) -> dict[int, int]:
        """Return the lines with a match that ends in the next line, each with the next number.

        A match that begins where one within its line does is not one of them: ``[^`]*`` would
        join any line to the next.
        """
        pairs = [
            joined_lines((line, following)) if line.strip(QUOTED) and wraps(line, following) else ""
            for line, following in pairwise(lines)
        ]
        numbers = [*filter(running_text(text), self._spans(text.path, pairs))]
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

    def spans_of(self, lines: Sequence[str]) -> Sequence[Spans]:
        """Return the spans of the matches in several lines, which are searched together."""
        spans = self._spans("", lines, every_place=True)
        return [spans.get(number, ()) for number, _ in enumerate(lines, 1)]

    def matching(self, texts: Sequence[str]) -> frozenset[int]:
        """Return the indexes of the texts with a match; each is one line."""
        return frozenset(number - 1 for number in self._spans("", texts))

    def _spans(
        self, path: str, lines: Sequence[str], *, every_place: bool = False
    ) -> Mapping[int, Spans]:
        """Return the spans of the first or of all matches in each line with any, by its number.

        Lines are searched in blocks. Those of a block that takes too long are searched again one by
        one, so that only the slow ones are missing.
        """
        numbered = [(number, line) for number, line in enumerate(lines, 1) if line]
        spans, late = self._search(path, [*_blocks(numbered)], every_place=every_place)
        singles = [[line] for block in late if len(block) > 1 for line in block]
        if singles:
            more, late = self._search(path, singles, every_place=every_place)
            spans |= more
        self.unfinished += bool(late)
        return spans

    def _search(
        self, path: str, blocks: Sequence[_Block], *, every_place: bool
    ) -> tuple[dict[int, Spans], Sequence[_Block]]:
        """Search blocks of lines, for as long as is allowed and left; return the late ones too."""
        budget, began = self._query.budget, monotonic()
        if not blocks or budget.late:
            return {}, blocks
        size = sum(len(line) for block in blocks for _, line in block)
        allowed = _LEAST_SECONDS + size / _CHARS_A_SECOND
        query = replace(self._query, budget=budget.within(min(allowed, self._left)))
        corpus = _LineBlocks(path, blocks, letters=self._letters)
        settings = {**_SETTINGS, "every_place": every_place}
        name = "scorer of all matches" if every_place else "scorer of patterns"
        scorer = self._context.keep(name, lambda: self._context.scorer(_SCORER, settings))
        scored = scorer.score(query, corpus, {})
        ranking = scored if isinstance(scored, Ranking) else Ranking(tuple(scored))
        seconds = monotonic() - began
        self._left -= seconds
        by_line = {block[0][0]: block for block in blocks}
        late = [by_line[out.start_line] for out in ranking.left_out if out.start_line in by_line]
        if late:
            self._slow_left -= seconds
        if min(self._left, self._slow_left) <= 0:
            budget.ended.set()
        spans: dict[int, Spans] = {}
        for hit in ranking.hits:
            spans |= _line_spans(by_line[hit.passage.start_line], hit.places)
        return spans, late


def _blocks(lines: Iterable[tuple[int, str]]) -> Iterator[_Block]:
    """Divide numbered lines into blocks of limited size; a longer line is a block of its own."""
    block: list[tuple[int, str]] = []
    size = 0
    for number, line in lines:
        if block and size + len(line) > _BLOCK_CHARS:
            yield block
            block, size = [], 0
        block.append((number, line))
        size += len(line)
    if block:
        yield block


def _line_spans(block: _Block, places: Iterable[TextRange]) -> Mapping[int, Spans]:
    """Return the spans in each line of a block, given the places in its joined lines."""
    starts = [*accumulate((len(line) + 1 for _, line in block), initial=0)]
    spans: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for place in places:
        index = bisect_right(starts, place.start) - 1
        number, start = block[index][0], starts[index]
        spans[number].append((place.start - start, place.end - start))
    return spans


def pattern_matcher(
    context: SurfaceContext,
    pattern: str,
    budget: Budget,
    *,
    exact: bool | None,
    heeds_case: Callable[[str], bool] = names_case,
    word: bool = False,
    parameter: str = "regex",
) -> PatternMatcher:
    """Return a matcher for a pattern.

    Case, indents and spellings count if ``exact``; without a value, case and spellings do if the
    pattern names them.
    ``parameter`` is named in errors.

    Raises:
        InvalidParameter: when it is no valid regular expression, or contains a line feed.
    """
    flags = _FLAGS.match(pattern)
    start = flags.end() if flags else 0
    wanted = f"{pattern[:start]}{_BORDER}(?:{pattern[start:]}){_BORDER}" if word else pattern
    for written in (pattern, wanted):
        try:
            re.compile(written)
        except INVALID as error:
            message = f"{parameter} is no regular expression: {str(error)[:120]}"
            raise InvalidParameter(message, parameter=parameter) from error
    if holds_newline(pattern):
        raise InvalidParameter(
            f"{parameter} matches within a line: write a space, which also meets the end of a line "
            "of running text, in place of the line feed",
            parameter=parameter,
        )
    cased = heeds_case(pattern) if exact is None else exact
    wanted = wanted if exact else below_indents(wanted)
    query = Query(wanted, case_sensitive=cased, budget=budget)
    letters = not exact and not names_spelling(pattern)
    return PatternMatcher(context, query, required_literals(pattern), letters=letters)


class _LineBlocks(SequenceCorpus):
    """The blocks of lines of one text as the passages of a corpus without an index."""

    def __init__(self, path: str, blocks: Iterable[_Block], *, letters: bool) -> None:
        super().__init__()
        self._letters = letters
        self._path = path
        self._blocks = blocks

    def texts(self) -> Iterator[_LineBlockText]:
        """Yield each block, from its first line."""
        for block in self._blocks:
            (first, _), (last, _) = block[0], block[-1]
            text = "\n".join(line for _, line in block)
            passage = Passage(self._path, first, last, "", (), 1, "", {"body": text})
            yield _LineBlockText(passage, text, self._letters)


class _LineBlockText(NamedTuple):
    passage: Passage
    own: str
    letters: bool

    def form(self, form: TextForm) -> Projection:
        if self.own.isascii() and not form.fold and form.separators is None:
            return Projection(self.own)
        return project(self.own, form._replace(letters=self.letters))
