"""The scores of names: words of a file's path, and titles with several concepts of a query."""

from __future__ import annotations

from math import log, sqrt

import pytest

from fumishirube import Passage, Query, Ranking
from fumishirube.testing import MemoryCorpus, passage
from fumishirube_stages.scorers.lexical import Lexical
from fumishirube_stages.scorers.query_analysis import run_together
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


def rarity(count: int, size: int) -> float:
    return log(1 + (size - count + 0.5) / (count + 0.5))


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
