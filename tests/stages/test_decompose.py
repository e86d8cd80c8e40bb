"""Comparisons by hand: sides are merged by rank after Cormack, Clarke and Buettcher (2009), k = 60.

How that is blended with the question's own scores is ours; the rule stands with the fuser.
"""

from __future__ import annotations

import pytest

from fumishirube import Hit, Outcome, Query, Ranking, Run
from fumishirube.testing import MemoryCorpus, passage
from fumishirube_stages.fusers.decompose import Decompose, sides
from fumishirube_stages.tokenizers.bigram import Bigram

A, B, C = (passage(f"{name}.md", body="x") for name in "abc")
CORPUS = MemoryCorpus()


def fused(stage: Decompose, *rankings: tuple[Hit, ...]) -> list[tuple[str, float, bool]]:
    query = Query("x")
    outcomes = [Outcome(Run(f"{n}", query), Ranking(hits)) for n, hits in enumerate(rankings)]
    ranking = stage.fuse(query, outcomes, CORPUS)
    return [(h.passage.path, round(h.score, 9), "pinned_top" in h.labels) for h in ranking.hits]


BASE = (Hit(A, 10.0), Hit(B, 5.0))
SIDES = ((Hit(B, 3.0), Hit(A, 2.0)), (Hit(C, 7.0), Hit(B, 6.0)))


def test_the_worked_example() -> None:
    # Ranks: a 1/61 + 1/62; b 1/62 + 1/61 + 1/62; c 1/61. 0.3 of the own score, 0.7 of the rank.
    top = 2 / 62 + 1 / 61
    a = 0.3 + 0.7 * (1 / 61 + 1 / 62) / top
    b = 0.3 * 0.5 + 0.7
    c = 0.7 * (1 / 61) / top
    assert b > a > c
    # The own scores are 10 and 5; c comes after them.
    assert fused(Decompose(), BASE, *SIDES) == [
        ("b.md", 10.0, True),
        ("a.md", 5.0, False),
        ("c.md", round(5 * c / a, 9), True),
    ]


def test_a_section_that_is_far_ahead_stays_far_ahead() -> None:
    own = (Hit(A, 50.0), Hit(B, 6.0), Hit(C, 5.0))
    sides = ((Hit(A, 9.0), Hit(C, 8.0), Hit(B, 7.0)), (Hit(B, 9.0), Hit(C, 8.0), Hit(A, 7.0)))
    paths_and_scores = [(path, score) for path, score, _ in fused(Decompose(), own, *sides)]
    assert paths_and_scores == [("a.md", 50.0), ("b.md", 6.0), ("c.md", 5.0)]


def test_the_settings_are_the_numbers_of_the_formula() -> None:
    # k = 1: a 1/2 + 1/3 = 5/6, b 1/3 + 1/2 + 1/3 = 7/6, c 1/2.
    a, b, c = 0.5 + 0.5 * 5 / 7, 0.5 * 0.5 + 0.5, 0.5 * 3 / 7
    assert a > b > c
    assert fused(Decompose(rrf_k=1, base_weight=0.5), BASE, *SIDES) == [
        ("a.md", 10.0, False),
        ("b.md", 5.0, True),
        ("c.md", round(5 * c / b, 9), True),
    ]


def test_the_own_best_score_is_the_scale_though_sides_score_higher() -> None:
    # Ranks: a 1/61 of the question; b 1/61 of the side. 0.3 of the own score, 0.7 of the rank.
    assert fused(Decompose(), (Hit(A, 4.0),), (Hit(B, 9.0),)) == [
        ("a.md", 4.0, False),
        ("b.md", round(4 * 0.7, 9), True),
    ]


def test_without_own_hits_the_best_score_of_a_side_is_the_scale() -> None:
    top = 1 / 61 + 1 / 62
    assert fused(Decompose(), (), *SIDES) == [
        ("b.md", 7.0, True),
        ("c.md", round(7 * (1 / 61) / top, 9), True),
        ("a.md", round(7 * (1 / 62) / top, 9), False),
    ]


def test_without_hits_of_sides_the_own_ranking_stays_as_it_is() -> None:
    query, own = Query("x"), Ranking(BASE)
    outcomes = [Outcome(Run("base", query), own), Outcome(Run("side", query), Ranking())]
    assert Decompose().fuse(query, outcomes, CORPUS) is own
    assert Decompose().fuse(query, outcomes[:1], CORPUS) is own


