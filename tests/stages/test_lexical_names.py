"""The scores of names: words of a file's path, and titles with several concepts of a query."""

from __future__ import annotations

from math import sqrt

import pytest
from lexical_corpus import BLUE, LONG, PLAIN, TWO_OF_3, ranked, rarity, scores

from fumishirube import Passage, Query, Ranking
from fumishirube.testing import MemoryCorpus, passage
from fumishirube_stages.scorers.lexical import Lexical
from fumishirube_stages.scorers.lexical_search.query_analysis import run_together
from fumishirube_stages.scorers.lexical_search.search_scores import title_score
from fumishirube_stages.tokenizers.bigram import Bigram

OTHERS = [passage(f"other-{number}.md", body=f"sky {number}") for number in range(40)]
TEXT = "sales of general mills in 2020"


def added(setting: str, query: str, *passages: Passage) -> dict[str, float]:
    """Return what a weight of 2 adds to the score of each hit."""
    corpus = MemoryCorpus([*passages, *OTHERS], Bigram())
    found: list[dict[str, float]] = []
    for weight in (0, 2):
        ranking = Lexical(**{setting: weight}).score(Query(query), corpus, {})
        assert isinstance(ranking, Ranking)
        found.append({hit.passage.path: hit.score for hit in ranking.hits})
    plain, more = found
    return {path: score - plain[path] for path, score in more.items()}


def test_words_of_the_path_that_the_page_title_lacks_add_their_rarity() -> None:
    report = passage("mills_2020.pdf", 5, "Sales", "sales rose", ancestors=["Mills"])
    other = passage("hats.pdf", 1, "Mills 2020", "sales fell")
    more = added("file_name_weight", TEXT, report, other)
    assert more == pytest.approx({"mills_2020.pdf": 2 * rarity(2, 42), "hats.pdf": 0})


@pytest.mark.parametrize("name", ["GENERALMILLS_1.pdf", "a/generalmills/b.pdf"])
def test_words_written_as_one_in_a_path_count_there(name: str) -> None:
    more = added("file_name_weight", TEXT, passage(name, 1, "Report", "sales rose"))
    assert more == pytest.approx({name: 2 * rarity(1, 41)})


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["american", "water", "works"], ["americanwaterwork~"]),
        (["water", "works"], []),
        (["american", "water", "2020", "works"], []),
        (["休暇", "届出"], []),
        ([], []),
    ],
)
def test_two_and_three_words_are_joined_where_the_corpus_has_them_so(
    words: list[str], found: list[str]
) -> None:
    names = ["AMERICANWATERWORKS_2020.pdf", "休暇届出.md", "2020works.md"]
    corpus = MemoryCorpus([passage(name, body="x") for name in names], Bigram())
    joined = run_together(words, corpus, ())
    assert [term.term for term in joined] == found
    assert not run_together(words, corpus, {term.term for term in joined})


def test_a_title_with_several_concepts_adds_their_rarity_by_the_share_that_they_cover() -> None:
    # The title has 12 letters and spaces; the query covers "general mills" of "general mills a".
    several = passage("a.md", 5, "General mills a", "sales", ancestors=["Report"])
    one = passage("b.md", 5, "General sales", "x", ancestors=["Report"])
    none = passage("c.md", 5, "General", "sales", ancestors=["Report"])
    more = added("section_title_weight", "revenue 2020 general mills", several, one, none)
    values = rarity(3, 43) + rarity(1, 43)
    assert more == pytest.approx({"a.md": 2 * values * sqrt(12 / 13), "b.md": 0, "c.md": 0})


def test_titles_add_nothing_for_a_query_of_few_concepts() -> None:
    several = passage("a.md", 5, "General mills", "sales", ancestors=["Report"])
    assert added("section_title_weight", "revenue general mills", several) == {"a.md": 0}


def test_a_quotation_gains_as_much_as_a_title_may_add() -> None:
    text = "the red macro of naked functions fails twice"
    quoted = passage("a.md", body=f"Note: {text}!")
    about = passage("b.md", 1, "Red macro of naked functions fails twice", "red macro")
    others = [passage(f"{number}.md", body="sea") for number in range(600)]
    more = added("section_title_weight", text, quoted, about, *others)
    assert more["a.md"] >= more["b.md"] > 0


def test_the_title_of_the_page_adds_the_rarity_of_its_terms_by_the_share_they_cover() -> None:
    # Of the eight letters of "red skies" the query covers three: sqrt(3 / 8).
    under = passage("a.md", 5, title="sea", ancestors=["Red skies", "sea"], body="blue")
    top = passage("b.md", 1, title="Red", body="blue")
    corpus = MemoryCorpus([under, top, LONG])
    plain = scores(ranked("red", corpus))
    stage = Lexical(coverage_power=0, page_title_weight=2.0)
    more = {
        path: score - plain[path] for path, score in scores(ranked("red", corpus, stage)).items()
    }
    assert more == pytest.approx({"a.md": 2 * TWO_OF_3 * sqrt(3 / 8), "b.md": 2 * TWO_OF_3})


@pytest.mark.parametrize(
    ("query", "title", "covered"),
    [
        ("休暇の届出", "休暇", 2 / 2),
        ("休暇の届出", "特別休暇", 2 / 4),
        ("休暇の届出", "休暇届出", 4 / 4),
        ("休暇の届出", "その他", 0),
        ("tree", "trees and hills", 5 / 13),
        ("tree", "treetop", 0),
    ],
)
def test_the_characters_of_a_title_that_the_terms_of_concepts_cover(
    query: str, title: str, covered: float
) -> None:
    texts = [passage("1.md", body="休暇 届出 tree"), BLUE, LONG]
    analysis = PLAIN._analysis(Query(query), MemoryCorpus(texts, Bigram()))
    matching = [
        term.value for term in analysis.terms if term.share and term.counted(title, term.term)
    ]
    score = title_score(title, analysis, analysis.terms)
    assert score == pytest.approx(sum(matching) * sqrt(covered))
    assert bool(matching) == bool(covered)
