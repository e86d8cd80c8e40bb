"""Feedback by hand: Rocchio's vectors (1971), as the docstring says."""

from __future__ import annotations

from math import hypot, isfinite, log

import pytest

from fumishirube import Hit, Passage, Query, Ranking
from fumishirube.testing import MemoryCorpus, passage
from fumishirube_stages.refiners.feedback import Feedback
from fumishirube_stages.tokenizers.bigram import Bigram

WING = passage("wing.md", body="wing flow wing drag")
FLOW = passage("flow.md", body="flow heat")
PIPE = passage("pipe.md", body="pipes drag")
REST = [passage(f"{number}.md", body="zzz") for number in range(9)]
ITEMS = [WING, FLOW, PIPE, *REST]
CORPUS = MemoryCorpus(ITEMS, Bigram())
FIVE = "lift speed tube plane angle"
TWO = Feedback(hits=2)

ONCE, TWICE = log(1 + 11.5 / 1.5), log(1 + 10.5 / 2.5)
"""The rarity of a word of one section in twelve, and of two."""
SINGLE = 0.75 * ONCE
"""What a word that no other hit has counts in the length of a vector."""
# WING and FLOW both have flow, WING and PIPE drag; wing (twice), heat and pipe are in one hit each.
ALIKE = TWICE**2 / (hypot(SINGLE, TWICE, TWICE) * hypot(SINGLE, TWICE))
"""The product of WING's vector with that of FLOW, and with that of PIPE."""
PAIR = TWICE**2 / (hypot(SINGLE, SINGLE, TWICE) * hypot(SINGLE, TWICE))
"""The product of WING's vector with that of FLOW where there is no PIPE."""


def refined(
    *scored: tuple[Passage, float],
    text: str = FIVE,
    stage: Feedback = TWO,
    corpus: MemoryCorpus = CORPUS,
) -> dict[str, float]:
    hits = tuple(Hit(item, score) for item, score in scored)
    ranking = stage.refine(Ranking(hits), Query(text), corpus)
    return {hit.passage.path: hit.score for hit in ranking.hits}


def added(stage: Feedback = TWO, text: str = FIVE) -> list[float]:
    """Return what the hits WING, FLOW and PIPE gain, whose scores are 3, 1 and 0.5."""
    before = {"wing.md": 3.0, "flow.md": 1.0, "pipe.md": 0.5}
    after = refined((WING, 3.0), (FLOW, 1.0), (PIPE, 0.5), text=text, stage=stage)
    return [after[path] - score for path, score in before.items()]


def test_the_worked_example() -> None:
    # WING and FLOW are compared with each other; PIPE with both, and FLOW's score is a third.
    factor, third = 2 * 3.0, (1 / 3) ** 3
    assert added() == pytest.approx([factor * ALIKE, factor * ALIKE, factor * ALIKE / (1 + third)])


def test_words_count_in_any_form_and_in_names() -> None:
    named = passage("n.md", title="Wings", ancestors=("Flowing",), body="xyz")
    last = passage("last.md", body="wing wings")
    corpus = MemoryCorpus([*ITEMS, named, last], Bigram())
    hits = ((WING, 3.0), (named, 1.0), (last, 0.5))
    one = Feedback(hits=1, common_share=1.0)
    assert refined(*hits, stage=one, corpus=corpus)["n.md"] > 1.0
    plain = MemoryCorpus([*ITEMS, named, last])
    assert refined(*hits, stage=one, corpus=plain)["n.md"] == 1.0


def test_a_hit_that_gains_something_says_so() -> None:
    hits = (Hit(WING, 3.0), Hit(FLOW, 1.0), Hit(REST[0], 0.5))
    ranking = TWO.refine(Ranking(hits), Query(FIVE), CORPUS)
    labels = [(hit.passage, hit.labels) for hit in ranking.hits]
    assert labels == [(WING, {"prf"}), (FLOW, {"prf"}), (REST[0], frozenset())]


