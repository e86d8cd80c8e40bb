"""Which sections the scorer ``lexical`` nominates, asks its index for, and counts as matches."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pytest
from lexical_corpus import BLUE, CORPUS, LONG, ONE_OF_3, PLAIN, RED, hits_of, ranked, rarity
from test_candidates import ABOUT, FIRST, QUOTED, SENTENCE, Listed
from test_candidates import corpus as quoting_corpus

from fumishirube import (
    Bool,
    Budget,
    Clause,
    Count,
    Holds,
    IndexMatch,
    Part,
    Passage,
    Query,
    Ranking,
    ScoreCutoff,
    Term,
)
from fumishirube.testing import MemoryCorpus, passage
from fumishirube_stages.scorers.lexical import Lexical
from fumishirube_stages.tokenizers.bigram import Bigram


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


def test_eight_terms_nominate_unless_others_are_rare() -> None:
    assert Lexical().candidate_terms == 8


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
@pytest.mark.parametrize("pool", [None, 3])
def test_a_section_with_every_concept_is_a_candidate_of_every_run(
    number: int, found: bool, pool: int | None
) -> None:
    others = [passage(f"{n}.md", body="red red red sun") for n in range(6)]
    others += [passage(f"{n}.md", body="blue blue blue sea") for n in range(6, 12)]
    corpus = MemoryCorpus([*others, passage("z.md", body="red blue " + "cash " * 99)])
    stage = Lexical(pool=3, named_pool=0, complete_pool=number)
    hits = hits_of(stage, Query("red blue", pool=pool), corpus)
    paths = {hit.passage.path for hit in hits}
    assert ("z.md" in paths) is found


@pytest.mark.parametrize(("number", "found"), [(0, False), (1, True)])
@pytest.mark.parametrize("pool", [None, 3])
def test_a_section_with_a_word_of_very_few_is_a_candidate_of_every_run(
    number: int, found: bool, pool: int | None
) -> None:
    others = [passage(f"{n}.md", body="red sky " * (n < 9) + "sea") for n in range(120)]
    corpus = MemoryCorpus([*others, passage("z.md", body="cosign " + "cash " * 999)])
    stage = Lexical(pool=3, named_pool=0, complete_pool=0, rare_pool=number)
    hits = hits_of(stage, Query("red sky cosign", pool=pool), corpus)
    paths = {hit.passage.path for hit in hits}
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


class Sized(Recording):
    """A corpus that says how large it is, and in how many of its sections ``alpha`` stands."""

    def __init__(self, size: int, number: int) -> None:
        super().__init__([passage("1.md", body="alpha zeta")])
        self._size, self._number = size, number

    @property
    def size(self) -> int:
        return self._size

    def frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        numbers = {"alpha": self._number, "zeta": 1}
        return {term: numbers.get(term, 0) for term in terms}


@pytest.mark.parametrize(
    ("settings", "size", "common"),
    [
        ({}, 500, 100),
        ({}, 2_000, 200),
        ({}, 2_009, 200),
        ({}, 1_000_000, 5_000),
        ({"common_share": 0.5}, 1_000, 500),
        ({"common_sections": 50}, 1_000, 50),
    ],
)
def test_how_many_sections_make_a_term_common(
    settings: dict[str, Any], size: int, common: int
) -> None:
    stage = Lexical(candidate_terms=1, **settings)
    for number, nominates in ((common, True), (common + 1, False)):
        corpus = Sized(size, number)
        stage.score(Query("alpha zeta"), corpus, {})
        terms = (*named("zeta"), *(named("alpha") if nominates else ()))
        assert corpus.asked[0][0] == Bool(should=terms)


def test_function_words_nominate_when_there_is_nothing_else() -> None:
    corpus = Recording([passage("1.md", body="red is"), passage("2.md", body="red"), BLUE])
    Lexical().score(Query("red is"), corpus, {})
    assert corpus.asked[0][0] == Bool(should=named("red"))
    corpus.asked.clear()
    Lexical().score(Query("is"), corpus, {})
    assert corpus.asked[0][0] == Bool(should=named("is"))


def test_it_nominates() -> None:
    assert Lexical.generates is True


# --- quotations, and candidates from other files -----------------------------------------------


def quoting_scores(stage: Lexical, query: Query, *passages: Passage) -> dict[str, float]:
    hits = hits_of(stage, query, quoting_corpus(*passages))
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
    concepts = 2 * rarity(2, 602) + 4 * rarity(1, 602)  # red, macro; naked, functions, fails, twice
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


def test_a_run_of_another_text_than_the_search_returns_hits_and_counts_nothing() -> None:
    query = Query("red")
    query.state.begin(Query("blue"))
    found = PLAIN.score(query, CORPUS, {})
    assert not isinstance(found, Ranking)
    assert [hit.passage for hit in found] == [RED]
