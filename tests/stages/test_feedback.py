"""Feedback by hand: the relevance model of Lavrenko and Croft (2001), as the docstring says."""

from __future__ import annotations

from math import log

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
AVERAGE = (19 + 9 + 10 + 9 * 3) / 12
FIVE = "lift speed tube plane angle"
TWO = Feedback(hits=2)


def rare(count: int) -> float:
    return log(1 + (12 - count + 0.5) / (count + 0.5))


def bm25(frequency: int, length: int) -> float:
    return frequency * 2.2 / (frequency + 1.2 * (0.25 + 0.75 * length / AVERAGE))


def refined(
    *scored: tuple[Passage, float],
    text: str = FIVE,
    stage: Feedback = TWO,
    corpus: MemoryCorpus = CORPUS,
) -> dict[str, float]:
    hits = tuple(Hit(item, score) for item, score in scored)
    ranking = stage.refine(Ranking(hits), Query(text), corpus)
    return {hit.passage.path: hit.score for hit in ranking.hits}


def added(stage: Feedback = TWO, text: str = FIVE, corpus: MemoryCorpus = CORPUS) -> list[float]:
    """Return what the hits WING, FLOW and PIPE gain, whose scores are 3, 1 and 0.5."""
    before = {"wing.md": 3.0, "flow.md": 1.0, "pipe.md": 0.5}
    after = refined((WING, 3.0), (FLOW, 1.0), (PIPE, 0.5), text=text, stage=stage, corpus=corpus)
    return [after[path] - score for path, score in before.items()]


def test_the_worked_example() -> None:
    # Of WING's four words two are wing, of FLOW's two one is flow; WING's score is three times.
    wing, flow, drag, heat = 3 * 2 / 4, 3 / 4 + 1 / 2, 3 / 4, 1 / 2
    total = wing + flow + drag + heat
    factor = 5 * 0.15 / 0.85 / total
    expected = [
        wing * rare(1) * bm25(2, 19) + flow * rare(2) * bm25(1, 19) + drag * rare(2) * bm25(1, 19),
        flow * rare(2) * bm25(1, 9) + heat * rare(1) * bm25(1, 9),
        drag * rare(2) * bm25(1, 10),
    ]
    assert added() == pytest.approx([factor * value for value in expected])


def test_words_count_in_any_form_and_in_names() -> None:
    named = passage("n.md", title="Wings", ancestors=("Flowing",), body="xyz")
    corpus = MemoryCorpus([*ITEMS, named], Bigram())
    scores = refined((WING, 3.0), (named, 1.0), stage=Feedback(hits=1), corpus=corpus)
    assert scores["n.md"] > 1.0
    plain = passage("n.md", body="xyz")
    alone = refined((WING, 3.0), (plain, 1.0), stage=Feedback(hits=1), corpus=corpus)
    assert alone["n.md"] == 1.0


def test_a_hit_that_shares_words_passes_one_that_shares_none() -> None:
    scores = refined((WING, 3.0), (REST[0], 1.0), (FLOW, 0.9), stage=Feedback(hits=1))
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
    ],
)
def test_where_nothing_is_added(stage: Feedback, text: str) -> None:
    assert added(stage, text) == [0.0, 0.0, 0.0]


def test_the_settings_are_the_numbers_of_the_formula() -> None:
    base = added()
    assert added(Feedback(hits=2, longest=14)) == base
    assert added(Feedback(hits=2, weight=0.5)) == pytest.approx(
        [value * 0.85 / 0.15 for value in base]
    )
    assert added(text=f"{FIVE} river") == pytest.approx([value * 6 / 5 for value in base])
    # wing and flow are the two words with the most weight, so that PIPE gains nothing.
    assert added(Feedback(hits=2, words=2))[2] == 0.0
    assert added(Feedback(hits=2, words=3))[2] > 0.0
    # flow and drag are in two of twelve sections.
    assert added(Feedback(hits=2, common_share=2 / 12)) == base
    assert added(Feedback(hits=2, common_share=0.1))[2] == 0.0
    assert added(Feedback(hits=2, depth=1)) == pytest.approx([base[0], 0.0, 0.0])
    # With one hit heat is no word that counts.
    only = added(Feedback(hits=1))
    assert only[1] < base[1]
    assert only == pytest.approx(added(Feedback(hits=1, longest=19)))
    assert added(Feedback(hits=1, longest=18)) == [0.0, 0.0, 0.0]


