"""BM25F with concept coverage by hand.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009): the boosted
frequencies of a term in all fields are added to one frequency f, and the score of a section is the
sum over the terms of idf * f * (k1 + 1) / (f + k1 * (1 - b + b * length / average)), where
idf = ln(1 + (N - n + 0.5) / (n + 0.5)) after Robertson and Spärck Jones. Coverage and the penalty
for length are ours; their rules stand in the docstring of the scorer.
"""

from __future__ import annotations

from dataclasses import replace
from math import log, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lexical_corpus import BLUE, CORPUS, LONG, ONE_OF_3, PLAIN, RED, TWO_OF_3, bm25, ranked, scores
from torture import examples

from fumishirube import MatchCount, Query, Ranking
from fumishirube.testing import MemoryCorpus, passage
from fumishirube_stages.scorers.lexical import Lexical
from fumishirube_stages.tokenizers.bigram import Bigram


def test_the_worked_example() -> None:
    # red stands twice in 12 characters, of 14 on average: 2 * 2.2 / (2 + 1.0714) = 1.4326;
    # ln(1 + 2.5 / 1.5) = 0.9808; covering all is worth 0.5 + 0.35 of that.
    (hit,) = ranked("red")
    assert hit.score == pytest.approx(0.9808293 * (1.4325581 + 0.85), abs=1e-6)
    assert (hit.passage, hit.coverage, hit.matched) == (RED, 1.0, ("red",))


def test_terms_add_up_and_a_part_of_the_concepts_covers_its_share() -> None:
    # Three concepts of equal rarity: each section holds one, so a third of the bonus, in which
    # the second part is 0.35 * 2 / 3.
    bonus = ONE_OF_3 * (0.5 + 0.35 * 2 / 3) / 3
    hits = ranked("red blue hill")
    assert scores(hits) == pytest.approx(
        {
            "one.md": bm25(ONE_OF_3, 2, 12) + bonus,
            "two.md": bm25(ONE_OF_3, 1, 8) + bonus,
            "three.md": bm25(ONE_OF_3, 1, 22) + bonus,
        }
    )
    assert [round(hit.coverage, 9) for hit in hits] == [round(1 / 3, 9)] * 3


def test_two_concepts_have_the_whole_of_the_second_part() -> None:
    # red and sky both stand in the first section: all is covered.
    assert scores(ranked("red sky"))["one.md"] == pytest.approx(
        bm25(ONE_OF_3, 2, 12) + bm25(ONE_OF_3, 1, 12) + ONE_OF_3 * 0.85
    )


def test_coverage_weighs_concepts_by_their_rarity() -> None:
    corpus = MemoryCorpus(
        [passage("1.md", body="red"), passage("2.md", body="red blue"), passage("3.md", body="x")]
    )
    hits = {hit.passage.path: hit for hit in ranked("red blue", corpus)}
    share = TWO_OF_3 / (TWO_OF_3 + ONE_OF_3)
    assert hits["1.md"].coverage == pytest.approx(share)
    mean = (TWO_OF_3 + ONE_OF_3) / 2
    assert hits["1.md"].score == pytest.approx(
        bm25(TWO_OF_3, 1, 3, 4.0) + share * mean * (0.5 + 0.35)
    )


def test_title_headings_and_path_count_more_often_than_the_body() -> None:
    item = passage("red.md", title="red", body="red sky", ancestors=["red"])
    corpus = MemoryCorpus([item, BLUE, LONG])
    (hit,) = ranked("red", corpus)
    average = (7 + 8 + 22) / 3
    expected = bm25(ONE_OF_3, 1 + 3 + 1.5 + 2, 7, average) + ONE_OF_3 * 0.85
    assert hit.score == pytest.approx(expected)
    assert hit.labels == {"anchor"}


