"""The lines of a section that are chosen: the best, then each time the one that adds most."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fumishirube_manual.evidence.concept_weights import ConceptWeight, LineText, shares
from fumishirube_manual.evidence.line_scores import LineScores, LineTexts

WORDS = ("red", "blue", "green", "black")
WEIGHTS = [
    ConceptWeight(word, weight, {word: 1.0})
    for word, weight in zip(WORDS, (4, 3, 3, 1), strict=True)
]
PHRASES = [
    ConceptWeight("red blue", 2.0, {"red": 0.5, "blue": 0.25, "black": 0.25}),
    ConceptWeight("red", 5.0, {"blue": 1.0}),
]
"""A concept of several terms, and one that has other terms than that of ``WEIGHTS``."""
LINES = st.lists(st.lists(st.sampled_from([*WORDS, "x"]), max_size=4).map(" ".join), max_size=9)


def chosen_one_by_one(lines: list[str], scores: LineScores, most: int) -> list[int]:
    """Compare every line anew each time."""
    present = [shares(LineText.of(line), WEIGHTS) for line in lines]
    best = max(range(len(lines)), key=lambda at: (scores.every[at], -at))
    chosen = [best]
    while len(chosen) < most:
        gains = {}
        for at in set(range(len(lines))) - {*chosen}:
            gain = 0.0
            for number, concept in enumerate(WEIGHTS):
                known = max(present[other][number] for other in chosen)
                gain += concept.weight * max(0.0, present[at][number] - known)
            gains[at] = gain + 0.25 * scores.every[at]
        place = max(gains, key=lambda at: (gains[at], -at), default=None)
        if place is None or gains[place] < 0.3 * scores.every[best]:
            break
        chosen.append(place)
    return chosen


@given(LINES, st.integers(1, 8))
def test_each_further_line_is_the_one_that_adds_most(lines: list[str], most: int) -> None:
    scores = LineScores(LineTexts(lines, ()), WEIGHTS)
    if any(scores.every):
        assert scores.chosen(most) == chosen_one_by_one(lines, scores, most)


def test_a_line_has_a_part_of_what_a_line_beside_it_adds() -> None:
    scores = LineScores(LineTexts(["red", "red blue", "x", "green"], ()), WEIGHTS)
    assert scores.every == pytest.approx([1.15 * worth for worth in (4 + 0.35 * 3, 4 + 3, 0, 3)])


@given(LINES.filter(len), st.data())
def test_a_block_contains_what_its_shown_lines_contain(
    lines: list[str], data: st.DataObject
) -> None:
    ends = sorted(data.draw(st.sets(st.integers(1, len(lines)))) | {len(lines)})
    blocks = [range(start, end) for start, end in pairwise([0, *ends])]
    texts = LineTexts(lines, ["green"])
    shown = [[lines[at] for at in block if not texts.hidden(at)] for block in blocks]
    # The words between keep "red blue" from standing across lines, and a block from being a title.
    joined = LineTexts([" x ".join(["x", *block]) for block in shown], ["green"])
    for weights in (WEIGHTS, PHRASES):
        scores = LineScores(texts.blocks(blocks), weights).shares_of_all()
        assert scores == LineScores(joined, weights).shares_of_all()


def test_the_share_of_a_concept_is_that_of_its_terms_and_more_if_it_is_whole() -> None:
    concept = ConceptWeight("出産給付", 1.0, {"出産": 0.5, "産給": 0.3, "給付": 0.2})
    word = ConceptWeight("benefits", 1.0, {"benefit": 1.0})
    texts = ("出産給付金", "出産の給付", "入院", "two benefits", "a benefit")
    present = [shares(LineText.of(text), [concept, word]) for text in texts]
    assert present == [(1.15, 0), (0.7, 0), (0, 0), (0, 1.15), (0, 1.0)]