def test_a_word_counts_as_often_as_a_hit_has_it() -> None:
    wings = passage("w.md", body="wing wing wing flow")
    corpus = MemoryCorpus([*ITEMS, wings], Bigram())
    # In 13 sections wing and drag are in two, flow in three.
    two, three = log(1 + 11.5 / 2.5), log(1 + 10.5 / 3.5)
    single = 0.75 * log(1 + 12.5 / 1.5)
    left, right = (1 + log(2)) * two, (1 + log(3)) * two
    product = (left * right + three**2) / (hypot(left, three, single) * hypot(right, three))
    one = Feedback(hits=1, common_share=1.0)
    scores = refined((WING, 3.0), (wings, 1.0), stage=one, corpus=corpus)
    assert scores["w.md"] == pytest.approx(1.0 + 6.0 * product)


def test_a_hit_that_shares_words_passes_one_that_shares_none() -> None:
    one = Feedback(hits=1, weight=1.0)
    scores = refined((WING, 3.0), (REST[0], 1.0), (FLOW, 0.9), stage=one)
    assert [*scores] == ["wing.md", "flow.md", "0.md"]
    assert scores["0.md"] == 1.0


@pytest.mark.parametrize(
    ("stage", "text"),
    [
        # Fewer than five words of English, function words, numbers and repetitions not counted.
        (TWO, "lift speed tube plane"),
        (TWO, "the lift of a speed in 4 tube planes, lift"),
        # Japanese beside it.
        (TWO, f"{FIVE} 翼の揚力"),
        (Feedback(hits=2, least_words=1), "lift 翼"),
        (Feedback(hits=2, least_words=6), FIVE),
        # 28 characters of two bodies are 14 on average.
        (Feedback(hits=2, longest=13), FIVE),
        (Feedback(hits=2, weight=0.0), FIVE),
        (Feedback(hits=2, common_share=0.0), FIVE),
        # flow and drag are in two of twelve sections.
        (Feedback(hits=2, common_share=0.1), FIVE),
        (Feedback(hits=2, depth=1), FIVE),
    ],
)
def test_where_nothing_is_added(stage: Feedback, text: str) -> None:
    assert added(stage, text) == [0.0, 0.0, 0.0]


def test_the_settings_are_the_numbers_of_the_formula() -> None:
    base = added()
    assert added(Feedback(hits=2, longest=14)) == base
    assert added(Feedback(hits=2, common_share=2 / 12)) == base
    assert added(Feedback(hits=2, least_words=1), "lift") == base
    assert added(Feedback(hits=2, weight=1.0)) == pytest.approx([value / 2 for value in base])
    assert added(Feedback(hits=2, depth=2)) == pytest.approx([6 * PAIR, 6 * PAIR, 0.0])
    # FLOW counts as much as WING, and has no word of PIPE.
    assert added(Feedback(hits=2, power=0.0)) == pytest.approx([*base[:2], 6 * ALIKE / 2])
    assert added(Feedback(hits=2, power=1.0))[2] == pytest.approx(6 * ALIKE / (1 + 1 / 3))
    # The first hit has no other to be compared with.
    assert added(Feedback(hits=1)) == pytest.approx([0.0, 6 * ALIKE, 6 * ALIKE])
    # Only the first hits' lengths count: those of 19 characters, and of 19 and 9.
    assert added(Feedback(hits=1, longest=19)) == added(Feedback(hits=1))
    assert added(Feedback(hits=1, longest=18)) == [0.0, 0.0, 0.0]


def test_the_same_text_gains_the_most() -> None:
    again = passage("again.md", body=WING.fields["body"])
    corpus = MemoryCorpus([*ITEMS, again], Bigram())
    scores = refined((WING, 3.0), (again, 1.0), stage=Feedback(hits=1), corpus=corpus)
    assert scores["again.md"] == pytest.approx(1.0 + 6.0)


