"""The glossary by hand: which runs are planned, and how they are merged."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fumishirube import Hit, Outcome, Query, Ranking
from fumishirube.testing import MemoryCorpus, passage
from fumishirube.text import Synonyms, fold, replace_synonyms, synonyms_in
from fumishirube_stages.fusers.glossary import GlossaryFuser
from fumishirube_stages.tokenizers.bigram import Bigram

A, B = passage("a.md", body="the car"), passage("b.md", body="an auto, a lorry")
CORPUS = MemoryCorpus([A, B], Bigram())
STAGE = GlossaryFuser()
QUERY = Query("red car", synonyms=(Synonyms("car", ("auto", "buggy", "lorry")),))


def planned(query: Query) -> list[str]:
    return [run.query.text for run in STAGE.plan(query, CORPUS)]


def test_a_run_for_the_query_and_each_synonym_of_the_manual() -> None:
    assert planned(QUERY) == ["red car", "red auto", "red lorry"]
    assert not any(run.query.synonyms for run in STAGE.plan(QUERY, CORPUS))


def test_a_word_that_the_manual_lacks_is_replaced_in_every_run() -> None:
    absent = (Synonyms("buggy", ("lorry",)), Synonyms("car", ("auto",)))
    assert planned(Query("buggy or car", synonyms=absent)) == ["lorry or car", "lorry or auto"]
    assert planned(Query("buggy", synonyms=(Synonyms("buggy", ("cart",)),))) == ["buggy"]


def test_a_term_that_hits_must_contain_is_replaced_too() -> None:
    runs = STAGE.plan(replace(QUERY, text="red", must=("car",)), CORPUS)
    assert [run.query.must for run in runs] == [("car",), ("auto",), ("lorry",)]


def test_it_applies_to_queries_with_words_of_the_glossary() -> None:
    assert STAGE.applies(QUERY)
    assert not STAGE.applies(Query("red car"))
    assert not STAGE.applies(replace(QUERY, text="red cart"))


def test_a_run_counts_by_the_coverage_of_its_best_hit() -> None:
    first, second, third = STAGE.plan(QUERY, CORPUS)
    outcomes = [
        Outcome(first, Ranking((Hit(A, 8.0, coverage=0.5), Hit(B, 6.0, coverage=0.25)))),
        Outcome(second, Ranking((Hit(B, 4.0, coverage=1.0), Hit(A, 1.0, coverage=0.5)))),
        Outcome(third, Ranking()),
    ]
    ranking = STAGE.fuse(QUERY, outcomes, CORPUS)
    # B: all of a top score at coverage 1. A: all of one at coverage 0.5.
    assert [(hit.passage, hit.score) for hit in ranking.hits] == [
        (B, pytest.approx(8.0)),
        (A, pytest.approx(4.0)),
    ]
    assert ranking.diagnostics["glossary"] == {"car": ["auto", "buggy", "lorry"]}


def test_a_run_without_coverage_counts_a_hundredth() -> None:
    first, second, _ = STAGE.plan(QUERY, CORPUS)
    outcomes = [
        Outcome(first, Ranking((Hit(A, 8.0), Hit(B, 4.0)))),
        Outcome(second, Ranking((Hit(B, 2.0, coverage=0.5),))),
    ]
    # B: all of a top score at coverage 0.5. A: all of one at 0.01.
    assert [(hit.passage, hit.score) for hit in STAGE.fuse(QUERY, outcomes, CORPUS).hits] == [
        (B, pytest.approx(8.0)),
        (A, pytest.approx(8.0 * 0.01 / 0.5)),
    ]


def test_a_single_run_stays_as_it_is() -> None:
    own = Ranking((Hit(B, 4.0), Hit(A, 8.0)), diagnostics={"seen": 1})
    ranking = STAGE.fuse(QUERY, [Outcome(STAGE.plan(QUERY, CORPUS)[0], own)], CORPUS)
    assert ranking.hits is own.hits
    assert ranking.diagnostics == {"seen": 1, "glossary": {"car": ["auto", "buggy", "lorry"]}}


WORDS = st.sampled_from(["car", "Auto", "有休", "年次有給休暇", "休暇", "ノーツ"])
MEANINGS = st.dictionaries(
    WORDS.map(fold), st.lists(WORDS, min_size=1, max_size=3, unique=True), max_size=4
)


@given(st.lists(WORDS, max_size=4).map(" の ".join), MEANINGS)
def test_only_words_of_the_text_have_synonyms_and_none_that_it_has(
    text: str, meanings: dict[str, list[str]]
) -> None:
    rows = synonyms_in(text, meanings)
    folded = fold(text)
    for word, others in rows:
        assert word in folded
        assert others
        assert not any(fold(other) in folded for other in others)
        assert set(others) <= set(meanings[word])
    assert (replace_synonyms(text, rows) == text) == (not rows)


def test_the_longest_of_overlapping_words_counts() -> None:
    meanings = {"休暇": ("休み",), "有給休暇": ("有休",)}
    assert synonyms_in("有給休暇を取る", meanings) == (Synonyms("有給休暇", ("有休",)),)
    assert replace_synonyms("有給休暇を取る", [Synonyms("有給休暇", ("有休",))]) == "有休を取る"
    assert synonyms_in("carts and a car_", {"car": ("auto",)}) == (Synonyms("car", ("auto",)),)
    assert synonyms_in("carts", {"car": ("auto",)}) == ()
