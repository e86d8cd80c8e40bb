"""What the coverage of a query's concepts changes, in one section and beside the best one."""

from __future__ import annotations

from math import log

import pytest
from lexical_corpus import BLUE, LONG, ONE_OF_3, PLAIN, bm25, ranked, scores

from fumishirube import Query, Ranking
from fumishirube.testing import MemoryCorpus, passage
from fumishirube_stages.scorers.lexical import Lexical
from fumishirube_stages.scorers.lexical_search.query_analysis import coverage_power
from fumishirube_stages.tokenizers.bigram import Bigram

# --- terms between concepts -------------------------------------------------------------------


def test_what_stands_between_concepts_counts_less_where_fewer_of_them_match() -> None:
    """(coverage / best) to the power of 2 * best²."""
    pages = [
        passage("a.md", body="休暇を知る前に届出を出す"),
        passage("b.md", body="休暇を知る"),
        passage("c.md", body="を知る"),
        passage("d.md", body="その他"),
    ]
    corpus = MemoryCorpus(pages, Bigram())
    query = Query("休暇を知る届出")
    stage = Lexical(between_power=3.0, coverage_power=0, page_title_weight=0)
    analysis = stage._analysis(query, corpus)
    parts = {item.path: stage._score(item, analysis) for item in pages[:3]}
    best = max(hit.coverage for hit, *_ in parts.values())
    assert parts["b.md"][0].coverage < best
    assert parts["b.md"][1] > 0
    hits = {hit.passage.path: hit for hit in stage._scored(pages[:3], query, analysis, ())}
    for path, (hit, between, _) in parts.items():
        share = (hit.coverage / best) ** (3.0 * best**2)
        assert hits[path].score == pytest.approx(hit.score + between * share)
    only = stage._scored(pages[1:2], query, analysis, ())
    assert [hit.score for hit in only] == [hits["b.md"].score], "the best of the search counts"


def test_the_best_coverage_is_that_of_the_first_run_and_a_share_is_at_most_one() -> None:
    pages = [passage("a.md", body="休暇を知る前に届出"), passage("b.md", body="休暇を知る")]
    corpus = MemoryCorpus([*pages, passage("c.md", body="他")], Bigram())
    query, stage = Query("休暇を知る届出"), Lexical()
    analysis = stage._analysis(query, corpus)
    stage._scored(pages[1:], query, analysis, ())
    (hit,) = stage._scored(pages[:1], query, analysis, ())
    alone, between, _ = stage._score(pages[0], analysis)
    assert hit.score == pytest.approx(alone.score + between)


def test_without_any_coverage_what_stands_between_concepts_counts_nothing() -> None:
    pages = [passage("a.md", body="を知る")]
    corpus = MemoryCorpus([*pages, passage("c.md", body="休暇")], Bigram())
    query, stage = Query("休暇を知る届出"), Lexical()
    analysis = stage._analysis(query, corpus)
    alone, between, _ = stage._score(pages[0], analysis)
    if alone.coverage == 0:
        (hit,) = stage._scored(pages, query, analysis, ())
        assert between > 0
        assert hit.score == alone.score
        found = stage.score(Query("休暇を知る届出"), corpus, {})
        assert isinstance(found, Ranking)
        assert [hit.passage.path for hit in found.hits] == ["c.md"]


def test_a_query_of_function_words_finds_sections_without_concepts() -> None:
    corpus = MemoryCorpus([passage("a.md", body="of the sky")])
    (hit,) = ranked("of the", corpus)
    assert hit.coverage == 1.0


# --- the best coverage --------------------------------------------------------------------------


def test_where_no_section_covers_all_the_square_of_the_best_coverage_counts() -> None:
    pages = [
        passage("a.md", body="休暇を知る"),
        passage("b.md", body="休暇をとる"),
        passage("c.md", body="他"),
    ]
    corpus = MemoryCorpus(pages, Bigram())
    query = Query("休暇を知る届出")
    stage = Lexical(between_power=3.0, coverage_power=0, page_title_weight=0)
    analysis = stage._analysis(query, corpus)
    parts = {item.path: stage._score(item, analysis) for item in pages}
    best = parts["a.md"][0].coverage
    assert 0 < parts["b.md"][0].coverage < best < 1
    hits = {hit.passage.path: hit for hit in stage._scored(pages, query, analysis, ())}
    for path in ("a.md", "b.md"):
        hit, between, _ = parts[path]
        assert between > 0
        share = (hit.coverage / best) ** (3.0 * best**2)
        assert hits[path].score == pytest.approx(hit.score + between * share)