@pytest.mark.parametrize(
    ("fields", "boost"),
    [({"title": "red"}, 3.0), ({"path": "red.md"}, 2.0), ({"ancestors": ["red"]}, 1.5)],
)
def test_each_field_has_its_own_boost(fields: dict[str, str], boost: float) -> None:
    members: dict[str, object] = {"path": "one.md", "body": "sky", **fields}
    item = passage(**members)  # type: ignore[arg-type]
    (hit,) = ranked("red", MemoryCorpus([item, BLUE, LONG]))
    expected = bm25(ONE_OF_3, boost, 3, 11.0) + ONE_OF_3 * 0.85
    assert hit.score == pytest.approx(expected)
    assert hit.labels == {"anchor"}


def test_a_concept_in_the_body_alone_is_no_anchor() -> None:
    assert ranked("red")[0].labels == frozenset()


@pytest.mark.parametrize(
    ("length", "penalty"), [(3000, 0.0), (4500, 0.1), (6000, 0.2), (12_000, 0.6), (30_000, 0.6)]
)
def test_length_costs_from_3000_characters_on_and_at_most_three_times(
    length: int, penalty: float
) -> None:
    body = "red " + "x" * (length - 4)
    item = passage("one.md", body=body)
    corpus = MemoryCorpus([item, BLUE, LONG])
    (hit,) = ranked("red", corpus)
    average = (length + 8 + 22) / 3
    expected = bm25(ONE_OF_3, 1, length, average) + ONE_OF_3 * 0.85
    assert hit.score == pytest.approx(expected - penalty)


def test_length_costs_half_of_a_score_at_most() -> None:
    corpus = MemoryCorpus([passage("one.md", body="red " + "x" * 29_996)])
    idf = log(1 + 0.5 / 1.5)
    (hit,) = ranked("red", corpus)
    assert hit.score == pytest.approx((bm25(idf, 1, 1, 1) + idf * 0.85) / 2)


@settings(max_examples=examples(50))
@given(st.lists(st.integers(1, 40), min_size=3, max_size=7))
def test_a_section_with_all_concepts_covers_all_of_the_query(counts: list[int]) -> None:
    words = [f"word{chr(ord('a') + place)}" for place in range(len(counts))]
    others = [
        passage(f"{word}{number}.md", body=word)
        for word, count in zip(words, counts, strict=True)
        for number in range(count)
    ]
    whole = passage("whole.md", body=" ".join(words))
    hits = ranked(" ".join(words), MemoryCorpus([whole, *others]))
    assert [hit.coverage for hit in hits if hit.passage == whole] == [1.0]


def test_the_settings_are_the_numbers_of_the_formula() -> None:
    stage = Lexical(k1=2.0, b=0.5, coverage_weight=1.0, sparse_coverage_weight=0.5)
    (hit,) = ranked("red", stage=stage)
    term = 2 * 3 / (2 + 2 * (0.5 + 0.5 * 12 / 14))
    assert hit.score == pytest.approx(ONE_OF_3 * (term + 1.5))


def test_function_words_weigh_a_fifth() -> None:
    # "is" is no concept; it scores for itself, and covers nothing.
    corpus = MemoryCorpus([passage("1.md", body="red is"), passage("2.md", body="red"), BLUE])
    by_path = scores(ranked("red is", corpus))
    average = (6 + 3 + 8) / 3
    bonus = TWO_OF_3 * 0.85
    assert by_path == pytest.approx(
        {
            "1.md": bm25(TWO_OF_3, 1, 6, average) + 0.2 * bm25(ONE_OF_3, 1, 6, average) + bonus,
            "2.md": bm25(TWO_OF_3, 1, 3, average) + bonus,
        }
    )


