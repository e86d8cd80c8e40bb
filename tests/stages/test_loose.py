"""Loose by hand: what holds the query, whatever separators stand between its characters."""

from __future__ import annotations

import pytest

from fumishirube import Query
from fumishirube.testing import MemoryCorpus, passage
from fumishirube.text import TextRange
from fumishirube_stages.scorers.loose import Loose


def found(query: Query, body: str, stage: Loose | None = None) -> list[tuple[TextRange, ...]]:
    corpus = MemoryCorpus([passage("a.md", body=body)])
    return [tuple(hit.places) for hit in (stage or Loose()).score(query, corpus, {})]


@pytest.mark.parametrize("text", ["ab", "a b", "a-b", "AB"])
def test_separators_do_not_matter_on_either_side(text: str) -> None:
    assert found(Query(text), "x a-b") == [(TextRange(2, 5),)]


def test_further_separators_are_left_out_when_they_are_named() -> None:
    assert found(Query("ab"), "a+b") == []
    assert found(Query("ab"), "a+b", Loose(extra_separators="+")) == [(TextRange(0, 3),)]


def test_case_matters_if_the_query_says_so() -> None:
    assert found(Query("AB", case_sensitive=True), "a-b") == []


def test_a_query_of_nothing_else_finds_nothing() -> None:
    assert found(Query("- -"), "a - - b") == []


def test_it_nominates() -> None:
    assert Loose.generates is True
