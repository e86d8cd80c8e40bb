"""BM25F with concept coverage by hand.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009): the boosted
frequencies of a term in all fields are added to one frequency f, and the score of a section is the
sum over the terms of idf * f * (k1 + 1) / (f + k1 * (1 - b + b * length / average)), where
idf = ln(1 + (N - n + 0.5) / (n + 0.5)) after Robertson and Spärck Jones. Coverage and the penalty
for length are ours; their rules stand in the docstring of the scorer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log, sqrt
from typing import Any

import pytest
from test_candidates import ABOUT, FIRST, QUOTED, SENTENCE, Listed
from test_candidates import corpus as quoting_corpus

from fumishirube import (
    Bool,
    Budget,
    Clause,
    Count,
    Hit,
    Holds,
    IndexMatch,
    MatchCount,
    Part,
    Passage,
    Query,
    Ranking,
    ScoreCutoff,
    Term,
)
from fumishirube.testing import MemoryCorpus, passage
from fumishirube.text import Concept
from fumishirube_stages.scorers.lexical import Lexical
from fumishirube_stages.scorers.query_analysis import (
    QueryAnalysis,
    WeightedConcept,
    border_spans,
    coverage_shares,
    is_part,
    weighted_concept,
    weighted_term,
)
from fumishirube_stages.scorers.search_scores import title_score
from fumishirube_stages.tokenizers.bigram import Bigram
from fumishirube_stages.tokenizers.ngram import NGram

RED = passage("one.md", body="red red sky!")
BLUE = passage("two.md", body="blue sea")
LONG = passage("three.md", body="a green hill and trees")
CORPUS = MemoryCorpus([RED, BLUE, LONG])
AVERAGE = (12 + 8 + 22) / 3

PLAIN = Lexical(coverage_power=0, page_title_weight=0, file_name_weight=0, section_title_weight=0)
"""Without the factors that compare sections of a search, and without scores of names."""

ONE_OF_3 = log(1 + 2.5 / 1.5)
TWO_OF_3 = log(1 + 1.5 / 2.5)


def ranked(
    text: str,
    corpus: MemoryCorpus = CORPUS,
    stage: Lexical | None = None,
    must: tuple[str, ...] = (),
) -> Sequence[Hit]:
    found = (stage or PLAIN).score(Query(text, must=must), corpus, {})
    return found.hits if isinstance(found, Ranking) else tuple(found)


def scores(hits: Sequence[Hit]) -> dict[str, float]:
    return {hit.passage.path: round(hit.score, 9) for hit in hits}


def bm25(idf: float, frequency: float, length: float, average: float = AVERAGE) -> float:
    """Return what a term adds, as published, with k1 = 1.2 and b = 0.75."""
    return idf * frequency * 2.2 / (frequency + 1.2 * (0.25 + 0.75 * length / average))


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
    corpus = MemoryCorpus([item])
    idf = log(1 + 0.5 / 1.5)
    (hit,) = ranked("red", corpus)
    assert hit.score == pytest.approx(bm25(idf, 1, 1, 1) + idf * 0.85 - penalty)


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


class Recording(MemoryCorpus):
    """A corpus that remembers what it was asked."""

    def __init__(self, passages: Sequence[Passage], tokenizer: Bigram | None = None) -> None:
        super().__init__(passages, tokenizer)
        self.asked: list[tuple[Clause, int, ScoreCutoff | None]] = []
        self.counted: list[tuple[Clause, int | None, bool]] = []

    def search(
        self, clause: Clause, limit: int, cutoff: ScoreCutoff | None = None
    ) -> Sequence[IndexMatch]:
        self.asked.append((clause, limit, cutoff))
        return super().search(clause, limit, cutoff)

    def count(self, clause: Clause, cap: int | None = None, *, searched: bool = False) -> Count:
        self.counted.append((clause, cap, searched))
        return super().count(clause, cap, searched=searched)


def named(term: str, weight: float = 1.0) -> tuple[Term, ...]:
    return (
        Term(term, "body", weight),
        Term(term, "title", weight * 0.25 * 3.0),
        Term(term, "headings", weight * 0.25 * 1.5),
        Term(term, "path", weight * 0.25 * 2.0),
    )


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("red blue", (Term("red"), Term("blue"))),
        ("red is", (Term("red"),)),
        ("is", (Term("is"),)),
        ("x", (Term("x"),)),
        ("税", (Part("税"),)),
        ("税金", (Term("税金"),)),
    ],
)
def test_what_says_that_a_section_matches_are_the_terms_of_concepts(
    text: str, parts: tuple[Clause, ...]
) -> None:
    corpus = Recording([RED, BLUE, LONG], Bigram(stems=False))
    Lexical().score(Query(text), corpus, {})
    assert corpus.counted[-1] == (Bool(should=parts), 10_000, True)


def test_the_tokenizer_says_by_which_terms_a_query_is_scored() -> None:
    corpus = Recording([RED, BLUE, LONG], Bigram())
    Lexical().score(Query("trees is 税金"), corpus, {})
    clause = Bool(should=(Term("tree~"), Term("税金")))
    assert corpus.counted[-1] == (clause, 10_000, True)


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


def test_eight_terms_nominate_unless_others_are_rare() -> None:
    assert Lexical().candidate_terms == 8


def test_a_single_character_that_no_term_is_counts_with_its_rarity() -> None:
    # The bigrams of the first section hold 税 twice; it is no term itself.
    corpus = MemoryCorpus([passage("1.md", body="税の話、税を"), BLUE, LONG], Bigram())
    average = (6 + 8 + 22) / 3
    (hit,) = ranked("税", corpus)
    assert hit.score == pytest.approx(bm25(ONE_OF_3, 2, 6, average) + ONE_OF_3 * 0.85)


def test_what_nominates_and_how_much() -> None:
    corpus = Recording([RED, BLUE, LONG])
    Lexical().score(Query("red"), corpus, {})
    whole = [Term(c.term, c.field, 4 * c.boost) for c in named("red")[1:]]
    assert corpus.asked == [
        (Bool(should=named("red")), 80, ScoreCutoff(20, 0.35)),
        (Bool(should=(*whole,)), 10, ScoreCutoff()),
    ]


def test_a_term_too_common_for_the_index_query_nominates_by_titles() -> None:
    corpus = Recording([RED, BLUE, LONG])
    Lexical(candidate_terms=1, common_sections=0).score(Query("red sky"), corpus, {})
    searched, by_name, _ = (clause for clause, *_ in corpus.asked)
    assert searched == Bool(should=named("red"))
    names = [Term(c.term, c.field, 4 * c.boost) for c in named("red")[1:]]
    assert by_name == Bool(should=(*names, Term("sky", "title", 3.0)))


def test_a_character_too_common_for_the_index_query_nominates_nothing() -> None:
    corpus = Recording([passage("1.md", body="税 red"), passage("2.md", body="税"), LONG])
    Lexical(candidate_terms=1, common_sections=0).score(Query("red 税"), corpus, {})
    assert not any(isinstance(clause, Part) for clause in corpus.asked[1][0].should)


def test_a_section_titled_with_common_words_is_a_candidate() -> None:
    others = [passage(f"{n}.md", body="red balance sheet " * (n + 1)) for n in range(9)]
    corpus = MemoryCorpus([*others, passage("z.md", title="balance sheet", body="cash " * 99)])
    stage = Lexical(pool=3, candidate_terms=1, common_sections=0)
    assert "z.md" in {hit.passage.path for hit in ranked("red balance sheet", corpus, stage)}


@pytest.mark.parametrize(
    ("stage", "query"),
    [
        (Lexical(), Query("red", must=("red",))),
        (Lexical(), Query("red", pool=10)),
        (Lexical(), Query("red", budget=Budget(deadline=0.0))),
        (Lexical(named_pool=0), Query("red")),
    ],
)
def test_only_whole_unfiltered_searches_have_candidates_by_name(
    stage: Lexical, query: Query
) -> None:
    corpus = Recording([RED, BLUE, LONG])
    stage.score(query, corpus, {})
    assert len(corpus.asked) == 1


def test_a_section_found_by_its_name_is_a_candidate() -> None:
    others = [passage(f"{n}.md", body="red red sky") for n in range(6)]
    corpus = MemoryCorpus([*others, passage("z.md", title="red", body="sky " * 20)])
    paths = {
        number: {h.passage.path for h in ranked("red", corpus, Lexical(pool=3, named_pool=number))}
        for number in (0, 1)
    }
    assert "z.md" not in paths[0]
    assert paths[1] == {*paths[0], "z.md"}


def test_sections_with_every_concept_are_asked_for() -> None:
    corpus = Recording([RED, BLUE, LONG])
    Lexical().score(Query("red sky"), corpus, {})
    wanted = (Bool(should=(*named("red"), *named("sky"))), Term("red"), Term("sky"))
    assert corpus.asked[2] == (Bool(must=wanted), 10, ScoreCutoff())


@pytest.mark.parametrize(("number", "found"), [(0, False), (1, True)])
def test_a_section_with_every_concept_is_a_candidate(number: int, found: bool) -> None:
    others = [passage(f"{n}.md", body="red red red sun") for n in range(6)]
    others += [passage(f"{n}.md", body="blue blue blue sea") for n in range(6, 12)]
    corpus = MemoryCorpus([*others, passage("z.md", body="red blue " + "cash " * 99)])
    stage = Lexical(pool=3, named_pool=0, complete_pool=number)
    paths = {hit.passage.path for hit in ranked("red blue", corpus, stage)}
    assert ("z.md" in paths) is found


@pytest.mark.parametrize(("number", "found"), [(0, False), (1, True)])
@pytest.mark.parametrize("pool", [None, 3])
def test_a_section_with_a_word_of_very_few_is_a_candidate_of_every_run(
    number: int, found: bool, pool: int | None
) -> None:
    others = [passage(f"{n}.md", body="red sky " * (n < 9) + "sea") for n in range(120)]
    corpus = MemoryCorpus([*others, passage("z.md", body="cosign " + "cash " * 999)])
    stage = Lexical(pool=3, named_pool=0, complete_pool=0, rare_pool=number)
    hits = stage.score(Query("red sky cosign", pool=pool), corpus, {})
    paths = {hit.passage.path for hit in (hits.hits if isinstance(hits, Ranking) else hits)}
    assert ("z.md" in paths) is found


def test_a_single_character_nominates_by_its_worth_in_any_field() -> None:
    corpus = Recording([passage("1.md", body="税"), BLUE, LONG])
    Lexical().score(Query("税"), corpus, {})
    assert corpus.asked[0][0] == Bool(should=(Part("税", None, ONE_OF_3),))


def test_what_filters_is_asked_for_too() -> None:
    corpus = Recording([RED, BLUE, LONG])
    Lexical().score(Query("red", must=("sky",)), corpus, {})
    wanted = Bool(should=(Bool(should=named("red")), *named("sky", 1.05)))
    assert corpus.asked[0][0] == Bool(must=(wanted, Holds("sky")))
    corpus.asked.clear()
    Lexical().score(Query("red", must=("red",)), corpus, {})
    assert corpus.asked[0][0] == Bool(must=(Bool(should=named("red")), Holds("red")))


@pytest.mark.parametrize(
    ("stage", "limit"),
    [
        (Lexical(), 80),
        (Lexical(pool=3), 3),
        (Lexical(scan_hard_cap=7), 7),
        (Lexical(prescan=False), 5000),
        (Lexical(prescan=False, scan_hard_cap=7), 7),
    ],
)
def test_how_many_are_nominated(stage: Lexical, limit: int) -> None:
    corpus = Recording([RED, BLUE, LONG])
    stage.score(Query("red"), corpus, {})
    stage.score(Query("red", exclude=frozenset({("x", 1), ("y", 1)})), corpus, {})
    stage.score(Query("red", budget=Budget.of(0)), corpus, {})
    named = min(10, stage.scan_hard_cap - 1)  # the first search found one
    searches = [limit, named, limit + 2, named + 2, min(limit, 10)]
    assert [asked[1] for asked in corpus.asked] == searches


def test_the_rarest_terms_nominate_and_of_others_those_that_are_not_common() -> None:
    # 120 sections: a stands in all, b in 119; 100 is the border, whatever a tenth of them is.
    items = [passage(f"{n}.md", body=f"alpha {'beta' if n else 'gamma'}") for n in range(120)]
    corpus = Recording(items)
    Lexical(candidate_terms=1).score(Query("alpha gamma beta"), corpus, {})
    assert corpus.asked[0][0] == Bool(should=named("gamma"))
    corpus.asked.clear()
    Lexical(candidate_terms=2).score(Query("alpha gamma beta"), corpus, {})
    assert corpus.asked[0][0] == Bool(should=(*named("gamma"), *named("beta")))


@pytest.mark.parametrize(("number", "nominates"), [(100, True), (101, False)])
def test_a_term_that_stands_in_a_hundred_sections_is_not_common(
    number: int, *, nominates: bool
) -> None:
    items = [passage(f"{n}.md", body="alpha" if n < number else "gamma") for n in range(102)]
    corpus = Recording(items)
    Lexical(candidate_terms=1).score(Query("alpha zeta"), corpus, {})
    asked = corpus.asked[0][0]
    assert asked == Bool(should=(*named("zeta"), *(named("alpha") if nominates else ())))


@pytest.mark.parametrize(
    ("stage", "size", "common"),
    [
        (Lexical(), 10, 100),
        (Lexical(), 2_000, 200),
        (Lexical(), 2_009, 200),
        (Lexical(), 1_000_000, 5_000),
        (Lexical(common_share=0.5), 1_000, 500),
        (Lexical(common_sections=50), 1_000, 50),
    ],
)
def test_how_many_sections_make_a_term_common(stage: Lexical, size: int, common: int) -> None:
    assert stage._common(size) == common


def test_function_words_nominate_when_there_is_nothing_else() -> None:
    corpus = Recording([passage("1.md", body="red is"), passage("2.md", body="red"), BLUE])
    Lexical().score(Query("red is"), corpus, {})
    assert corpus.asked[0][0] == Bool(should=named("red"))
    corpus.asked.clear()
    Lexical().score(Query("is"), corpus, {})
    assert corpus.asked[0][0] == Bool(should=named("is"))


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


def test_it_nominates() -> None:
    assert Lexical.generates is True


# --- concepts, their parts and their shares ---------------------------------------------------


def test_a_concept_has_its_terms_each_once_by_rarity() -> None:
    corpus = MemoryCorpus([passage("a.md", body="休暇届")], Bigram())
    idf = {"休暇": 3.0, "暇届": 1.0}
    concept = weighted_concept(Concept("休暇届"), corpus, idf)
    assert concept == WeightedConcept("休暇届", {"休暇": 0.75, "暇届": 0.25}, 2.0)
    whole = weighted_concept(Concept("休暇"), corpus, {"休暇": 3.0})
    assert whole == WeightedConcept("休暇", {"休暇": 1.0}, 3.0)
    again = weighted_concept(Concept("時時時"), corpus, {"時時": 3.0})
    assert again == WeightedConcept("時時時", {"時時": 1.0}, 3.0)
    half = weighted_concept(Concept("休暇届"), corpus, {"休暇": 3.0})
    assert half == WeightedConcept("休暇届", {"休暇": 1.0, "暇届": 0.0}, 1.5)
    unknown = weighted_concept(Concept("休暇届"), corpus, {})
    assert unknown == WeightedConcept("休暇届", {"休暇": 0.0, "暇届": 0.0}, 0.0)
    assert weighted_concept(Concept("!"), corpus, {}) == WeightedConcept("!", {"!": 1.0}, 0.0)


def test_the_shares_of_terms_are_those_of_their_concepts_by_rarity() -> None:
    groups = [
        WeightedConcept("ab", {"a": 0.25, "b": 0.75}, 3.0),
        WeightedConcept("b", {"b": 1.0}, 1.0),
    ]
    shares = coverage_shares(iter(groups))
    assert shares == pytest.approx({"a": 3 * 0.25 / 4, "b": 3 * 0.75 / 4 + 1 / 4})
    assert coverage_shares([WeightedConcept("a", {"a": 1.0}, 0.0)]) == {"a": 0.0}
    assert coverage_shares([WeightedConcept("a", {"a": 1.0}, 0.5)]) == {"a": 1.0}


def test_a_text_is_a_part_of_terms_when_it_is_shorter_than_they_are() -> None:
    pairs, triples = MemoryCorpus((), Bigram()), MemoryCorpus((), NGram(n=3))
    for corpus in (pairs, triples):
        assert is_part("税", corpus) is True
        assert is_part("a", corpus) is False
        assert is_part("ab", corpus) is False
        assert is_part("税a", corpus) is False
        assert is_part("a税", corpus) is False
        assert is_part("休暇届出", corpus) is False
    assert is_part("休暇", pairs) is False
    assert is_part("休暇", triples) is True
    assert is_part("休暇届", triples) is False


def test_words_are_counted_whole_and_japanese_anywhere() -> None:
    word = weighted_term("red", 1.0, 0.5)
    assert (word.term, word.value, word.share, word.forms) == ("red", 1.0, 0.5, False)
    assert word.counted("red reds red", "red") == 2
    assert weighted_term("休", 1.0, 0.5).counted("休休暇", "休") == 2
    stem = weighted_term("red~", 1.0, 0.5, lambda text: text.split())
    assert stem.counted("reds redder", "red~") == 2
    assert stem.forms is True


@pytest.mark.parametrize(
    ("pair", "text", "span"),
    [
        ("義に", "主義に反する", "主義に"),
        ("義に", "義に反する", "義に"),
        ("に反", "主義に反する", "に反す"),
        ("に反", "主義に反", "に反"),
        ("暇ぁ", "休暇ぁ", "休暇ぁ"),
        ("義に", "赤 主義に反する", "主義に"),
        ("義に", "主義に 信義に", "主義に"),
    ],
)
def test_a_pair_at_an_end_of_hiragana_is_searched_with_the_character_beside_it(
    pair: str, text: str, span: str
) -> None:
    assert border_spans([pair, "主義", "にも", "red"], text) == {pair: span}


def test_a_pair_that_no_chunk_contains_has_no_span() -> None:
    assert border_spans(["義に"], "主義") == {}


def analysis_of(*groups: WeightedConcept, **finders: Any) -> QueryAnalysis:
    return QueryAnalysis(Bool(), Bool(), groups, (), 0.0, 1.0, finders)


def test_concepts_match_in_their_form_in_the_text() -> None:
    one = WeightedConcept("walk", {"walk": 1.0}, 1.0)
    two = WeightedConcept("sky", {"sky": 0.5, "x": 0.5}, 1.0)

    def forms(text: str) -> list[str]:
        return [word for word in text.split() if word.startswith("walk")]

    assert analysis_of(one, two).matched("walk walks sky") == ("walk", "sky")
    assert analysis_of(one, walk=forms).matched("walks walking") == ("walks",)
    assert analysis_of(one, two, walk=forms, sky=forms).matched("walks") == ("walks",)
    assert analysis_of(two, sky=forms).matched("walks") == ()
    assert analysis_of(one, other=forms).matched("a wal") == ("wal",)
    assert analysis_of(one, walk=forms).matched("run") == ()
    assert analysis_of(one, one).matched("walk") == ("walk",)


def test_the_longest_part_of_a_concept_that_occurs_is_named() -> None:
    concept = WeightedConcept("有給休暇届", {"有給": 1.0}, 1.0)
    assert analysis_of(concept).matched("有給と休暇届") == ("休暇届",)
    assert analysis_of(concept).matched("有給だけ") == ("有給",)
    assert analysis_of(concept).matched("給休だけ") == ("給休",)
    assert analysis_of(concept).matched("有だけ") == ()
    long = WeightedConcept("休" * 63 + "暇届", {"休休": 1.0}, 1.0)
    assert analysis_of(long).matched("暇届") == ()
    assert analysis_of(long).matched("休" * 63 + "暇") == ("休" * 63,)
    shorter = WeightedConcept("休" * 62 + "暇届", {"休休": 1.0}, 1.0)
    assert analysis_of(shorter).matched("暇届") == ("暇届",)


# --- terms between concepts -------------------------------------------------------------------


def test_what_stands_between_concepts_counts_less_where_fewer_of_them_match() -> None:
    """(coverage / best) to the power of 2 * best²."""
    pages = [
        passage("a.md", body="休暇を知る前に届出を出す"),
        passage("b.md", body="休暇を知る"),
        passage("c.md", body="を知る"),
        passage("d.md", body="その他"),
    ]
    corpus = MemoryCorpus(pages, Bigram())
    query = Query("休暇を知る届出")
    stage = Lexical(between_power=3.0, coverage_power=0, page_title_weight=0)
    analysis = stage._analysis(query, corpus)
    parts = {item.path: stage._score(item, analysis) for item in pages[:3]}
    best = max(hit.coverage for hit, *_ in parts.values())
    assert parts["b.md"][0].coverage < best
    assert parts["b.md"][1] > 0
    hits = {hit.passage.path: hit for hit in stage._scored(pages[:3], query, analysis, ())}
    for path, (hit, between, _) in parts.items():
        share = (hit.coverage / best) ** (3.0 * best**2)
        assert hits[path].score == pytest.approx(hit.score + between * share)
    only = stage._scored(pages[1:2], query, analysis, ())
    assert [hit.score for hit in only] == [hits["b.md"].score], "the best of the search counts"


def test_the_best_coverage_is_that_of_the_first_run_and_a_share_is_at_most_one() -> None:
    pages = [passage("a.md", body="休暇を知る前に届出"), passage("b.md", body="休暇を知る")]
    corpus = MemoryCorpus([*pages, passage("c.md", body="他")], Bigram())
    query, stage = Query("休暇を知る届出"), Lexical()
    analysis = stage._analysis(query, corpus)
    stage._scored(pages[1:], query, analysis, ())
    (hit,) = stage._scored(pages[:1], query, analysis, ())
    alone, between, _ = stage._score(pages[0], analysis)
    assert hit.score == pytest.approx(alone.score + between)


def test_without_any_coverage_what_stands_between_concepts_counts_nothing() -> None:
    pages = [passage("a.md", body="を知る")]
    corpus = MemoryCorpus([*pages, passage("c.md", body="休暇")], Bigram())
    query, stage = Query("休暇を知る届出"), Lexical()
    analysis = stage._analysis(query, corpus)
    alone, between, _ = stage._score(pages[0], analysis)
    if alone.coverage == 0:
        (hit,) = stage._scored(pages, query, analysis, ())
        assert between > 0
        assert hit.score == alone.score
        found = stage.score(Query("休暇を知る届出"), corpus, {})
        assert isinstance(found, Ranking)
        assert [hit.passage.path for hit in found.hits] == ["c.md"]


def test_a_query_of_function_words_finds_sections_without_concepts() -> None:
    corpus = MemoryCorpus([passage("a.md", body="of the sky")])
    (hit,) = ranked("of the", corpus)
    assert hit.coverage == 1.0


# --- quotations, and candidates from other files -----------------------------------------------


def quoting_scores(stage: Lexical, query: Query, *passages: Passage) -> dict[str, float]:
    found = stage.score(query, quoting_corpus(*passages), {})
    hits = found.hits if isinstance(found, Ranking) else found
    return {hit.passage.path: hit.score for hit in hits}


def first_path(stage: Lexical, text: str, must: tuple[str, ...] = ()) -> str:
    by_path = quoting_scores(stage, Query(text, must=must), ABOUT, QUOTED)
    return max(by_path, key=lambda path: by_path[path])


def test_a_quoted_section_comes_before_the_page_about_the_words() -> None:
    assert first_path(Lexical(quotation_weight=0), SENTENCE) == ABOUT.path
    assert first_path(Lexical(), SENTENCE) == QUOTED.path


def test_a_quoted_section_is_a_candidate_where_the_pool_has_no_place_for_it() -> None:
    assert first_path(Lexical(pool=1), SENTENCE) == QUOTED.path


def test_a_quoted_section_without_a_term_of_the_filter_is_no_candidate() -> None:
    assert first_path(Lexical(), SENTENCE, must=("メッセージは",)) == ABOUT.path


def test_a_quotation_adds_its_weight_times_the_rarity_of_the_concepts() -> None:
    text = "the red macro of naked functions fails twice"
    quoted, other = passage("a.md", body=f"Note: {text}!"), passage("b.md", body="red macro")
    plain, found = (
        quoting_scores(
            Lexical(quotation_weight=weight, section_title_weight=0), Query(text), quoted, other
        )
        for weight in (0, 0.5)
    )
    rarity = {number: log(1 + (602 - number + 0.5) / (number + 0.5)) for number in (1, 2)}
    concepts = 2 * rarity[2] + 4 * rarity[1]  # red, macro; naked, functions, fails, twice
    more = {path: score - plain[path] for path, score in found.items()}
    assert more == pytest.approx({"a.md": 0.5 * concepts, "b.md": 0.0})


@pytest.mark.parametrize(
    "query",
    [
        Query(SENTENCE, within=frozenset({"logs.md"})),
        Query(SENTENCE, exclude=frozenset({QUOTED.key})),
    ],
)
def test_a_quoted_section_that_may_not_be_returned_changes_no_score(query: Query) -> None:
    plain = quoting_scores(Lexical(quotation_weight=0), query, ABOUT, QUOTED)
    assert quoting_scores(Lexical(), query, ABOUT, QUOTED) == plain


def test_the_weight_of_quotations_is_never_negative() -> None:
    assert Lexical() == Lexical(quotation_weight=1.0)
    with pytest.raises(ValueError, match="greater than or equal to 0"):
        Lexical(quotation_weight=-1)


@pytest.mark.parametrize(("pool", "searches"), [(4, 2), (5, 1)])
def test_others_are_searched_when_the_pool_is_full_and_there_is_time(
    pool: int, searches: int
) -> None:
    corpus = Listed(FIRST)
    stage = Lexical(pool=pool, crowding=2, named_pool=0)
    stage.score(Query("x"), corpus, {})
    assert len(corpus.searched) == searches
    late = Listed(FIRST * 3)
    stage.score(Query("x", budget=Budget(deadline=0.0)), late, {})
    assert len(late.searched) == 1


@pytest.mark.parametrize(("asked", "searched"), [(None, 4), (2, 2), (9, 4)])
def test_a_query_may_ask_for_fewer_candidates_than_the_pool(
    asked: int | None, searched: int
) -> None:
    corpus = Listed(FIRST[:1])
    Lexical(pool=4).score(Query("x", pool=asked), corpus, {})
    assert corpus.searched[0][1] == searched


# --- settings and bounds ------------------------------------------------------------------------


def test_its_settings_by_default() -> None:
    assert Lexical() == Lexical(between_power=2.0, crowding=20, elsewhere=40)
    assert Lexical() == Lexical(coverage_power=1.5, few_concepts=3, page_title_weight=1.25)
    assert Lexical() == Lexical(candidate_names=0.25, between_candidates=0.3, named_pool=10)
    assert Lexical() == Lexical(complete_pool=10, rare_pool=5)
    assert Lexical() == Lexical(file_name_weight=1.0, section_title_weight=1.0)
    assert Lexical(crowding=1, elsewhere=0, between_power=0).crowding == 1
    for wrong in (
        {"crowding": 0},
        {"elsewhere": -1},
        {"between_power": -1},
        {"coverage_power": -1},
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


def test_at_most_256_terms_count_those_of_concepts_first() -> None:
    words = [f"word{number}" for number in range(300)]
    analysis = Lexical()._analysis(Query(" ".join(["the", *words])), CORPUS)
    assert [term.term for term in analysis.terms] == words[:256]


def test_a_manual_without_texts_has_an_average_of_one() -> None:
    assert Lexical()._analysis(Query("red"), MemoryCorpus()).average == 1.0
    assert Lexical()._analysis(Query("red"), CORPUS).average == AVERAGE


# --- the terms of a query -----------------------------------------------------------------------

JAPANESE = MemoryCorpus(
    [passage("a.md", body="休暇の申請"), passage("b.md", body="暇の届")], Bigram()
)
NONE_OF_2, ONE_OF_2, ALL_OF_2 = log(1 + 2.5 / 0.5), log(1 + 1.5 / 1.5), log(1 + 0.5 / 2.5)


def terms_of(text: str, corpus: MemoryCorpus) -> list[tuple[str, float, float]]:
    analysis = Lexical()._analysis(Query(text), corpus)
    return [(term.term, round(term.value, 9), round(term.share, 9)) for term in analysis.terms]


def test_pairs_between_concepts_weigh_as_much_as_others_and_function_words_a_fifth() -> None:
    total = ONE_OF_2 + NONE_OF_2
    assert terms_of("休暇の届出", JAPANESE) == [
        ("休暇", round(ONE_OF_2, 9), round(ONE_OF_2 / total, 9)),
        ("休暇の", round(ALL_OF_2, 9), 0.0),
        ("の届出", round(ONE_OF_2, 9), 0.0),
        ("届出", round(NONE_OF_2, 9), round(NONE_OF_2 / total, 9)),
    ]
    words = MemoryCorpus([passage("a.md", body="x"), passage("b.md", body="y")])
    assert terms_of("red of sky", words) == [
        ("red", round(NONE_OF_2, 9), 0.5),
        ("sky", round(NONE_OF_2, 9), 0.5),
        ("of", round(0.2 * NONE_OF_2, 9), 0.0),
    ]


def test_a_single_character_between_others_is_a_term_of_its_own() -> None:
    assert terms_of("税の額", JAPANESE) == [
        ("税の", round(NONE_OF_2, 9), 0.0),
        ("の額", round(NONE_OF_2, 9), 0.0),
        ("税", round(NONE_OF_2, 9), 0.5),
        ("額", round(NONE_OF_2, 9), 0.5),
    ]


def test_a_section_with_only_a_pair_between_concepts_is_no_hit() -> None:
    assert [hit.passage.path for hit in ranked("休暇の届出", JAPANESE)] == ["a.md"]


def test_a_filter_adds_the_terms_that_the_query_lacks() -> None:
    query, stage = Query("red", must=("red", "sky red", "hill")), Lexical()
    extras = stage._extras(query, stage._analysis(query, CORPUS), CORPUS)
    value = round(1.05 * ONE_OF_3, 9)
    assert [(term.term, round(term.value, 9), term.share) for term in extras] == [
        ("sky", value, 0.0),
        ("hill", value, 0.0),
    ]
    assert stage._extras(Query("red"), stage._analysis(query, CORPUS), CORPUS) == ()
    again = Query(query.text, must=query.must)
    found = stage.score(again, MemoryCorpus([passage("a.md", body="sky red hill")]), {})
    (hit,) = found.hits if isinstance(found, Ranking) else tuple(found)
    plain = stage.score(Query("red"), MemoryCorpus([passage("a.md", body="sky red hill")]), {})
    assert isinstance(plain, Ranking)
    one_of_one = log(1 + 0.5 / 1.5)
    more = 2 * bm25(1.05 * one_of_one, 1, 12, 12)
    assert hit.score == pytest.approx(plain.hits[0].score + more)


def test_the_forms_of_a_word_in_a_title_count_as_the_title() -> None:
    item = passage("a.md", title="walks", body="sky")
    corpus = MemoryCorpus([item, BLUE, LONG], Bigram())
    (hit,) = ranked("walk", corpus)
    assert hit.score == pytest.approx(bm25(ONE_OF_3, 3.0, 3, 11.0) + ONE_OF_3 * 0.85)


# --- the best coverage --------------------------------------------------------------------------


def test_where_no_section_covers_all_the_square_of_the_best_coverage_counts() -> None:
    pages = [
        passage("a.md", body="休暇を知る"),
        passage("b.md", body="休暇をとる"),
        passage("c.md", body="他"),
    ]
    corpus = MemoryCorpus(pages, Bigram())
    query = Query("休暇を知る届出")
    stage = Lexical(between_power=3.0, coverage_power=0, page_title_weight=0)
    analysis = stage._analysis(query, corpus)
    parts = {item.path: stage._score(item, analysis) for item in pages}
    best = parts["a.md"][0].coverage
    assert 0 < parts["b.md"][0].coverage < best < 1
    hits = {hit.passage.path: hit for hit in stage._scored(pages, query, analysis, ())}
    for path in ("a.md", "b.md"):
        hit, between, _ = parts[path]
        assert between > 0
        share = (hit.coverage / best) ** (3.0 * best**2)
        assert hits[path].score == pytest.approx(hit.score + between * share)


def test_where_the_first_sections_cover_nothing_the_best_coverage_is_one() -> None:
    only, half = passage("a.md", body="of"), passage("b.md", body="red of")
    corpus = MemoryCorpus([only, half])
    for first in ([only], []):
        query, stage = Query("red of sky"), PLAIN
        analysis = stage._analysis(query, corpus)
        alone, between, _ = stage._score(only, analysis)
        assert between > 0
        assert alone.coverage == 0
        assert [hit.score for hit in stage._scored(first, query, analysis, ())] == [
            alone.score for _ in first
        ]
        (hit,) = stage._scored([half], query, analysis, ())
        covered, between, _ = stage._score(half, analysis)
        share = covered.coverage**2
        assert hit.score == pytest.approx(covered.score + between * share)


def test_neighbouring_words_that_the_corpus_has_only_as_one_word_are_scored_as_it() -> None:
    # abort and signal are in no section; abortsignal has the coverage of both.
    corpus = MemoryCorpus([passage("1.md", body="abortsignal"), BLUE, LONG])
    (hit,) = ranked("abort signal", corpus)
    assert hit.coverage == 1.0
    average = (11 + 8 + 22) / 3
    absent = log(1 + 3.5 / 0.5)
    assert hit.score == pytest.approx(bm25(ONE_OF_3, 1, 11, average) + absent * 0.85)


def test_neighbouring_words_that_a_section_holds_as_a_phrase_are_not_joined() -> None:
    joined = passage("joined.md", body="a database here")
    phrase = passage("phrase.md", body="the data base there")
    (hit,) = ranked("data base", MemoryCorpus([joined, phrase]))
    assert hit.passage.path == "phrase.md"


# --- sections of one search compared ------------------------------------------------------------


@pytest.mark.parametrize(("text", "share"), [("red blue", 1.0), ("red blue sky hill", 3 / 4)])
def test_a_section_that_covers_less_than_the_best_one_loses_by_a_power(
    text: str, share: float
) -> None:
    """(coverage / best) to the power of 1.5 * best² * min(1, 3 / concepts)."""
    pages = [passage("a.md", body="red blue sky"), passage("b.md", body="red"), BLUE, LONG]
    corpus = MemoryCorpus(pages)
    plain = {hit.passage.path: hit for hit in ranked(text, corpus)}
    powered = scores(ranked(text, corpus, Lexical(page_title_weight=0)))
    best = max(hit.coverage for hit in plain.values())
    power = 1.5 * best**2 * share
    assert powered == pytest.approx(
        {path: hit.score * (hit.coverage / best) ** power for path, hit in plain.items()}
    )
    assert powered["a.md"] == pytest.approx(plain["a.md"].score)
    assert powered["b.md"] < plain["b.md"].score


def test_the_power_of_coverage_does_not_apply_to_terms_between_concepts() -> None:
    pages = [passage("a.md", body="休暇を知る前に届出を出す"), passage("b.md", body="休暇を知る")]
    corpus = MemoryCorpus([*pages, passage("d.md", body="その他")], Bigram())
    query, stage = Query("休暇を知る届出"), Lexical(between_power=0, page_title_weight=0)
    analysis = stage._analysis(query, corpus)
    hit = stage._scored(pages, query, analysis, ())[1]
    alone, between, _ = stage._score(pages[1], analysis)
    assert between > 0
    share = alone.coverage ** (1.5 * min(1, 3 / len(analysis.groups)))
    assert hit.score == pytest.approx(alone.score * share + between)


def test_the_title_of_the_page_adds_the_rarity_of_its_terms_by_the_share_they_cover() -> None:
    # Of the eight letters of "red skies" the query covers three: sqrt(3 / 8).
    under = passage("a.md", 5, title="sea", ancestors=["Red skies", "sea"], body="blue")
    top = passage("b.md", 1, title="Red", body="blue")
    corpus = MemoryCorpus([under, top, LONG])
    plain = scores(ranked("red", corpus))
    stage = Lexical(coverage_power=0, page_title_weight=2.0)
    more = {
        path: score - plain[path] for path, score in scores(ranked("red", corpus, stage)).items()
    }
    assert more == pytest.approx({"a.md": 2 * TWO_OF_3 * sqrt(3 / 8), "b.md": 2 * TWO_OF_3})


@pytest.mark.parametrize(
    ("query", "title", "covered"),
    [
        ("休暇の届出", "休暇", 2 / 2),
        ("休暇の届出", "特別休暇", 2 / 4),
        ("休暇の届出", "休暇届出", 4 / 4),
        ("休暇の届出", "その他", 0),
        ("tree", "trees and hills", 5 / 13),
        ("tree", "treetop", 0),
    ],
)
def test_the_characters_of_a_title_that_the_terms_of_concepts_cover(
    query: str, title: str, covered: float
) -> None:
    texts = [passage("1.md", body="休暇 届出 tree"), BLUE, LONG]
    analysis = PLAIN._analysis(Query(query), MemoryCorpus(texts, Bigram()))
    matching = [
        term.value for term in analysis.terms if term.share and term.counted(title, term.term)
    ]
    score = title_score(title, analysis, analysis.terms)
    assert score == pytest.approx(sum(matching) * sqrt(covered))
    assert bool(matching) == bool(covered)
