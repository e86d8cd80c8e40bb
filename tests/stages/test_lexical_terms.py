"""The terms and concepts of a query: their values, their shares, and what of them matches."""

from __future__ import annotations

from math import log
from typing import Any

import pytest
from lexical_corpus import AVERAGE, CORPUS, ONE_OF_3, bm25, hits_of, ranked

from fumishirube import Query, Ranking
from fumishirube.testing import MemoryCorpus, passage
from fumishirube.text import Concept, ConceptShares, WeightedConcept, is_part_of_terms
from fumishirube.text.query_concepts import coverage_shares, weighted_concept
from fumishirube_stages.scorers.lexical import Lexical
from fumishirube_stages.scorers.lexical_search.query_analysis import border_spans, weighted_term
from fumishirube_stages.tokenizers.bigram import Bigram
from fumishirube_stages.tokenizers.ngram import NGram


def test_a_concept_has_its_terms_each_once_by_rarity() -> None:
    corpus = MemoryCorpus([passage("a.md", body="休暇届")], Bigram())
    idf = {"休暇": 3.0, "暇届": 1.0}
    concept = weighted_concept(Concept("休暇届"), corpus, idf)
    assert concept == WeightedConcept("休暇届", {"休暇": 0.75, "暇届": 0.25}, 2.0)
    whole = weighted_concept(Concept("休暇"), corpus, {"休暇": 3.0})
    assert whole == WeightedConcept("休暇", {"休暇": 1.0}, 3.0)
    again = weighted_concept(Concept("時時時"), corpus, {"時時": 3.0})
    assert again == WeightedConcept("時時時", {"時時": 1.0}, 3.0)
    half = weighted_concept(Concept("休暇届"), corpus, {"休暇": 3.0})
    assert half == WeightedConcept("休暇届", {"休暇": 1.0, "暇届": 0.0}, 1.5)
    unknown = weighted_concept(Concept("休暇届"), corpus, {})
    assert unknown == WeightedConcept("休暇届", {"休暇": 0.0, "暇届": 0.0}, 0.0)
    assert weighted_concept(Concept("!"), corpus, {}) == WeightedConcept("!", {"!": 1.0}, 0.0)


def test_the_shares_of_terms_are_those_of_their_concepts_by_rarity() -> None:
    groups = [
        WeightedConcept("ab", {"a": 0.25, "b": 0.75}, 3.0),
        WeightedConcept("b", {"b": 1.0}, 1.0),
    ]
    shares = coverage_shares(iter(groups))
    assert shares == pytest.approx({"a": 3 * 0.25 / 4, "b": 3 * 0.75 / 4 + 1 / 4})
    assert coverage_shares([WeightedConcept("a", {"a": 1.0}, 0.0)]) == {"a": 0.0}
    assert coverage_shares([WeightedConcept("a", {"a": 1.0}, 0.5)]) == {"a": 1.0}


def test_a_text_is_a_part_of_terms_when_it_is_shorter_than_they_are() -> None:
    pairs, triples = MemoryCorpus((), Bigram()), MemoryCorpus((), NGram(n=3))
    for corpus in (pairs, triples):
        assert is_part_of_terms("税", corpus) is True
        assert is_part_of_terms("a", corpus) is False
        assert is_part_of_terms("ab", corpus) is False
        assert is_part_of_terms("税a", corpus) is False
        assert is_part_of_terms("a税", corpus) is False
        assert is_part_of_terms("休暇届出", corpus) is False
    assert is_part_of_terms("休暇", pairs) is False
    assert is_part_of_terms("休暇", triples) is True
    assert is_part_of_terms("休暇届", triples) is False


def test_words_are_counted_whole_and_japanese_anywhere() -> None:
    word = weighted_term("red", 1.0, 0.5)
    assert (word.term, word.value, word.share, word.forms) == ("red", 1.0, 0.5, False)
    assert word.counted("red reds red", "red") == 2
    assert weighted_term("休", 1.0, 0.5).counted("休休暇", "休") == 2
    stem = weighted_term("red~", 1.0, 0.5, lambda text: text.split())
    assert stem.counted("reds redder", "red~") == 2
    assert stem.forms is True


@pytest.mark.parametrize(
    ("pair", "text", "span"),
    [
        ("義に", "主義に反する", "主義に"),
        ("義に", "義に反する", "義に"),
        ("に反", "主義に反する", "に反す"),
        ("に反", "主義に反", "に反"),
        ("暇ぁ", "休暇ぁ", "休暇ぁ"),
        ("義に", "赤 主義に反する", "主義に"),
        ("義に", "主義に 信義に", "主義に"),
    ],
)
def test_a_pair_at_an_end_of_hiragana_is_searched_with_the_character_beside_it(
    pair: str, text: str, span: str
) -> None:
    assert border_spans([pair, "主義", "にも", "red"], text) == {pair: span}


def test_a_pair_that_no_chunk_contains_has_no_span() -> None:
    assert border_spans(["義に"], "主義") == {}


def shares_of(*groups: WeightedConcept, **finders: Any) -> ConceptShares:
    return ConceptShares(groups, {}, finders)


