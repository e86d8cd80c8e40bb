"""The words that a manual offers: worth by hand, whole, and none that the question has."""

from __future__ import annotations

import pytest

from fumishirube import TraceRow
from fumishirube.testing import MemoryCorpus, passage
from fumishirube.text import fold
from fumishirube_manual.surface import ManualSurface
from fumishirube_manual.vocabulary import offered_words
from fumishirube_stages.tokenizers.bigram import Bigram

SETTINGS = {"words": 8, "hits": 20, "section_words": 10}


def row(title: str, *ancestors: str, score: float = 1.0) -> TraceRow:
    return TraceRow("a.md", 1, 2, title, "", score, 0.5, frozenset(), (), {}, ancestors)


def offered(*rows: TraceRow, known: str = "", **settings: int) -> tuple[str, ...]:
    titles = [" ".join((r.title, *r.ancestors)) for r in rows]
    corpus = MemoryCorpus(
        [passage(f"{n}.md", title=title) for n, title in enumerate(titles)], Bigram()
    )
    values = {f"vocabulary_{name}": value for name, value in (SETTINGS | settings).items()}
    return offered_words(rows, fold(known), corpus, ManualSurface(**values))


def test_words_are_ordered_by_their_share_of_the_divergence() -> None:
    # Of 20 words in 2 sections. Fee: 3/4 * ln(3/4 * 20 / 1) = 2.03. Locker: 1/4 * ln(5) = 0.40;
    # with a section of 4 words, 1/4 * ln(2) is left of it; of 2, less than nothing.
    rows = (row("Fee", score=3.0), row("Locker", score=1.0))
    assert offered(*rows) == ("Fee", "Locker")
    assert offered(*rows, section_words=2) == ("Fee",)
    assert offered(*rows, words=1) == ("Fee",)
    assert offered(*rows[::-1], hits=1) == ("Locker",)


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("第3章 出産・育児給付", {"出産・育児給付"}),
        ("2.1 人食いライオンとお客様の確認する手順", {"ライオン", "確認", "手順"}),
        ("How to use the Wind_sensor of 2024", {"use", "Wind_sensor"}),
        ("レオナルド・ダ・ヴィンチ", {"レオナルド・ダ・ヴィンチ"}),
        ("の 1 a 12 人", set()),
    ],
)
def test_words_are_whole_and_neither_numbers_nor_stop_words(title: str, words: set[str]) -> None:
    assert set(offered(row(title), section_words=100)) == words


def test_what_the_question_has_and_parts_of_better_words_are_left_out() -> None:
    rows = (row("給付金の申請"), row("給付", "申請", score=0.1))
    assert set(offered(*rows, known="申請したい")) == {"給付金"}


def test_hits_without_a_score_offer_no_words() -> None:
    assert offered(row("Fee", score=0.0), row("Locker", score=1.0)) == ("Locker",)
    assert offered(row("Fee", score=0.0)) == ()