def test_a_common_word_leaves_its_place_to_the_next() -> None:
    # wing is the first word of all, and flow the first of the rest.
    common = MemoryCorpus([*ITEMS[:3], *(passage(f"{n}.md", body="wing") for n in range(9))])
    gains = added(Feedback(hits=2, words=1), corpus=common)
    assert gains[1] > 0.0
    assert gains[2] == 0.0


def test_three_times_as_many_words_as_count_are_looked_up() -> None:
    first = passage("first.md", body="red red red red sea sea sea sky sky sun")
    last = passage("last.md", body="sky sun")
    for common, adds in ((("red", "sea"), True), (("red", "sea", "sky"), False)):
        rest = [passage(f"{number}.md", body=" ".join(common)) for number in range(9)]
        corpus = MemoryCorpus([first, last, *rest])
        scores = refined((first, 2.0), (last, 1.0), stage=Feedback(hits=1, words=1), corpus=corpus)
        assert (scores["last.md"] > 1.0) is adds


def word(number: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in f"{number:04}")


def lines(hits: int, characters: int) -> list[Passage]:
    """Return sections of five words each and a common one, of a number of characters in all."""
    bodies = [" ".join(["shared", *(word(6 * hit + n) for n in range(5))]) for hit in range(hits)]
    bodies[0] += " " + "1" * (characters - 1 - sum(map(len, bodies[:5])))
    return [passage(f"{hit:02}.md", body=body) for hit, body in enumerate(bodies)]


def test_the_defaults() -> None:
    items = lines(30, 10_000)
    corpus = MemoryCorpus(
        [*items, *(passage(f"x{number}.md", body="zzz") for number in range(200))]
    )
    hits = tuple(Hit(item, 100.0 - place) for place, item in enumerate(items))

    def scores(stage: Feedback) -> list[tuple[str, float]]:
        ranking = stage.refine(Ranking(hits), Query(FIVE), corpus)
        return [(hit.passage.path, hit.score) for hit in ranking.hits]

    default = scores(Feedback())
    assert len(default) == len(items)
    named = {"hits": 5, "words": 20, "longest": 2000, "depth": 20}
    assert default == scores(Feedback(**named))
    for name, others in {"hits": (6,), "words": (19, 21), "depth": (19, 21)}.items():
        for other in others:
            assert scores(Feedback(**{**named, name: other})) != default
    unchanged = [(hit.passage.path, hit.score) for hit in hits]
    assert scores(Feedback(longest=1999)) == unchanged
    longer = (Hit(passage("00.md", body=items[0].fields["body"] + "1"), 100.0), *hits[1:])
    assert Feedback().refine(Ranking(longer), Query(FIVE), corpus).hits == longer
    fewer = scores(Feedback(hits=4, longest=9999))
    assert fewer != scores(Feedback(longest=9999))


def test_where_every_body_is_empty_nothing_is_added() -> None:
    titled = [passage(f"{number}.md", title=f"wing {number}", body="") for number in range(2)]
    scores = refined((titled[0], 2.0), (titled[1], 1.0), corpus=MemoryCorpus(titled))
    assert scores == {"0.md": 2.0, "1.md": 1.0}


def test_a_corpus_without_stems_counts_words() -> None:
    plain = MemoryCorpus(ITEMS)
    wings = passage("w.md", body="wings")
    scores = refined((WING, 3.0), (wings, 1.0), (FLOW, 0.5), corpus=plain, stage=Feedback(hits=1))
    assert scores["w.md"] == 1.0
    assert scores["flow.md"] > 0.5


def test_words_of_two_letters_function_words_and_numbers_are_none() -> None:
    noise = passage("x.md", body="an ox is 42 with which")
    corpus = MemoryCorpus([noise, *REST], Bigram())
    assert refined((noise, 2.0), corpus=corpus, stage=Feedback(hits=1, common_share=1.0)) == {
        "x.md": 2.0
    }


def test_a_score_below_zero_weighs_nothing() -> None:
    assert refined((WING, -1.0), (FLOW, -2.0)) == {"wing.md": -1.0, "flow.md": -2.0}


def test_no_hits_remain_none() -> None:
    assert refined() == {}