def test_concepts_match_in_their_form_in_the_text() -> None:
    one = WeightedConcept("walk", {"walk": 1.0}, 1.0)
    two = WeightedConcept("sky", {"sky": 0.5, "x": 0.5}, 1.0)

    def forms(text: str) -> list[str]:
        return [word for word in text.split() if word.startswith("walk")]

    assert shares_of(one, two).matched("walk walks sky") == ("walk", "sky")
    assert shares_of(one, walk=forms).matched("walks walking") == ("walks",)
    assert shares_of(one, two, walk=forms, sky=forms).matched("walks") == ("walks",)
    assert shares_of(two, sky=forms).matched("walks") == ()
    assert shares_of(one, other=forms).matched("a wal") == ("wal",)
    assert shares_of(one, walk=forms).matched("run") == ()
    assert shares_of(one, one).matched("walk") == ("walk",)


def test_the_longest_part_of_a_concept_that_occurs_is_named() -> None:
    concept = WeightedConcept("有給休暇届", {"有給": 1.0}, 1.0)
    assert shares_of(concept).matched("有給と休暇届") == ("休暇届",)
    assert shares_of(concept).matched("有給だけ") == ("有給",)
    assert shares_of(concept).matched("給休だけ") == ("給休",)
    assert shares_of(concept).matched("有だけ") == ()
    long = WeightedConcept("休" * 63 + "暇届", {"休休": 1.0}, 1.0)
    assert shares_of(long).matched("暇届") == ()
    assert shares_of(long).matched("休" * 63 + "暇") == ("休" * 63,)
    shorter = WeightedConcept("休" * 62 + "暇届", {"休休": 1.0}, 1.0)
    assert shares_of(shorter).matched("暇届") == ("暇届",)


def test_at_most_256_terms_count_those_of_concepts_first() -> None:
    words = [f"word{number}" for number in range(300)]
    analysis = Lexical()._analysis(Query(" ".join(["the", *words])), CORPUS)
    assert [term.term for term in analysis.terms] == words[:256]


def test_a_manual_without_texts_has_an_average_of_one() -> None:
    assert Lexical()._analysis(Query("red"), MemoryCorpus()).average == 1.0
    assert Lexical()._analysis(Query("red"), CORPUS).average == AVERAGE


# --- all terms of a query -----------------------------------------------------------------------

JAPANESE = MemoryCorpus(
    [passage("a.md", body="休暇の申請"), passage("b.md", body="暇の届")], Bigram()
)
NONE_OF_2, ONE_OF_2, ALL_OF_2 = log(1 + 2.5 / 0.5), log(1 + 1.5 / 1.5), log(1 + 0.5 / 2.5)


def terms_of(text: str, corpus: MemoryCorpus) -> list[tuple[str, float, float]]:
    analysis = Lexical()._analysis(Query(text), corpus)
    return [(term.term, round(term.value, 9), round(term.share, 9)) for term in analysis.terms]


def test_pairs_between_concepts_weigh_as_much_as_others_and_function_words_a_fifth() -> None:
    total = ONE_OF_2 + NONE_OF_2
    assert terms_of("休暇の届出", JAPANESE) == [
        ("休暇", round(ONE_OF_2, 9), round(ONE_OF_2 / total, 9)),
        ("休暇の", round(ALL_OF_2, 9), 0.0),
        ("の届出", round(ONE_OF_2, 9), 0.0),
        ("届出", round(NONE_OF_2, 9), round(NONE_OF_2 / total, 9)),
    ]
    words = MemoryCorpus([passage("a.md", body="x"), passage("b.md", body="y")])
    assert terms_of("red of sky", words) == [
        ("red", round(NONE_OF_2, 9), 0.5),
        ("sky", round(NONE_OF_2, 9), 0.5),
        ("of", round(0.2 * NONE_OF_2, 9), 0.0),
    ]


def test_a_single_character_between_others_is_a_term_of_its_own() -> None:
    assert terms_of("税の額", JAPANESE) == [
        ("税の", round(NONE_OF_2, 9), 0.0),
        ("の額", round(NONE_OF_2, 9), 0.0),
        ("税", round(NONE_OF_2, 9), 0.5),
        ("額", round(NONE_OF_2, 9), 0.5),
    ]


def test_a_section_with_only_a_pair_between_concepts_is_no_hit() -> None:
    assert [hit.passage.path for hit in ranked("休暇の届出", JAPANESE)] == ["a.md"]


def test_a_filter_adds_the_terms_that_the_query_lacks() -> None:
    query, stage = Query("red", must=("red", "sky red", "hill")), Lexical()
    extras = stage._extras(query, stage._analysis(query, CORPUS), CORPUS)
    value = round(1.05 * ONE_OF_3, 9)
    assert [(term.term, round(term.value, 9), term.share) for term in extras] == [
        ("sky", value, 0.0),
        ("hill", value, 0.0),
    ]
    assert stage._extras(Query("red"), stage._analysis(query, CORPUS), CORPUS) == ()
    again = Query(query.text, must=query.must)
    (hit,) = hits_of(stage, again, MemoryCorpus([passage("a.md", body="sky red hill")]))
    plain = stage.score(Query("red"), MemoryCorpus([passage("a.md", body="sky red hill")]), {})
    assert isinstance(plain, Ranking)
    one_of_one = log(1 + 0.5 / 1.5)
    more = 2 * bm25(1.05 * one_of_one, 1, 12, 12)
    assert hit.score == pytest.approx(plain.hits[0].score + more)
