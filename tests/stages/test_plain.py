"""Plain by hand: what holds the query word for word, and where it first stands."""

from __future__ import annotations

import pytest

from fumishirube import Budget, Cancelled, Query, Ranking, Scorer
from fumishirube.testing import MemoryCorpus, passage
from fumishirube.text import TextRange
from fumishirube_stages.scorers.loose import Loose
from fumishirube_stages.scorers.plain import Plain
from fumishirube_stages.scorers.regex import Regex
from fumishirube_stages.text_hits import may_return, passes_filter

CORPUS = MemoryCorpus([passage("a.md", body="sky red red"), passage("b.md", body="blue red sea")])


def found(query: Query) -> list[tuple[str, float, tuple[TextRange, ...]]]:
    hits = Plain().score(query, CORPUS, {})
    return [(hit.passage.path, hit.score, tuple(hit.places)) for hit in hits]


def test_each_text_that_holds_the_query_scores_one_where_it_first_stands() -> None:
    assert found(Query("red")) == [
        ("a.md", 1.0, (TextRange(4, 7),)),
        ("b.md", 1.0, (TextRange(5, 8),)),
    ]
    assert found(Query("blue red")) == [("b.md", 1.0, (TextRange(0, 8),))]
    assert found(Query("y r")) == [("a.md", 1.0, (TextRange(2, 5),))]


def test_case_matters_only_if_the_query_says_so() -> None:
    assert len(found(Query("RED"))) == 2
    assert found(Query("RED", case_sensitive=True)) == []


def test_all_that_must_be_there_is() -> None:
    assert [row[0] for row in found(Query("red", must=("sea", "blue")))] == ["b.md"]
    assert found(Query("red", must=("sea", "sky"))) == []


@pytest.mark.parametrize(
    ("stage", "text"), [(Plain(), "red"), (Loose(), "red"), (Regex(), "red"), (Regex(), "red(")]
)
def test_a_section_has_required_terms_as_for_any_other_scorer(stage: Scorer, text: str) -> None:
    """As words, in any field, whatever the case of the query."""
    corpus = MemoryCorpus(
        [
            passage("part.md", body="red( category"),
            passage("word.md", body="red( cat"),
            passage("title.md", title="Cat", body="red("),
        ]
    )
    for case_sensitive in (False, True):
        query = Query(text, must=("Cat",), case_sensitive=case_sensitive)
        found = stage.score(query, corpus, {})
        hits = found.hits if isinstance(found, Ranking) else found
        assert [hit.passage.path for hit in hits] == ["title.md", "word.md"]


def test_an_empty_query_finds_nothing() -> None:
    assert found(Query("")) == []


def test_who_has_gone_waits_for_nothing() -> None:
    budget = Budget()
    budget.cancelled.set()
    with pytest.raises(Cancelled):
        found(Query("red", budget=budget))


def test_a_filter_looks_for_words_in_any_field() -> None:
    item = passage("a.md", title="red", body="blue")
    assert passes_filter(item, Query("x", must=("RED", "blue")))
    assert not passes_filter(item, Query("x", must=("red", "blu")))
    assert passes_filter(item, Query("x"))


def test_a_filter_takes_any_form_of_a_word_as_the_count_of_sections_does() -> None:
    item = passage("a.md", body="the policies on \u03b1 radiation")
    assert passes_filter(item, Query("x", must=("policy", "alpha")))
    assert not passes_filter(item, Query("x", must=("police",)))


def test_a_passage_may_be_returned_by_its_file_its_place_and_its_words() -> None:
    item = passage("a.md", 3, body="red")
    assert may_return(item, Query("x"))
    assert may_return(item, Query("x", within=frozenset({"a.md"}), must=("red",)))
    assert not may_return(item, Query("x", within=frozenset({"b.md"}), must=("red",)))
    assert not may_return(item, Query("x", exclude=frozenset({("a.md", 3)}), must=("red",)))
    assert may_return(item, Query("x", exclude=frozenset({("a.md", 4)}), must=("red",)))
    assert not may_return(item, Query("x", must=("blue",)))


def test_it_nominates() -> None:
    assert Plain.generates is True