def sections(number: int, characters: int) -> list[Passage]:
    """Return sections with a common word, each another number of times, and words of their own.

    The bodies of the first five have a number of characters in all.
    """
    shared = [" ".join(["shared"] * (1 + n * n % 7)) for n in range(number)]
    bodies = [f"{text} own{n} word{n}" for n, text in enumerate(shared)]
    bodies[0] += " " + "-" * (characters - 1 - sum(map(len, bodies[:5])))
    return [passage(f"{n:02}.md", body=body) for n, body in enumerate(bodies)]


def test_the_defaults() -> None:
    items = sections(30, 10_000)
    corpus = MemoryCorpus([*items, *(passage(f"x{n}.md", body="zzz") for n in range(200))])
    hits = tuple(Hit(item, 100.0 - place) for place, item in enumerate(items))

    def scores(stage: Feedback) -> list[tuple[str, float]]:
        ranking = stage.refine(Ranking(hits), Query(FIVE), corpus)
        return [(hit.passage.path, hit.score) for hit in ranking.hits]

    default = scores(Feedback())
    assert len(default) == len(items)
    named = {"hits": 5, "weight": 2.0, "power": 3.0, "least_words": 5, "longest": 2000, "depth": 20}
    assert default == scores(Feedback(common_share=0.2, **named))
    others = {"hits": (4, 6), "weight": (1.9,), "power": (2.9,), "least_words": (6,)}
    for name, values in {**others, "longest": (1999,), "depth": (19, 21)}.items():
        for value in values:
            assert scores(Feedback(**{**named, name: value})) != default


def test_words_in_more_than_a_fifth_of_the_sections_are_left_out() -> None:
    pair = [passage(f"{number}.md", body=f"shared own{number}") for number in range(2)]
    for others, gains in ((8, True), (7, False)):
        corpus = MemoryCorpus([*pair, *(passage(f"x{n}.md", body="zzz") for n in range(others))])
        assert (refined((pair[0], 2.0), (pair[1], 1.0), corpus=corpus)["1.md"] > 1.0) is gains


def test_where_every_body_is_empty_names_are_compared() -> None:
    titled = [passage(f"{number}.md", title=f"wing {number}", body="") for number in range(2)]
    corpus = MemoryCorpus([*titled, *ITEMS[1:]], Bigram())
    scores = refined((titled[0], 2.0), (titled[1], 1.0), corpus=corpus)
    assert scores == pytest.approx({"0.md": 2.0 + 4.0, "1.md": 1.0 + 4.0})


def test_a_corpus_without_stems_counts_words() -> None:
    plain = MemoryCorpus(ITEMS)
    wings = passage("w.md", body="wings")
    scores = refined((WING, 3.0), (wings, 1.0), (FLOW, 0.5), corpus=plain, stage=Feedback(hits=1))
    assert scores["w.md"] == 1.0
    assert scores["flow.md"] > 0.5


@pytest.mark.parametrize(
    ("words", "gains"), [("a is with which b 7 翼", False), ("ox", True), ("42", True)]
)
def test_words_have_two_letters_or_digits_and_are_no_function_words(
    words: str, gains: bool
) -> None:
    pair = [passage(f"x{number}.md", body=words) for number in range(2)]
    corpus = MemoryCorpus([*pair, *REST], Bigram())
    scores = refined((pair[0], 2.0), (pair[1], 1.0), corpus=corpus)
    assert (scores["x1.md"] > 1.0) is gains


def test_a_score_of_zero_or_below_weighs_nothing() -> None:
    for score in (0.0, -1.0):
        assert refined((WING, score), (FLOW, -2.0)) == {"wing.md": score, "flow.md": -2.0}
    scores = refined((WING, 3.0), (FLOW, -1.0))
    assert scores == pytest.approx({"wing.md": 3.0, "flow.md": -1.0 + 6 * PAIR})


def test_no_hits_remain_none() -> None:
    assert refined() == {}


def test_the_greatest_power_leaves_large_scores_finite() -> None:
    scores = refined((WING, 1e6), (FLOW, 9e5), (PIPE, 8e5), stage=Feedback(power=50))
    assert all(map(isfinite, scores.values()))
    with pytest.raises(ValueError, match="less than or equal to 50"):
        Feedback(power=50.1)