@pytest.mark.parametrize(
    ("text", "power", "factor"),
    [
        ("red sea red", 0.5, sqrt(2)),
        ("Red sea, red reds", 0.5, sqrt(3)),
        ("red sea red", 1.0, 2.0),
        ("red sea red", 0.0, 1.0),
    ],
)
def test_a_word_that_the_query_repeats_counts_more(text: str, power: float, factor: float) -> None:
    corpus = MemoryCorpus([RED, BLUE, LONG], Bigram())
    weights = {"coverage_weight": 0, "sparse_coverage_weight": 0, "repeated_power": power}
    stage = PLAIN.model_copy(update=weights)
    once, repeated = (
        {hit.passage.path: hit for hit in ranked(words, corpus, stage)}
        for words in ("red sea", text)
    )
    assert repeated["one.md"].score == pytest.approx(factor * once["one.md"].score)
    assert repeated["two.md"].score == pytest.approx(once["two.md"].score)


def test_japanese_words_that_the_query_repeats_count_once() -> None:
    corpus = MemoryCorpus([passage("1.md", body="休暇を申請"), BLUE, LONG], Bigram())
    once, twice = (ranked(text, corpus)[0].score for text in ("休暇 申請", "休暇 申請 休暇"))
    assert once == twice


def test_a_single_japanese_character_is_counted_anywhere() -> None:
    corpus = MemoryCorpus([passage("1.md", body="税の話、税"), BLUE, LONG])
    (hit,) = ranked("税", corpus)
    average = (5 + 8 + 22) / 3
    assert hit.score == pytest.approx(bm25(ONE_OF_3, 2, 5, average) + ONE_OF_3 * 0.85)


def test_a_term_of_the_filter_alone_weighs_1_05_and_filters() -> None:
    items = [passage("1.md", body="red sky"), passage("2.md", body="red sea"), BLUE]
    corpus = MemoryCorpus(items)
    average = (7 + 7 + 8) / 3
    (hit,) = ranked("red", corpus, must=("sky",))
    plain = bm25(TWO_OF_3, 1, 7, average) + TWO_OF_3 * 0.85
    assert hit.passage.path == "1.md"
    assert hit.score == pytest.approx(plain + 1.05 * bm25(ONE_OF_3, 1, 7, average))
    (again,) = ranked("red sky", corpus, must=("sky",))
    assert again.score == pytest.approx(scores(ranked("red sky", corpus))["1.md"])


def test_a_query_of_no_terms_finds_nothing_and_with_a_filter_what_passes() -> None:
    assert ranked("") == ()
    (hit,) = ranked("", must=("red",))
    assert hit.score == pytest.approx(1.05 * bm25(ONE_OF_3, 2, 12))
    assert hit.coverage == 1.0


@pytest.mark.parametrize(
    ("text", "matched"),
    [
        ("tree", ("trees",)),
        ("hills", ("hill",)),
        ("trees", ("trees",)),
        ("hilly trees", ("trees",)),
        ("green skies tree", ("green", "trees")),
    ],
)
def test_a_word_counts_in_any_form_and_matches_in_that_of_the_text(
    text: str, matched: tuple[str, ...]
) -> None:
    hits = ranked(text, MemoryCorpus([RED, BLUE, LONG], Bigram()))
    assert {hit.passage.path: hit.matched for hit in hits}["three.md"] == matched


def test_all_forms_of_a_word_are_one_term() -> None:
    item = passage("1.md", body="tested, testing and tests: untested")
    (hit,) = ranked("test", MemoryCorpus([item, BLUE, LONG], Bigram()))
    average = (35 + 8 + 22) / 3
    assert hit.score == pytest.approx(bm25(ONE_OF_3, 3, 35, average) + ONE_OF_3 * 0.85)


def test_one_concept_in_a_name_makes_an_anchor() -> None:
    item = passage("one.md", title="red", body="sky")
    hits = {hit.passage.path: hit for hit in ranked("red blue", MemoryCorpus([item, BLUE, LONG]))}
    assert hits["one.md"].labels == {"anchor"}


def test_a_single_character_that_no_term_is_counts_with_its_rarity() -> None:
    # The bigrams of the first section hold 税 twice; it is no term itself.
    corpus = MemoryCorpus([passage("1.md", body="税の話、税を"), BLUE, LONG], Bigram())
    average = (6 + 8 + 22) / 3
    (hit,) = ranked("税", corpus)
    assert hit.score == pytest.approx(bm25(ONE_OF_3, 2, 6, average) + ONE_OF_3 * 0.85)


