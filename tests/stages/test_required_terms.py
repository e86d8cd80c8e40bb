"""The two gates by hand: each merges by rank after Cormack, Clarke and Buettcher (2009), k = 60.

How a score and a rank are blended, and which terms are too rare or too common, is ours; the rules
stand in the docstring of the fuser.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from fumishirube import Hit, LeftOut, Outcome, Query, Ranking, Run, TermFilter, TermUse
from fumishirube.testing import MemoryCorpus, passage
from fumishirube_stages.fusers.required_terms import FREE, REQUIRED, RequiredTerms
from fumishirube_stages.long_questions import english_words
from fumishirube_stages.tokenizers.bigram import Bigram

A, B, C = (
    passage(f"{n}.md", body=body)
    for n, body in zip("abc", ("red", "blue", "red blue"), strict=True)
)
CORPUS = MemoryCorpus([A, B, C], Bigram())
STAGE = RequiredTerms(too_common=1.0)


def ranked(*scored: tuple[float, Hit]) -> Ranking:
    return Ranking(tuple(hit._replace(score=score) for score, hit in scored))


def plan(
    stage: RequiredTerms, query: Query, corpus: MemoryCorpus = CORPUS
) -> list[tuple[str, tuple[str, ...], float]]:
    return [(run.name, run.query.must, run.weight) for run in stage.plan(query, corpus)]


def fused(query: Query, *rankings: Ranking, stage: RequiredTerms = STAGE) -> Ranking:
    runs = stage.plan(query, CORPUS)
    outcomes = [Outcome(run, row) for run, row in zip(runs, rankings, strict=True)]
    return stage.fuse(query, outcomes, CORPUS)


def test_the_runs_of_none_one_and_two_terms() -> None:
    assert plan(STAGE, Query("x", required=("absent",))) == [("g0", (), 1.0)]
    assert plan(STAGE, Query("x", required=("red",), must=("x",))) == [
        ("g0", ("x",), 1.0),
        ("g_req:A", ("x", "red"), 1.0),
    ]
    assert plan(STAGE, Query("x", required=("red", "absent", "blue", "red"), must=("x",))) == [
        ("g0", ("x",), 1.0),
        ("g_req:A+B", ("x", "red", "blue"), 1.1),
        ("g_req:A", ("x", "red"), 1.0),
        ("g_req:C", ("x", "blue"), 1.0),
    ]
    heavy = RequiredTerms(too_common=1.0, free_weight=3.0, both_weight=2.0)
    weights = [weight for *_, weight in plan(heavy, Query("x", required=("red", "blue")))]
    assert weights == [3.0, 2.0, 1.0, 1.0]


def test_beside_alternatives_one_run_is_enough_where_the_terms_meet() -> None:
    query = Query("x", required=("red", "blue"), alternatives=("y",))
    assert plan(STAGE, query) == [("g0", (), 1.0), ("g_req:A+B", ("red", "blue"), 1.1)]
    apart = MemoryCorpus([A, B], Bigram())
    assert [name for name, *_ in plan(STAGE, query, apart)] == [
        *("g0", "g_req:A+B", "g_req:A", "g_req:B"),
    ]
    elsewhere = replace(query, within=frozenset({"a.md", "b.md"}))
    assert len(plan(STAGE, elsewhere)) == 4
    assert len(plan(STAGE, replace(query, must=("green",)))) == 4
    assert len(plan(STAGE, replace(query, exclude=frozenset({C.key})))) == 4


def test_the_gates_are_blended_by_score_and_rank() -> None:
    # Free: a 4, b 2. Required: a 1 (of c 3). Ranks: a 1/61 + 1.1/62, b 1/62, c 1.1/61.
    free = ranked((4.0, Hit(A, 0)), (2.0, Hit(B, 0)))
    required = ranked((3.0, Hit(C, 0)), (1.0, Hit(A, 0)))
    result = fused(Query("x", required=("red",)), free, required)
    top = 1 / 61 + 1.1 / 62
    assert {hit.passage.path: hit.score for hit in result.hits} == pytest.approx(
        {
            "a.md": 4 * (0.65 * 1 + 0.35 * 1),
            "b.md": 4 * (0.65 * 2 / 4 + 0.35 * (1 / 62) / top),
            "c.md": 4 * (0.65 * 3 / 4 + 0.35 * (1.1 / 61) / top),
        }
    )
    assert {hit.passage.path: set(hit.labels) for hit in result.hits} == {
        "a.md": {"gate_rrf", "pinned", "required_term"},
        "b.md": {"gate_rrf"},
        "c.md": {"gate_rrf", "pinned", "required_term"},
    }
    assert result.diagnostics == {
        "kept": ["red"],
        "gated": True,
        "weights": {FREE: 1.0, REQUIRED: 1.1},
        "rrf_k": 60,
    }
    assert result.terms == TermUse(None, ())


def test_the_settings_are_the_numbers_of_the_formula() -> None:
    stage = RequiredTerms(k=1, free_weight=2.0, required_weight=3.0, score_share=0.5, too_common=1)
    free, required = ranked((4.0, Hit(A, 0))), ranked((2.0, Hit(C, 0)))
    result = fused(Query("x", required=("red",)), free, required, stage=stage)
    # Ranks: a 2/2, c 3/2.
    assert {hit.passage.path: hit.score for hit in result.hits} == pytest.approx(
        {"a.md": 4 * (0.5 + 0.5 * 2 / 3), "c.md": 4 * (0.5 * 0.5 + 0.5)}
    )
    assert result.diagnostics["weights"] == {FREE: 2.0, REQUIRED: 3.0}


@pytest.mark.parametrize(
    ("text", "enough", "weight"),
    [
        ("red sky", 4, 1.1),
        ("red sky sea tree", 4, 1.1),
        ("red sky sea tree stone", 4, 1.1 * 4 / 5),
        ("the reds of sky, sea, sky and tree", 2, 1.1 * 2 / 4),
        # A term that the question lacks says more than the question does.
        ("sky sea tree stone wind", 2, 1.1),
        ("reddish sky sea tree stone", 2, 1.1),
        # A run of kanji has as much meaning as several words, and a number is no word.
        ("red 有給 休暇 申請 期限 42", 1, 1.1),
        ("red 有給 休暇 sky", 1, 1.1 / 2),
    ],
)
def test_a_word_of_a_long_english_question_weighs_less_as_a_required_term(
    text: str, enough: int, weight: float
) -> None:
    stage = RequiredTerms(too_common=1.0, enough_words=enough)
    free, required = ranked((4.0, Hit(A, 0))), ranked((2.0, Hit(C, 0)))
    result = fused(Query(text, required=("red",)), free, required, stage=stage)
    assert result.diagnostics["weights"] == {FREE: 1.0, REQUIRED: round(weight, 4)}
    ranks = {"a.md": 1 / 61, "c.md": weight / 61}
    best = max(ranks.values())
    assert {hit.passage.path: hit.score for hit in result.hits} == pytest.approx(
        {
            "a.md": 4 * (0.65 + 0.35 * ranks["a.md"] / best),
            "c.md": 4 * (0.65 / 2 + 0.35 * ranks["c.md"] / best),
        }
    )


def test_the_words_of_a_question_are_english_words_alone_or_beside_others() -> None:
    assert RequiredTerms().enough_words == 4
    for text, words, alone in (
        ("the red sky", 2, 2),
        ("red 有給 sky 休暇", 2, 0),
        ("有給 休暇", 0, 0),
        ("red 42", 1, 1),
    ):
        assert english_words(text) == words
        assert english_words(text, alone=True) == alone


def test_one_term_that_the_question_lacks_is_enough_for_the_whole_weight() -> None:
    stage, text = RequiredTerms(too_common=1.0, enough_words=1), "red sky sea tree stone"
    for required, weight in ((("red", "blue"), 1.1), (("red",), 0.22)):
        query = Query(text, required=required)
        rankings = [ranked((4.0, Hit(C, 0))) for _ in plan(stage, query)]
        result = fused(query, *rankings, stage=stage)
        assert result.diagnostics["weights"] == {FREE: 1.0, REQUIRED: weight}


def test_two_terms_merge_three_runs_into_the_second_gate() -> None:
    # Second gate: c 1.1/61 + 1/61 + 1/61, a and b 1/62 each. Then the gates are merged, of
    # which only the second has hits: c, a, b.
    query = Query("x", required=("red", "blue"))
    both = ranked((3.0, Hit(C, 0)))
    first, second = (
        ranked((3.0, Hit(C, 0)), (2.0, Hit(A, 0))),
        ranked((3.0, Hit(C, 0)), (1.0, Hit(B, 0))),
    )
    result = fused(query, Ranking(), both, first, second)
    assert [(hit.passage.path, round(hit.score, 9)) for hit in result.hits] == [
        ("c.md", 3.0),
        ("a.md", round(3 * (0.65 * 2 / 3 + 0.35 * 61 / 62), 9)),
        ("b.md", round(3 * (0.65 * 1 / 3 + 0.35 * 61 / 63), 9)),
    ]
    assert [set(hit.labels) for hit in result.hits] == [
        {"gate_rrf", "required_terms_rrf", "pinned", "required_term_and"},
        {"gate_rrf", "required_terms_rrf", "required_term"},
        {"gate_rrf", "required_terms_rrf", "required_term"},
    ]


def test_when_nothing_passes_the_first_gate_remains_without_weak_matches() -> None:
    rows = [
        Hit(A, 4.0, coverage=0.5),
        Hit(B, 3.0, coverage=0.49),
        Hit(C, 2.0, frozenset({"phrase"})),
    ]
    result = fused(Query("x", required=("absent",)), Ranking(tuple(rows)))
    assert result.hits == (rows[0], rows[2])
    assert result.left_out == (LeftOut("b.md", 1, "weak_match"),)
    assert result.diagnostics["gated"] is False
    assert result.diagnostics["kept"] == ["absent"]


def test_a_follow_up_keeps_its_weak_matches_where_sections_with_the_terms_are_excluded() -> None:
    rows, excluded = (Hit(B, 3.0, coverage=0.1),), frozenset({("a.md", 1)})
    for term, hits in (("red", rows), ("absent", ())):
        query = Query("x", required=(term,), exclude=excluded)
        empty = [Ranking()] * (len(plan(STAGE, query)) - 1)
        assert fused(query, Ranking(rows), *empty).hits == hits


def test_a_query_of_no_terms_keeps_its_weak_matches() -> None:
    row = Hit(A, 4.0)
    result = fused(Query("の"), Ranking((row,)))
    assert (result.hits, result.left_out) == ((row,), ())
    assert result.diagnostics["picked"] == []


def corpus_of(size: int, holding: int) -> MemoryCorpus:
    return MemoryCorpus(
        [passage(f"{n}.md", body="red" if n < holding else "sky") for n in range(size)]
    )


@pytest.mark.parametrize(
    ("size", "holding", "reason"),
    [
        (20, 17, None),
        (20, 18, "too_common"),
        (19, 19, None),
        (100, 2, None),
        (101, 2, "too_rare"),
        (100, 0, None),
    ],
)
def test_terms_too_rare_are_flagged_and_those_too_common_dropped(
    size: int, holding: int, reason: str | None
) -> None:
    query, corpus, stage = Query("x", required=("red",)), corpus_of(size, holding), RequiredTerms()
    runs = stage.plan(query, corpus)
    result = stage.fuse(query, [Outcome(Run(FREE, query), Ranking())] * len(runs), corpus)
    dropped = reason == "too_common"
    assert len(runs) == (1 if dropped or not holding else 2)
    assert result.terms is not None
    assert [tuple(row) for row in result.terms.filtered] == (
        [] if reason is None else [tuple(TermFilter("red", reason, dropped))]  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("text", "picked"),
    [
        ("red blue", ["blue", "red"]),
        ("sky", []),
        ("the sky", []),
    ],
)
def test_a_query_that_names_no_terms_gets_its_rarest_two(text: str, picked: list[str]) -> None:
    assert fused_picks(text, CORPUS) == picked


@pytest.mark.parametrize(("number", "picked"), [(11, ["blue", "red"]), (12, [])])
def test_nothing_is_picked_from_a_query_of_more_than_twelve_concepts(
    number: int, picked: list[str]
) -> None:
    words = " ".join(["blue", *(f"absent{place}" for place in range(number - 1))])
    assert fused_picks(f"red {words}", CORPUS) == picked


def test_the_number_of_concepts_up_to_which_terms_are_picked_is_a_setting() -> None:
    stage = RequiredTerms(too_common=1.0, picked_up_to=1)
    assert fused_picks("blue", CORPUS, stage) == ["blue"]
    assert fused_picks("red blue", CORPUS, stage) == []


def fused_picks(text: str, corpus: MemoryCorpus, stage: RequiredTerms | None = None) -> object:
    query, stage = Query(text), stage or RequiredTerms(too_common=1.0)
    outcomes = [Outcome(run, Ranking()) for run in stage.plan(query, corpus)]
    return stage.fuse(query, outcomes, corpus).diagnostics["picked"]


def test_a_run_that_covers_little_of_the_query_weighs_less() -> None:
    # Free covers all of the query, required 0.25: half of what is trusted; its square is a fourth.
    free = ranked((4.0, Hit(B, 0, coverage=1.0)))
    required = ranked((6.0, Hit(A, 0, coverage=0.25)))
    stage = RequiredTerms(too_common=1.0, trusted=0.5)
    ranking = fused(Query("x", required=("red",)), free, required, stage=stage)
    assert ranking.diagnostics["trust"] == {"g_req:A": 0.25}
    assert ranking.diagnostics["weights"] == {FREE: 1.0, REQUIRED: 0.275}
    # Ranks: b 1/61, the best, and a 0.275/61; scores: b 4, the best, and a 6 / 4.
    assert {hit.passage.path: hit.score for hit in ranking.hits} == {
        "b.md": pytest.approx(4.0),
        "a.md": pytest.approx(4 * (0.65 * 1.5 / 4 + 0.35 * 0.275)),
    }


def test_where_the_free_run_covers_less_a_poor_run_is_trusted_more() -> None:
    # Half of what is trusted again; free covers a half, so the exponent is 2 * 0.0625.
    free = ranked((4.0, Hit(B, 0, coverage=0.5)))
    required = ranked((6.0, Hit(A, 0, coverage=0.125)))
    stage = RequiredTerms(too_common=1.0, trusted=0.5)
    ranking = fused(Query("x", required=("red",)), free, required, stage=stage)
    assert ranking.diagnostics["trust"] == {"g_req:A": 0.917}


def test_a_run_that_covers_nothing_is_trusted_least() -> None:
    stage = RequiredTerms(too_common=1.0, least_trust=0.2)
    free, required = ranked((4.0, Hit(B, 0, coverage=1.0))), ranked((9.0, Hit(A, 0)))
    ranking = fused(Query("x", required=("red",)), free, required, stage=stage)
    assert ranking.diagnostics["trust"] == {"g_req:A": 0.2}
    assert [hit.passage for hit in ranking.hits] == [B, A]


def test_each_run_is_trusted_by_itself_and_the_gate_by_the_best() -> None:
    free = ranked((4.0, Hit(C, 0, coverage=1.0)))
    good, poor = ranked((5.0, Hit(C, 0, coverage=1.0))), ranked((9.0, Hit(A, 0, coverage=0.4)))
    ranking = fused(Query("x", required=("red", "blue")), free, good, poor, good)
    assert ranking.diagnostics["trust"] == {"g_req:A": 0.25}
    assert ranking.diagnostics["weights"] == {FREE: 1.0, REQUIRED: 1.1}
    assert ranking.hits[0].passage == C


def test_where_the_free_run_covers_nothing_terms_are_trusted() -> None:
    ranking = fused(Query("x", required=("red",)), ranked(), ranked((9.0, Hit(A, 0))))
    assert "trust" not in ranking.diagnostics
    assert [hit.passage for hit in ranking.hits] == [A]


# --- trust in required terms ------------------------------------------------------------------


def covering(*shares: float) -> Ranking:
    pages = (A, B, C)
    return Ranking(tuple(Hit(pages[n], 4.0 - n, coverage=s) for n, s in enumerate(shares)))


@pytest.mark.parametrize(
    ("free", "required", "trust"),
    [
        # (coverage of g_req / of g0 / 0.8) to the power of 2 * coverage of g0 ** 4
        (1.0, 1.0, 1.0),
        (1.0, 0.8, 1.0),
        (1.0, 0.4, 0.25),
        (1.0, 0.1, 0.1),
        (0.5, 0.2, 0.5**0.125),
        (0.5, 0.3, 0.75**0.125),
        (0.0, 0.0, 1.0),
    ],
)
def test_a_run_that_covers_less_than_the_free_one_is_trusted_less(
    free: float, required: float, trust: float
) -> None:
    query = Query("x", required=("red",))
    result = fused(query, covering(free, 0.0), covering(required, 0.0))
    expected = round(1.1 * trust, 4)
    assert result.diagnostics["weights"] == {FREE: 1.0, REQUIRED: expected}
    doubted = {"g_req:A": round(trust, 4)}
    assert result.diagnostics.get("trust") == (doubted if trust < 1 else None)


def test_the_best_coverage_of_a_run_counts_wherever_it_ranks() -> None:
    query = Query("x", required=("red",))
    result = fused(query, covering(0.2, 1.0), covering(0.1, 0.4))
    assert result.diagnostics["trust"] == {"g_req:A": 0.25}


def test_a_doubted_run_has_less_weight_and_lower_scores() -> None:
    """Of two terms, the run of a doubted one counts by its trust in the second gate."""
    query = Query("x", required=("red", "blue"))
    free, both = covering(1.0), Ranking()
    first = Ranking((Hit(A, 4.0, coverage=1.0),))
    second = Ranking((Hit(B, 4.0, coverage=0.4),))
    result = fused(query, free, both, first, second)
    assert result.diagnostics["trust"] == {"g_req:A+B": 0.1, "g_req:B": 0.25}
    # Second gate: a 1/61, b 0.25/61, so a is before b. Then a 1/61 + 1.1/61 and b 1.1/62.
    assert {hit.passage.path: hit.score for hit in result.hits} == pytest.approx(
        {
            "a.md": 4.0,
            "b.md": 4 * (0.65 * 0.25 + 0.35 * (1.1 / 62) / (2.1 / 61)),
        }
    )
    swapped = fused(query, free, both, second._replace(hits=(Hit(A, 4.0, coverage=0.4),)),
                    first._replace(hits=(Hit(B, 4.0, coverage=1.0),)))  # fmt: skip
    paths = {hit.passage.path: hit.score for hit in swapped.hits}
    assert paths["b.md"] == pytest.approx(4 * (0.65 + 0.35 * (1.1 / 61) / (1 / 61 + 1.1 / 62)))


def test_the_weight_of_a_doubted_run_is_multiplied_by_its_trust() -> None:
    """Second gate: c (both terms) 1.1 * 0.25 / 61, a 0.5125 ** 2 / 61, so c is before a."""
    query = Query("x", required=("red", "blue"))
    free = Ranking((Hit(B, 4.0, coverage=1.0),))
    both, first = Ranking((Hit(C, 4.0, coverage=0.4),)), Ranking((Hit(A, 4.0, coverage=0.41),))
    result = fused(query, free, both, first, Ranking())
    assert result.diagnostics["trust"] == {"g_req:A+B": 0.25, "g_req:A": 0.2627, "g_req:B": 0.1}
    trust = 0.5125**2
    assert result.diagnostics["weights"] == {FREE: 1.0, REQUIRED: round(1.1 * trust, 4)}
    # Ranks: b 1/61, c 1.1 * trust / 61, a 1.1 * trust / 62.
    assert {hit.passage.path: hit.score for hit in result.hits} == pytest.approx(
        {
            "b.md": 4.0,
            "c.md": 4 * (0.65 * 0.25 + 0.35 * 1.1 * trust),
            "a.md": 4 * (0.65 * trust + 0.35 * 1.1 * trust * 61 / 62),
        }
    )


def test_a_trusted_run_goes_before_a_doubted_one_of_more_weight() -> None:
    """Second gate: a 1 / 61, and c (both terms) 1.1 * 0.25 / 61."""
    query = Query("x", required=("red", "blue"))
    free = Ranking((Hit(B, 4.0, coverage=1.0),))
    both, first = Ranking((Hit(C, 4.0, coverage=0.4),)), Ranking((Hit(A, 4.0, coverage=1.0),))
    result = fused(query, free, both, first, Ranking())
    # Ranks: a 1.1/61, b 1/61, c 1.1/62.
    assert {hit.passage.path: hit.score for hit in result.hits} == pytest.approx(
        {
            "a.md": 4.0,
            "b.md": 4 * (0.65 + 0.35 / 1.1),
            "c.md": 4 * (0.65 * 0.25 + 0.35 * 61 / 62),
        }
    )


def test_the_least_trust_and_the_weight_beside_alternatives_are_settings() -> None:
    assert RequiredTerms() == RequiredTerms(beside_alternatives=0.3, least_trust=0.1)
    for wrong in ({"beside_alternatives": 0}, {"least_trust": -0.1}, {"least_trust": 1.1}):
        with pytest.raises(ValueError, match="Input should be"):
            RequiredTerms.model_validate(wrong)
    query = Query("x", required=("red",), alternatives=("y",))
    result = fused(query, covering(1.0), covering(1.0))
    assert result.diagnostics["weights"] == {FREE: 1.0, REQUIRED: 0.33}
    assert fused(Query("x", required=("absent",)), covering(1.0)).diagnostics["weights"] == {
        FREE: 1.0,
        REQUIRED: 1.1,
    }
