"""Numbers and codes by hand: the rule is ours, and stands in the docstring of the scorer."""

from __future__ import annotations

import pytest

from fumishirube import Query
from fumishirube.testing import MemoryCorpus, passage
from fumishirube_stages.scorers.numbers import Numbers

CONTEXT, CODE = 0.8, 1.6
Marks = frozenset[str]
IN_CONTEXT, IS_CODE = Marks({"number_context"}), Marks({"code_exact"})


def scored(
    text: str, body: str, title: str = "", stage: Numbers | None = None
) -> list[tuple[float, Marks]]:
    item = passage("a.md", title=title, body=body)
    hits = (stage or Numbers()).score(Query(text), MemoryCorpus(), {item.key: item})
    return [(hit.score, hit.labels) for hit in hits]


@pytest.mark.parametrize(
    ("text", "body", "number"),
    [
        ("30日以内", "申請は30日まで", 1),
        ("30日以内", "申請は30 日まで", 1),
        ("30日以内", "申請は30名まで", 0),
        ("30日以内", "申請は130日まで", 0),
        ("30日以内", "申請は3日まで", 0),
        ("within 30 days", "it takes 30 d", 1),
        ("within 30 days", "it takes 30 minutes", 0),
        ("1.5倍", "賃金の1.5倍を払う", 1),
        ("1.5倍", "賃金の1,5倍を払う", 0),
        ("第12", "第12を見る", 1),
        ("第 12", "第12を見る", 1),
        ("第12", "第 12", 1),
        ("これは第12", "第12を見る", 1),
        ("5 kg", "a bag of 2.5 kg", 0),
        ("5 kg", "a bag of 5 kg", 1),
        ("価格 100", "価格100,000円", 0),
        ("100円", "価格1,100円", 0),
        ("port 80", "port 80.5", 0),
        ("port 80", "at port 80.", 1),
        ("port 80", "port 80, or 81", 1),
        ("第12", "第123", 0),
        ("第12", "表12", 0),
        ("第12条", "表12条", 1),
        ("12", "12", 0),
        ("(12)", "(12)", 0),
        ("30日と5名", "30日と5名", 2),
        ("30日と5名", "30日と6名", 1),
        ("30日と5名と7回", "30日と5名と7回", 2),
    ],
)
def test_each_number_with_its_neighbour_adds_its_bonus_and_two_count_at_most(
    text: str, body: str, number: int
) -> None:
    expected = [(number * CONTEXT, IN_CONTEXT)] if number else []
    assert scored(text, body) == expected


@pytest.mark.parametrize("text", ["e-104", "E_104", "iso-9001-a"])
def test_a_code_adds_its_bonus_once(text: str) -> None:
    assert scored(text, f"see {text.casefold()} here, {text.casefold()}") == [(CODE, IS_CODE)]
    assert scored(text, f"see z{text.casefold()} here") == []


def test_two_codes_are_worth_as_much_as_either() -> None:
    assert scored("x-1 y-2", "x-1 and y-2") == [(CODE, IS_CODE)]
    assert scored("x-1 y-2", "y-2") == [(CODE, IS_CODE)]


def test_both_add_up_and_digits_that_touch_a_letter_have_a_neighbour() -> None:
    assert scored("x-1 30日", "x-1 は30日") == [(CODE + CONTEXT, IN_CONTEXT | IS_CODE)]
    assert scored("x1", "see x1") == [(CODE + CONTEXT, IN_CONTEXT | IS_CODE)]


def test_no_number_and_no_code_finds_nothing() -> None:
    assert scored("休暇", "休暇") == []
    assert scored("e", "e") == []


def test_title_and_headings_count_like_the_body() -> None:
    assert scored("30日", "なし", title="30日") == [(CONTEXT, IN_CONTEXT)]
    below = passage("a.md", body="なし", ancestors=["30日"])
    (hit,) = Numbers().score(Query("30日"), MemoryCorpus(), {below.key: below})
    assert hit.score == CONTEXT


def test_the_settings_are_the_numbers_of_the_formula() -> None:
    stage = Numbers(context=3.0, code=5.0)
    assert scored("x-1 30日と5名", "x-1 30日と5名", stage=stage) == [(11.0, IN_CONTEXT | IS_CODE)]


@pytest.mark.parametrize(
    ("body", "score"),
    [
        ("5" * 15 + "x" * 85, 3.0),
        ("0123456789" * 3 + "x" * 70, 6.0),
        ("5" * 60 + "x" * 40, 6.0),
        ("5" * 30 + "x" * 170, 3.0),
        ("55555", 1.0),
    ],
)
def test_a_long_query_with_a_number_adds_the_share_of_figures(body: str, score: float) -> None:
    for number in ("2018", "(2018)"):
        assert scored(f"現金 売上 利益 税率 {number}", body) == [(pytest.approx(score), Marks())]


@pytest.mark.parametrize(
    "text", ["現金 売上 利益 2018", "現金 売上 利益 税率", "2018", "1日 2日 3日 4日 5日"]
)
def test_figures_count_neither_for_a_short_query_nor_for_one_without_a_number(text: str) -> None:
    assert scored(text, "5" * 50) == []


def test_figures_are_added_to_numbers_and_codes() -> None:
    body = "利益 2018 x-1 と " + "5" * 11 + "x" * 75
    text = "現金 売上 税率 利益2018 x-1"
    assert len(body) == 100
    assert scored(text, body) == [
        (pytest.approx(CONTEXT + CODE + 6 * 16 / 30), IN_CONTEXT | IS_CODE)
    ]


def test_the_settings_of_figures_are_those_of_the_formula() -> None:
    body = "5" * 50 + "x" * 150
    stage = Numbers(figures=2.0, figure_share=0.5, few_concepts=2)
    assert scored("現金 売上 利益 2018", body, stage=stage) == [(1.0, Marks())]
    assert scored("現金 売上 2018", body, stage=stage) == []
    assert scored("現金 売上 利益 税率 2018", body, stage=Numbers(figures=0.0)) == []


def test_without_a_number_no_word_is_enough_for_figures() -> None:
    stage = Numbers(few_concepts=0)
    assert scored("現金", "5" * 50, stage=stage) == []
    assert scored("2018", "5" * 50, stage=stage) == []
    assert scored("現金 2018", "5" * 50, stage=stage) == [(6.0, Marks())]


def test_numbers_and_codes_have_their_labels_without_a_score_too() -> None:
    assert scored("30日", "30日", stage=Numbers(context=0.0)) == [(0.0, IN_CONTEXT)]
    assert scored("e-104", "e-104", stage=Numbers(code=0.0)) == [(0.0, IS_CODE)]


def test_a_section_without_numbers_does_not_end_the_search_and_a_second_run_says_the_same() -> None:
    items = [passage("a.md", body="なし"), passage("b.md", body="30日")]
    query = Query("30日")
    candidates = {item.key: item for item in items}
    for _ in range(2):
        hits = Numbers().score(query, MemoryCorpus(), candidates)
        assert [(hit.passage.path, hit.score) for hit in hits] == [("b.md", CONTEXT)]


def test_it_nominates_nothing() -> None:
    assert Numbers.generates is False


def test_the_first_32_codes_and_numbers_of_a_query_are_looked_up() -> None:
    codes = ", ".join(f"x-{number}" for number in range(33))
    assert scored(codes, "see x-31") == [(CODE, IS_CODE)]
    assert scored(codes, "see x-32") == []
    numbers = " ".join(f"{number}日" for number in range(100, 133))
    assert scored(numbers, "131日") == [(CONTEXT, IN_CONTEXT)]
    assert scored(numbers, "132日") == []