def matched_by(text: str, stage: Lexical | None = None) -> MatchCount | None:
    found = (stage or Lexical()).score(Query(text), CORPUS, {})
    assert isinstance(found, Ranking)
    return found.matched


def test_how_many_matched_and_whether_a_cap_kept_some_from_being_scored() -> None:
    assert matched_by("red blue") == MatchCount(2)
    assert matched_by("red blue", Lexical(count_cap=1)) == MatchCount(1, at_least=True)
    assert matched_by("red blue", Lexical(pool=1)) == MatchCount(2)
    assert matched_by("red blue", Lexical(scan_hard_cap=1)) == MatchCount(2, scan_capped=True)
    assert matched_by("red blue", Lexical(scan_hard_cap=2)) == MatchCount(2)
    assert matched_by("a red", Lexical()) == MatchCount(1)


def test_only_a_run_for_all_that_was_asked_counts_its_matches() -> None:
    query = Query("red blue")
    query.state.begin(query)
    for run, counted in ((query, MatchCount(2)), (replace(query, text="blue"), None)):
        found = Lexical().score(run, CORPUS, {})
        assert (found.matched if isinstance(found, Ranking) else None) == counted
        assert run.is_whole is (counted is not None)
    assert not replace(query, must=("red",)).is_whole
    assert Query("blue").is_whole


def test_a_run_that_filters_says_nothing_of_how_many_matched() -> None:
    found = Lexical().score(Query("red", must=("red",)), CORPUS, {})
    assert not isinstance(found, Ranking)


def test_the_longest_parts_of_concepts_are_named_when_no_whole_one_stands_there() -> None:
    corpus = MemoryCorpus([passage("1.md", body="有給の休暇申請"), BLUE, LONG])
    (hit,) = ranked("休暇申請書", corpus)
    assert hit.matched == ("休暇申請",)
    (whole,) = ranked("休暇申請", corpus)
    assert whole.matched == ("休暇申請",)
    (half,) = ranked("給休暇", corpus)
    assert half.matched == ("休暇",)


def test_its_settings_by_default() -> None:
    assert Lexical() == Lexical(between_power=2.0, crowding=20, elsewhere=40)
    assert Lexical() == Lexical(coverage_power=1.5, few_power=2.0, few_concepts=3)
    assert Lexical() == Lexical(candidate_names=0.25, between_candidates=0.3, named_pool=10)
    assert Lexical() == Lexical(complete_pool=10, rare_pool=5)
    assert Lexical() == Lexical(file_name_weight=1.0, section_title_weight=1.0)
    assert Lexical() == Lexical(page_title_weight=1.25)
    assert Lexical(crowding=1, elsewhere=0, between_power=0).crowding == 1
    for wrong in (
        {"crowding": 0},
        {"elsewhere": -1},
        {"between_power": -1},
        {"coverage_power": -1},
        {"few_power": -1},
        {"few_concepts": 0},
        {"page_title_weight": -1},
        {"file_name_weight": -1},
        {"section_title_weight": -1},
        {"named_pool": -1},
        {"complete_pool": -1},
        {"rare_pool": -1},
        {"candidate_names": -1},
        {"between_candidates": 1.1},
    ):
        with pytest.raises(ValueError, match="Input should be"):
            Lexical.model_validate(wrong)


def test_the_forms_of_a_word_in_a_title_count_as_the_title() -> None:
    item = passage("a.md", title="walks", body="sky")
    corpus = MemoryCorpus([item, BLUE, LONG], Bigram())
    (hit,) = ranked("walk", corpus)
    assert hit.score == pytest.approx(bm25(ONE_OF_3, 3.0, 3, 11.0) + ONE_OF_3 * 0.85)