def test_the_runs_are_the_question_and_its_sides() -> None:
    query = Query("red vs blue", must=("x",))
    runs = Decompose().plan(query, CORPUS)
    assert [(run.name, run.query.text, run.query.must) for run in runs] == [
        ("base", "red vs blue", ("x",)),
        ("side:red", "red", ("x",)),
        ("side:blue", "blue", ("x",)),
    ]
    assert len(Decompose(max_sub_queries=2).plan(query, CORPUS)) == 2
    assert [run.name for run in Decompose(enabled=False).plan(query, CORPUS)] == ["base"]
    assert [run.name for run in Decompose().plan(Query("red"), CORPUS)] == ["base"]


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("difference between red and blue?", ("red", "blue")),
        ("compare red with blue", ("red", "blue")),
        ("Red versus Blue", ("red", "blue")),
        ("休暇と欠勤の違い", ("休暇", "欠勤")),
        ("教えて。休暇と欠勤を比較", ("休暇", "欠勤")),
        ("「休暇」と「欠勤」の違い", ("休暇", "欠勤")),
        ("税と金の違い", ("税", "金")),
        ("aとbの違い", ("a", "b")),
        ("あと税の違い", ()),
        ("red vs red", ()),
        ("休暇と休暇の違い", ()),
        ("休暇の違い", ()),
        ("あと休暇と欠勤の違い", ("あと休暇", "欠勤")),
        ("Python 3.11 vs Python 3.12?", ("python 3.11", "python 3.12")),
        ("differences between v1.2 and v1.3, please", ("v1.2", "v1.3")),
        ("First. manual.md versus notes.md.", ("manual.md", "notes.md")),
        ("1,000円と2,000円の違い", ("1,000円", "2,000円")),
        ("では,休暇と欠勤の違い", ("休暇", "欠勤")),
        ("休暇と欠勤", ()),
    ],
)
def test_the_sides_of_a_comparison(text: str, pair: tuple[str, ...]) -> None:
    assert sides(text, CORPUS) == pair


@pytest.mark.parametrize("text", ["真っ赤なみかんとりんご", "青いとあかい", "みかんとお茶"])
def test_only_the_characters_beside_decide_whether_to_is_inside_hiragana(text: str) -> None:
    left, _, right = text.partition("と")
    assert sides(f"{text}の違い", CORPUS) == ()
    there = MemoryCorpus([passage("a.md", body=left), passage("b.md", body=right)])
    assert sides(f"{text}の違い", there) == (left, right)


def test_inside_hiragana_both_sides_have_to_stand_in_the_corpus() -> None:
    text = "みかんとりんごの違い"
    there = MemoryCorpus([passage("a.md", body="みかん"), passage("b.md", body="りんご")])
    assert sides(text, there) == ("みかん", "りんご")
    assert sides(text, MemoryCorpus([passage("a.md", body="みかん")])) == ()
    assert sides(text, CORPUS) == ()


@pytest.mark.parametrize("length", [999, 1000, 1001])
def test_a_text_of_over_a_thousand_characters_is_no_comparison(length: int) -> None:
    text = "red vs blue".ljust(length, ".")
    assert sides(text, CORPUS) == (("red", "blue") if length <= 1000 else ())


def test_to_inside_hiragana_divides_only_what_occurs_by_itself() -> None:
    """ひととおり has と inside of a word; ひとと and おり are no words of the corpus."""
    both = MemoryCorpus([passage("a.md", body="いぬ"), passage("b.md", body="ねこ")], Bigram())
    assert sides("いぬとねこの違い", both) == ("いぬ", "ねこ")
    one = MemoryCorpus([passage("a.md", body="いぬ")], Bigram())
    assert sides("いぬとねこの違い", one) == ()
    assert sides("犬とねこの違い", one) == ("犬", "ねこ")
    assert sides("いぬと猫の違い", one) == ("いぬ", "猫")
    assert sides("犬と猫の違い", one) == ("犬", "猫")
    assert sides("いぬのとこ犬と猫の違い", one) == ("いぬのとこ犬", "猫")


def test_a_side_has_two_characters_or_one_that_is_not_hiragana() -> None:
    assert sides("a vs b", CORPUS) == ("a", "b")
    assert sides("税と費の違い", CORPUS) == ("税", "費")
    assert sides("税とあの違い", CORPUS) == ()
    assert sides("red vs red", CORPUS) == ()
    assert sides("red vs blue", CORPUS) == ("red", "blue")
    assert sides("「」と税の違い", CORPUS) == ()


def test_three_runs_by_default() -> None:
    assert Decompose() == Decompose(max_sub_queries=3)
    for number in (1, 2, 3):
        runs = Decompose(max_sub_queries=number).plan(Query("red vs blue"), CORPUS)
        assert len(runs) == number
    outcomes = [Outcome(Run(f"{n}", Query("x")), Ranking()) for n in range(3)]
    outcomes[1] = Outcome(outcomes[1].run, Ranking((Hit(A, 1.0),)))
    (hit,) = Decompose().fuse(Query("x"), outcomes, CORPUS).hits
    assert "pinned_top" in hit.labels
