"""Exceptions: finds lines with exceptions, exclusions and prohibitions."""

from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import groupby
from typing import Annotated, ClassVar, NamedTuple

from pydantic import Field

from fumishirube import Corpus, Hit, PassageText, Query, Stage, texts_of
from fumishirube.text import Lines, Projection, TextForm, TextRange, TextRanges, form_of
from fumishirube_stages.scorers import Candidates
from fumishirube_stages.text_hits import passes_filter

VOCABULARY = (
    "留意",
    "注意",
    "例外",
    "対象外",
    "禁止",
    "適用しない",
    "支払われない",
    "支給されない",
    "不支給",
    "不適用",
    "除外",
    "取り扱わない",
)

_CHECKED = 1000
"""The number of lines between two checks of the budget."""


class Exceptions(Stage):
    """Finds the lines with a word of the vocabulary, and the lines around them.

    ``vocabulary`` replaces the words, ``extra_words`` adds to them. With ``loose``, blanks and
    hyphens within a line are ignored; with ``merge``, overlapping spans become one while it has no
    more than ``max_chars``. A longer span is narrowed to half of that on either side of the word.
    The text of the query is ignored.
    """

    generates: ClassVar[bool] = True

    vocabulary: tuple[Annotated[str, Field(min_length=1)], ...] = VOCABULARY
    extra_words: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    context_lines: Annotated[int, Field(ge=0, le=1000)] = 2
    max_chars: Annotated[int, Field(ge=2)] = 1000
    loose: bool = False
    merge: bool = False

    def score(self, query: Query, corpus: Corpus, candidates: Candidates) -> Iterable[Hit]:
        """Score 1 for each passage with such a line; its places are the spans, in order."""
        del candidates
        form = TextForm(fold=True, separators="" if self.loose else None)
        words = [form_of(word, form) for word in (*self.vocabulary, *self.extra_words)]
        for text in texts_of(corpus):
            windows = self._windows(text, text.form(form), [word for word in words if word])
            places = TextRanges(self._narrowed(text.own, windows, query))
            if places and passes_filter(text.passage, query):
                yield Hit(text.passage, 1.0, places=places)

    def _narrowed(
        self, text: str, windows: Iterable["_Window"], query: Query
    ) -> Iterator[TextRange]:
        query.budget.check()
        for number, window in enumerate(windows, 1):
            if number % _CHECKED == 0:
                query.budget.check()
            yield window.narrowed(text, self.max_chars)

    def _merges(self, window: "_Window", above: int, below: int) -> bool:
        """Return whether a window becomes longer by one that begins in it: never over the most."""
        return self.merge and above < window.end and below - window.start <= self.max_chars

    def _windows(
        self, text: PassageText, projection: Projection, words: Iterable[str]
    ) -> Iterator["_Window"]:
        # Merge lazily instead of sorting, so that many matches do not block other threads.
        matches = merge(*(_matches(text.own, projection, word) for word in words))
        lines = Lines(text.own)
        window: _Window | None = None
        for line, in_line in groupby(matches, key=lambda match: lines.at(match[0])):
            start, end = next(in_line)
            above = lines.start(max(1, line - self.context_lines))
            below = lines.start(min(lines.total, line + self.context_lines) + 1)
            if window is not None and self._merges(window, above, below):
                window = window._replace(end=below)
                continue
            if window is not None:
                yield window
            window = _Window(above, below, start, end)
        if window is not None:
            yield window


class _Window(NamedTuple):
    """The span of the lines around a word, and the span of the word."""

    start: int
    end: int
    word_start: int
    word_end: int

    def narrowed(self, text: str, most: int) -> TextRange:
        """Return the window without outer white space, cut to ``most`` around the word."""
        shown = text[self.start : self.end]
        start = self.start + len(shown) - len(shown.lstrip())
        end = self.start + len(shown.rstrip())
        if end - start <= most:
            return TextRange(start, end)
        left = max(start, self.word_start - most // 2)
        right = min(end, self.word_end + most // 2)
        return TextRange(left, right, left > start, right < end)


def _matches(text: str, projection: Projection, word: str) -> Iterator[tuple[int, int]]:
    """Yield the occurrences of a word within one line of the text, in order."""
    place = projection.text.find(word)
    while place >= 0:
        start, end = projection.span(place, place + len(word))
        if "\n" not in text[start:end]:
            yield start, end
        place = projection.text.find(word, place + 1)
