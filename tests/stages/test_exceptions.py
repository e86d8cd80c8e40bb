"""Exceptions by hand: lines with a word of the vocabulary, and the lines around them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fumishirube import Budget, Cancelled, Passage, Query
from fumishirube.testing import MemoryCorpus, passage
from fumishirube.text import Projection, TextForm, TextRange
from fumishirube.text.projections import project
from fumishirube_stages.scorers.exceptions import VOCABULARY, Exceptions


@dataclass(frozen=True)
class Text:
    """A text as it is in a file."""

    passage: Passage
    own: str

    def form(self, form: TextForm) -> Projection:
        return project(self.own, form)


class TextsCorpus(MemoryCorpus):
    """A corpus that keeps texts with their lines."""

    def __init__(self, *own: str) -> None:
        rows = [passage(f"{n}.md", body=text) for n, text in enumerate(own)]
        super().__init__(rows)
        self._own = [Text(row, text) for row, text in zip(rows, own, strict=True)]

    def texts(self) -> Iterable[Text]:
        return self._own


def found(text: str, stage: Exceptions | None = None, query: Query | None = None) -> list[str]:
    return [text[place.start : place.end] for place in places(text, stage, query)]


def places(
    text: str, stage: Exceptions | None = None, query: Query | None = None
) -> list[TextRange]:
    corpus = TextsCorpus("nothing", text)
    hits = list((stage or Exceptions()).score(query or Query("x"), corpus, {}))
    assert all((hit.passage.path, hit.score) == ("1.md", 1.0) for hit in hits)
    return [place for hit in hits for place in hit.places]


def test_two_lines_above_and_below() -> None:
    assert found("a\nb\nc\n禁止\nd\ne\nf") == ["b\nc\n禁止\nd\ne"]
    assert found("禁止\nd\ne\nf") == ["禁止\nd\ne"]
    assert found("a\nb\nc\n禁止") == ["b\nc\n禁止"]
    assert found("a\n禁止\nb", Exceptions(context_lines=0)) == ["禁止"]


@pytest.mark.parametrize("word", VOCABULARY)
def test_every_word_of_the_vocabulary_counts(word: str) -> None:
    assert found(f"a\n{word}")


def test_words_are_replaced_or_added() -> None:
    assert found("red\n\n\n\n禁止", Exceptions(vocabulary=("red",), context_lines=0)) == ["red"]
    both = Exceptions(extra_words=("RED",), context_lines=0)
    assert found("red\n\n禁止", both) == ["red", "禁止"]


def test_a_line_counts_once_and_stretches_stand_by_themselves_or_merged() -> None:
    text = "禁止と例外\na\n注意\nb\nc\nd\ne\nf\n除外"
    assert found(text) == ["禁止と例外\na\n注意", "禁止と例外\na\n注意\nb\nc", "e\nf\n除外"]
    merged = Exceptions(merge=True)
    assert found(text, merged) == ["禁止と例外\na\n注意\nb\nc", "e\nf\n除外"]
    assert found("禁止\n注意", Exceptions(merge=True, context_lines=0)) == ["禁止", "注意"]


def test_spans_are_merged_up_to_the_most_characters() -> None:
    text = "禁止" + "\n禁止" * 9
    assert (
        found(text, Exceptions(merge=True, context_lines=1, max_chars=12))
        == ["禁止\n禁止\n禁止\n禁止"] * 4
    )
    assert found(text, Exceptions(merge=True, context_lines=1)) == [text]


@given(
    lines=st.lists(st.sampled_from(["", "a", "a" * 9, "禁止", "aaa禁止bbb"]), max_size=30),
    context=st.integers(0, 3),
    most=st.integers(2, 30),
)
def test_every_word_that_is_shown_apart_is_shown_merged(
    lines: list[str], context: int, most: int
) -> None:
    text, stage = "\n".join(lines), Exceptions(context_lines=context, max_chars=most)
    merged = places(text, stage.model_copy(update={"merge": True}))
    words = [word.start() for word in re.finditer("禁止", text)]
    assert all(any(p.start <= word and word + 2 <= p.end for p in merged) for word in words)
    assert len(merged) <= len(places(text, stage))


def test_loose_leaves_blanks_out_but_not_the_ends_of_lines() -> None:
    assert found("禁 止") == []
    assert found("禁 止", Exceptions(loose=True)) == ["禁 止"]
    assert found("禁\n止", Exceptions(loose=True)) == []
    assert found("禁\n止\nx\nx\nx\n禁 止", Exceptions(loose=True, context_lines=0)) == ["禁 止"]


def test_a_long_stretch_is_narrowed_to_half_of_the_most_beside_the_word() -> None:
    text = f"{'a' * 10}禁止{'b' * 10}"
    assert places(text, Exceptions(max_chars=22)) == [TextRange(0, 22)]
    assert places(text, Exceptions(max_chars=21)) == [TextRange(0, 22)]
    assert places(text, Exceptions(max_chars=8)) == [TextRange(6, 16, True, True)]
    assert places(f"a禁止{'b' * 10}", Exceptions(max_chars=8)) == [TextRange(0, 7, False, True)]
    assert places(f"{'a' * 10}禁止b", Exceptions(max_chars=8)) == [TextRange(6, 13, True, False)]
    assert places(f"{'a' * 600}禁止{'b' * 600}")[0] == TextRange(100, 1102, True, True)


def test_outer_white_space_is_not_shown() -> None:
    assert places("  \n 禁止 \n ") == [TextRange(4, 6)]


def test_what_must_be_there_is() -> None:
    assert found("禁止 red", query=Query("x", must=("red",))) == ["禁止 red"]
    assert found("禁止", query=Query("x", must=("red",))) == []


def test_who_has_gone_waits_for_nothing() -> None:
    budget = Budget()
    budget.cancelled.set()
    with pytest.raises(Cancelled):
        found("禁止", query=Query("x", budget=budget))


def test_it_nominates() -> None:
    assert Exceptions.generates is True


class CountedBudget(Budget):
    """Counts how often a stage asks whether the caller has gone."""

    def check(self) -> None:
        CHECKS.append(1)


CHECKS: list[int] = []


@pytest.mark.parametrize(
    ("number", "checks"), [(999, 1), (1000, 2), (1998, 2), (1999, 2), (2000, 3)]
)
def test_the_caller_is_looked_for_every_thousand_lines(number: int, checks: int) -> None:
    CHECKS.clear()
    stage = Exceptions(context_lines=0)
    assert len(places("禁止\n" * number, stage, Query("x", budget=CountedBudget()))) == number
    assert len(CHECKS) == 1 + checks, "once more for the other text"


def test_a_span_of_exactly_the_most_characters_is_whole() -> None:
    stage = Exceptions(context_lines=0, max_chars=100)
    line = "禁止" + "a" * 98
    assert found(f"x\n{line}", stage) == [line]
    (place,) = places(f"x\n{line}b", stage)
    assert (place.start, place.end) == (2, 2 + 2 + 50)
    assert Exceptions() == Exceptions(max_chars=1000)


def test_a_word_of_separators_alone_is_ignored_where_they_are() -> None:
    assert found("a - - b", Exceptions(vocabulary=("- -",), loose=True)) == []
