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


def test_a_section_without_numbers_does_not_end_the_search_and_a_second_run_says_the_same() -> None:
    items = [passage("a.md", body="なし"), passage("b.md", body="30日")]
    query = Query("30日")
    candidates = {item.key: item for item in items}
    for _ in range(2):
        hits = Numbers().score(query, MemoryCorpus(), candidates)
        assert [(hit.passage.path, hit.score) for hit in hits] == [("b.md", CONTEXT)]


def test_it_nominates_nothing() -> None:
    assert Numbers.generates is False
