"""What the scorer ``lexical`` makes of a query before it searches, by hand."""

from __future__ import annotations

import pytest
from lexical_corpus import rarity

from fumishirube import Bool, Clause, Term
from fumishirube.testing import MemoryCorpus, passage
from fumishirube_stages.scorers.lexical import Lexical
from fumishirube_stages.scorers.lexical_search.query_analysis import QueryAnalysis
from fumishirube_stages.tokenizers.bigram import Bigram

SIZE = 600
OTHERS = [passage(f"{number}.md", body="red") for number in range(SIZE - 2)]
CORPUS = MemoryCorpus(
    [passage("s.md", body="sky red the"), passage("t.md", body="the of"), *OTHERS], Bigram()
)
ONE, TWO, MOST = rarity(1, SIZE), rarity(2, SIZE), rarity(SIZE - 1, SIZE)
"""The rarities of *sky* and *of*, of *the*, and of *red*."""
RED, SKY = "red~", "sky~"


def analysed(text: str, **settings: float) -> QueryAnalysis:
    return Lexical(**settings)._analyse(text, CORPUS)


def values(text: str, **settings: float) -> dict[str, float]:
    return {term.term: term.value for term in analysed(text, **settings).terms}


def of(clause: Clause | None) -> list[tuple[str, str | None, float]]:
    assert isinstance(clause, Bool)
    return [(t.term, t.field, t.boost) for t in clause.should if isinstance(t, Term)]


def names(term: str, weight: float) -> list[tuple[str, str | None, float]]:
    boosts = (("title", 3.0), ("headings", 1.5), ("path", 2.0))
    return [(term, field, pytest.approx(weight * boost)) for field, boost in boosts]


def test_a_term_has_its_rarity_and_a_repeated_one_more() -> None:
    assert values("red sky") == pytest.approx({RED: MOST, SKY: ONE})
    assert values("sky sky red") == pytest.approx({RED: MOST, SKY: 2**0.5 * ONE})
    assert values("sky red sky sky", repeated_power=1.0) == pytest.approx({RED: MOST, SKY: 3 * ONE})
    assert values("the red sky") == pytest.approx({RED: MOST, SKY: ONE, "the": 0.2 * TWO})
    assert values("the of") == pytest.approx({"the": TWO, "of": ONE})


def test_beside_japanese_a_word_counts_as_much_as_four_pairs() -> None:
    # Nothing has 休暇 and its neighbours; the function word keeps its weight.
    pairs = dict.fromkeys(("休暇", "暇制", "制度"), rarity(0, SIZE))
    assert values("sky 休暇制度") == pytest.approx({SKY: 4 * ONE, **pairs})
    assert values("sky 休暇制度", word_weight=1.5) == pytest.approx({SKY: 1.5 * ONE, **pairs})
    both = {RED: 4 * MOST, SKY: 4 * 2**0.5 * ONE, "the": 0.2 * TWO, **pairs}
    assert values("the sky red sky 休暇制度") == pytest.approx(both)
    assert values("sky について")[SKY] == pytest.approx(ONE)


class WordTokenizer:
    """Divides a text at its spaces, into Japanese words too."""

    def terms(self, text: str) -> list[str]:
        return text.split()


def test_a_word_counts_as_much_as_a_japanese_one_that_is_one_term_too() -> None:
    corpus = MemoryCorpus([passage("a.md", body="sky 休暇 制度")], WordTokenizer())
    weighted = Lexical()._analyse("sky 休暇", corpus).terms
    assert [term.value for term in weighted] == [pytest.approx(rarity(1, 1))] * 2
    assert values("sky 休暇")[SKY] == pytest.approx(4 * ONE), "of two characters too"


def test_a_long_word_counts_less_beside_one_or_two_others() -> None:
    nothing = rarity(0, SIZE)
    pairs, other = ("有給", "給休", "休暇", "暇制", "制度"), "税金"
    # With a power of 1 both words count three pairs: together the six that they have.
    even = {**dict.fromkeys(pairs, 0.6 * nothing), other: 3 * nothing}
    assert values("有給休暇制度 税金", even_power=1.0) == pytest.approx(even)
    scale = 6 / (5 * 5**-0.25 + 1)
    default = {**dict.fromkeys(pairs, scale * 5**-0.25 * nothing), other: scale * nothing}
    assert values("有給休暇制度 税金 sky") == pytest.approx({**default, SKY: 4 * ONE})
    same = dict.fromkeys((*pairs, other), nothing)
    assert values("有給休暇制度 税金 sky red") == pytest.approx(
        {**same, SKY: 4 * ONE, RED: 4 * MOST}
    )
    assert values("有給休暇制度") == pytest.approx(dict.fromkeys(pairs, nothing))


def test_function_words_are_no_matches_and_no_candidates_beside_others() -> None:
    found = analysed("the red sky")
    assert of(found.anywhere) == [(RED, None, 1.0), (SKY, None, 1.0)]
    assert [term for term, field, _ in of(found.clause) if field == "body"] == [SKY, RED]
    assert of(found.named_clause) == [*names(RED, 1.0), *names(SKY, 1.0)]
    alone = analysed("the of")
    assert of(alone.anywhere) == [("the", None, 1.0), ("of", None, 1.0)]
    assert [term for term, field, _ in of(alone.clause) if field == "body"] == ["of", "the"]


def test_the_candidates_of_names_and_of_rare_words_have_the_weights_of_the_terms() -> None:
    found = analysed("the sky sky red")
    assert of(found.named_clause) == [*names(SKY, 2**0.5), *names(RED, 1.0)]
    assert of(found.rare_clause) == [(SKY, "body", pytest.approx(2**0.5 * ONE))]
    assert of(analysed("the sky", named_pool=0).named_clause) == []
    assert analysed("red").rare_clause is None