def test_where_the_first_sections_cover_nothing_the_best_coverage_is_one() -> None:
    only, half = passage("a.md", body="of"), passage("b.md", body="red of")
    corpus = MemoryCorpus([only, half])
    for first in ([only], []):
        query, stage = Query("red of sky"), PLAIN
        analysis = stage._analysis(query, corpus)
        alone, between, _ = stage._score(only, analysis)
        assert between > 0
        assert alone.coverage == 0
        assert [hit.score for hit in stage._scored(first, query, analysis, ())] == [
            alone.score for _ in first
        ]
        (hit,) = stage._scored([half], query, analysis, ())
        covered, between, _ = stage._score(half, analysis)
        share = covered.coverage**2
        assert hit.score == pytest.approx(covered.score + between * share)


def test_neighbouring_words_that_the_corpus_has_only_as_one_word_are_scored_as_it() -> None:
    # abort and signal are in no section; abortsignal has the coverage of both.
    corpus = MemoryCorpus([passage("1.md", body="abortsignal"), BLUE, LONG])
    (hit,) = ranked("abort signal", corpus)
    assert hit.coverage == 1.0
    average = (11 + 8 + 22) / 3
    absent = log(1 + 3.5 / 0.5)
    assert hit.score == pytest.approx(bm25(ONE_OF_3, 1, 11, average) + absent * 0.85)


def test_neighbouring_words_that_a_section_holds_as_a_phrase_are_not_joined() -> None:
    joined = passage("joined.md", body="a database here")
    phrase = passage("phrase.md", body="the data base there")
    (hit,) = ranked("data base", MemoryCorpus([joined, phrase]))
    assert hit.passage.path == "phrase.md"


# --- sections of one search compared ------------------------------------------------------------


@pytest.mark.parametrize(("text", "share"), [("red blue", 1.0), ("red blue sky hill", 3 / 4)])
def test_a_section_that_covers_less_than_the_best_one_loses_by_a_power(
    text: str, share: float
) -> None:
    """(coverage / best) to the power of 1.5 * best² * min(1, 3 / concepts)."""
    pages = [passage("a.md", body="red blue sky"), passage("b.md", body="red"), BLUE, LONG]
    corpus = MemoryCorpus(pages)
    plain = {hit.passage.path: hit for hit in ranked(text, corpus)}
    powered = scores(ranked(text, corpus, Lexical(page_title_weight=0)))
    best = max(hit.coverage for hit in plain.values())
    power = 1.5 * best**2 * share
    assert powered == pytest.approx(
        {path: hit.score * (hit.coverage / best) ** power for path, hit in plain.items()}
    )
    assert powered["a.md"] == pytest.approx(plain["a.md"].score)
    assert powered["b.md"] < plain["b.md"].score


@pytest.mark.parametrize(
    ("text", "power"),
    [
        ("休暇", 2.0),
        ("休暇 届出 税金", 2.0),
        ("休暇 届出 red", 1.5),
        ("red sky", 1.5),
        ("お金は書いてあるか", 1.5),
        ("休暇 届出 税金 期限", 1.5 * 3 / 4),
        ("休暇 届出 税金 期限 red sky", 1.5 * 3 / 6),
    ],
)
def test_each_of_up_to_three_japanese_nouns_matters_more(text: str, power: float) -> None:
    analysis = Lexical()._analyse(text, MemoryCorpus([BLUE], Bigram()))
    assert coverage_power(analysis.concepts.groups, 1.5, 2.0, 3) == power


def test_a_section_with_one_of_two_japanese_words_has_the_square_of_its_share() -> None:
    """(coverage / best) to the power of 2 * best², where the best section has both."""
    pages = [passage("a.md", body="休暇と届出"), passage("b.md", body="休暇")]
    corpus = MemoryCorpus([*pages, passage("c.md", body="その他")], Bigram())
    names = {"page_title_weight": 0.0, "file_name_weight": 0.0}
    plain = {
        hit.passage.path: hit for hit in ranked("休暇 届出", corpus, Lexical(few_power=0, **names))
    }
    powered = scores(ranked("休暇 届出", corpus, Lexical(**names)))
    # 休暇 is in two of three sections, ln(1 + 1.5 / 2.5), and 届出 in one, ln(1 + 2.5 / 1.5).
    share = log(1.6) / (log(1.6) + log(8 / 3))
    assert plain["b.md"].coverage == pytest.approx(share)
    assert powered == pytest.approx(
        {"a.md": plain["a.md"].score, "b.md": plain["b.md"].score * share**2}
    )


def test_the_power_of_coverage_does_not_apply_to_terms_between_concepts() -> None:
    pages = [passage("a.md", body="休暇を知る前に届出を出す"), passage("b.md", body="休暇を知る")]
    corpus = MemoryCorpus([*pages, passage("d.md", body="その他")], Bigram())
    query, stage = Query("休暇を知る届出"), Lexical(between_power=0, page_title_weight=0)
    analysis = stage._analysis(query, corpus)
    hit = stage._scored(pages, query, analysis, ())[1]
    alone, between, _ = stage._score(pages[1], analysis)
    assert between > 0
    share = alone.coverage ** (1.5 * min(1, 3 / len(analysis.concepts.groups)))
    assert hit.score == pytest.approx(alone.score * share + between)
