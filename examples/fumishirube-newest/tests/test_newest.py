from __future__ import annotations

from datetime import date

import pytest
from fumishirube_newest import Newest
from fumishirube_newest.dates import dated, labelled

from fumishirube import Query, Ranking
from fumishirube.testing import MemoryCorpus, RefinerContract, passage, ranking

OLD = passage("2021-04-01/travel.md", body="日当は二千円とする。")
NEW = passage("2024-04-01/travel.md", body="日当は三千円とする。")
LABELLED = passage("travel.md", body="日当は四千円とする。\n最終更新: 令和7年4月1日")
PLAIN = passage("notes.md", body="日当は2099-01-01まで五千円とする。")


class TestNewest(RefinerContract):
    stage = Newest()


class TestNewestWithOtherSettings(RefinerContract):
    stage = Newest(weight=1.0, half_life_days=30.0, undated_days=0.0, labels=())


def order(stage: Newest, initial: Ranking) -> list[str]:
    corpus = MemoryCorpus([hit.passage for hit in initial.hits])
    return [hit.passage.path for hit in stage.refine(initial, Query("日当"), corpus).hits]


def near(*passages: object) -> Ranking:
    """Rank passages close to each other: 100, 99, 98 …"""
    initial = ranking(passages)  # type: ignore[arg-type]
    hits = (hit.scored(100.0 - place) for place, hit in enumerate(initial.hits))
    return initial._replace(hits=tuple(hits))


def test_of_much_the_same_the_newest_comes_first() -> None:
    assert order(Newest(), near(OLD, NEW)) == [NEW.path, OLD.path]


def test_what_answers_far_better_stays_first() -> None:
    initial = ranking([OLD, NEW])
    hits = (initial.hits[0].scored(100.0), initial.hits[1].scored(10.0))
    assert order(Newest(), initial._replace(hits=hits)) == [OLD.path, NEW.path]


def test_a_date_may_stand_in_the_text_behind_a_label() -> None:
    assert order(Newest(), near(OLD, NEW, LABELLED)) == [LABELLED.path, NEW.path, OLD.path]


def test_a_date_without_a_label_dates_nothing() -> None:
    refined = Newest().refine(near(PLAIN), Query("日当"), MemoryCorpus([PLAIN]))
    assert refined == near(PLAIN)


def test_one_half_life_costs_half_of_the_weight() -> None:
    stage = Newest(weight=0.4, half_life_days=1096)  # three years, one of them a leap year
    initial = near(NEW, OLD)
    hits = stage.refine(initial, Query("日当"), MemoryCorpus([OLD, NEW])).hits
    assert [hit.score for hit in hits] == pytest.approx([100.0, 99.0 * 0.8])


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("docs/2024-05-01-release", [date(2024, 5, 1)]),
        ("2024/5", [date(2024, 5, 1)]),
        ("ver_20240501.md", [date(2024, 5, 1)]),
        ("２０２４年５月３日", [date(2024, 5, 3)]),
        ("令和元年5月 / 平成31年4月30日", [date(2019, 5, 1), date(2019, 4, 30)]),
        ("2024-02-30, 2024-13-01, 12024-05-01, 1-2-3", []),
        ("2024-05/01", [date(2024, 5, 1)]),
    ],
)
def test_dates_are_read_as_manuals_write_them(text: str, days: list[date]) -> None:
    assert dated(text) == days


def test_the_date_is_the_one_that_follows_the_label() -> None:
    text = "Written 2020-01-01. Last updated: 2024-05-01, 2024-06-01 at the latest."
    assert labelled(text, ("last updated",)) == [date(2024, 5, 1)]
    assert labelled("本書の改訂日は2024年5月です", ("改訂日",)) == [date(2024, 5, 1)]
    assert labelled("backdated 2024-05-01", ("date",)) == []
