"""Full text by hand: all words, or else most of their pieces, scored relative to the best."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from linked_corpus import WrittenLinks

from fumishirube import IndexMatch, Query, Ranking, TextMatches
from fumishirube.testing import MemoryCorpus, passage
from fumishirube_stages.document_scores import document_scores
from fumishirube_stages.scorers.fulltext import Fulltext, _joined, _pieces

PAGES = [passage(f"{name}.md", 1, title="red", body=name) for name in "abcd"]


def rows(ranking: Ranking) -> dict[str, float]:
    return {hit.passage.path: round(hit.score, 6) for hit in ranking.hits}


def score(corpus: object, query: Query, stage: Fulltext | None = None) -> Ranking:
    return (stage or Fulltext()).score(query, corpus, {})  # type: ignore[arg-type]


def test_sections_score_their_estimate_over_the_greatest() -> None:
    corpus = WrittenLinks(PAGES)
    corpus.estimates = {("red", "sea"): {"a.md": 1.0, "b.md": 4.0}}
    query = Query("any", required=("red", "sea"), within=frozenset({"a.md"}))
    ranking = score(corpus, query)
    assert rows(ranking) == {"b.md": 1.0, "a.md": 0.25}
    assert ranking.diagnostics == {}
    assert document_scores(query).by_scorer["fulltext"] == {"b.md": 1.0, "a.md": 0.25}
    assert corpus.searches == [(("red", "sea"), 2000, frozenset({"a.md"}), 1.0)]


def test_without_required_terms_the_words_of_the_query_are_searched() -> None:
    corpus = WrittenLinks(PAGES)
    corpus.estimates = {("red", "sea"): {"a.md": 1.0}}
    assert rows(score(corpus, Query(" red  sea "))) == {"a.md": 1.0}


def test_when_nothing_contains_all_words_their_pieces_are_searched() -> None:
    corpus = WrittenLinks(PAGES)
    corpus.estimates = {("休暇", "暇届", "pay"): {"a.md": 3.0, "b.md": 1.5}}
    query = Query("休暇届 pay")
    ranking = score(corpus, query)
    assert corpus.searches == [
        (("休暇届", "pay"), 2000, None, 1.0),
        (("休暇", "暇届", "pay"), 2000, None, 0.2),
    ]
    assert rows(ranking) == {"a.md": 1.0, "b.md": 0.5}
    assert ranking.diagnostics == {"query_relaxed": True}


def test_a_concept_that_is_found_whole_counts_by_its_share_of_the_pieces() -> None:
    """A section with one of four pieces scores a quarter where half of them are needed."""
    corpus = WrittenLinks(PAGES)
    corpus.estimates = {
        ("red", "blue", "green", "grey"): {"a.md": 1.0, "b.md": 0.1},
        ("red",): {"b.md": 2.0},
        ("blue",): {"a.md": 2.0, "c.md": 1.0},
    }
    ranking = score(corpus, Query("the red blue green grey"), Fulltext(min_coverage=0.5))
    assert rows(ranking) == {"a.md": 1.0, "b.md": 0.5, "c.md": 0.25}
    assert [search[0] for search in corpus.searches[2:]] == [
        ("red",),
        ("blue",),
        ("green",),
        ("grey",),
    ]
    assert {search[3] for search in corpus.searches[2:]} == {1.0}


def test_words_where_parts_cannot_be_searched_score_alike_by_piece_and_by_concept() -> None:
    pages = [passage("part.md", body="給休"), passage("whole.md", body="beta")]
    query = Query("有給休暇 beta gamma delta epsilon")
    ranking = score(MemoryCorpus(pages), query, Fulltext(min_coverage=0.1))
    assert rows(ranking) == {"part.md": 1.0, "whole.md": 1.0}
    assert rows(score(MemoryCorpus(pages), query)) == {"whole.md": 1.0}


def test_full_coverage_is_a_little_less_than_all() -> None:
    corpus = WrittenLinks(PAGES)
    score(corpus, Query("red sea"), Fulltext(min_coverage=1.0))
    assert corpus.searches[1][3] == 1 - 1e-9


def test_a_share_that_is_enough_is_not_searched_by_itself() -> None:
    corpus = WrittenLinks(PAGES)
    score(corpus, Query("red sea"), Fulltext(min_coverage=0.5))
    assert len(corpus.searches) == 2


def test_when_nothing_matches_nothing_is_said_to_be_relaxed() -> None:
    corpus = WrittenLinks(PAGES)
    query = Query("red")
    ranking = score(corpus, query)
    assert ranking.hits == ()
    assert ranking.diagnostics == {}
    assert "fulltext" not in document_scores(query).by_scorer
    empty = WrittenLinks(PAGES)
    assert score(empty, Query("")).hits == ()
    assert len(empty.searches) == 1


def test_all_sections_are_requested_when_few_documents_hold_the_first_ones() -> None:
    """Ten sections of a document count: 2,000 of two documents are twenty candidates."""
    pages = [passage("a.md", line, body="x") for line in range(1, 2002)]
    corpus = WrittenLinks([*pages, passage("b.md", 1, body="x")])
    corpus.estimates = {("red",): {"a.md": 2.0, "b.md": 1.0}}
    ranking = score(corpus, Query("red"))
    assert [search[1] for search in corpus.searches] == [2000, None]
    assert len(ranking.hits) == 11
    assert ranking.hits[-1].passage.path == "b.md"


def test_as_many_sections_as_there_are_candidates_are_requested_once() -> None:
    pages = [passage(f"{number:04}.md", 1, body="x") for number in range(2001)]
    corpus = WrittenLinks(pages)
    corpus.estimates = {("red",): {item.path: 1.0 for item in pages}}
    assert len(score(corpus, Query("red")).hits) == 200
    assert len(corpus.searches) == 1
    few = WrittenLinks(pages[:5])
    few.estimates = corpus.estimates
    score(few, Query("red"))
    assert len(few.searches) == 1


def test_a_run_returns_only_what_contains_its_required_terms() -> None:
    corpus = WrittenLinks(PAGES)
    corpus.estimates = {("red",): {"a.md": 1.0, "b.md": 2.0}}
    assert rows(score(corpus, Query("red", must=("A",)))) == {"a.md": 1.0}


# --- corpora without a search of texts ----------------------------------------------------------

PLAIN = MemoryCorpus(
    [
        passage("a.md", body="red sea"),
        passage("b.md", body="red red blue"),
        passage("c.md", body="green"),
    ]
)


def test_elsewhere_words_are_searched_and_score_one() -> None:
    assert rows(score(PLAIN, Query("red"))) == {"a.md": 1.0, "b.md": 1.0}
    assert rows(score(PLAIN, Query("RED sea"))) == {"a.md": 1.0}
    assert rows(score(PLAIN, Query("red", must=("blue",)))) == {"b.md": 1.0}
    assert rows(score(PLAIN, Query("red", within=frozenset({"a.md", "c.md"})))) == {"a.md": 1.0}


def test_elsewhere_any_piece_is_enough_when_no_section_has_all_words() -> None:
    ranking = score(PLAIN, Query("sea blue"))
    assert rows(ranking) == {"a.md": 1.0, "b.md": 1.0}
    assert ranking.diagnostics == {"query_relaxed": True}


def test_elsewhere_a_section_scores_its_share_of_the_pieces() -> None:
    """One of six, four of six, and a pair of a word, which is none of its concepts."""
    corpus = MemoryCorpus(
        [
            passage("four.md", title="pump", body="valve rotor motor"),
            passage("one.md", body="pump"),
            passage("pair.md", body="給休"),
        ]
    )
    query = Query("pump valve rotor motor absent nowhere")
    assert rows(score(corpus, query)) == {"four.md": 1.0, "one.md": 0.25}
    pieces = Query("pump valve rotor 有給休暇")
    assert rows(score(corpus, pieces)) == {"four.md": 1.0, "one.md": round(1 / 3, 6)}
    assert rows(score(corpus, pieces, Fulltext(min_coverage=0.1))) == {
        "four.md": 1.0,
        "one.md": round(1 / 3, 6),
        "pair.md": round(1 / 3, 6),
    }


def test_elsewhere_the_best_of_many_sections_are_returned() -> None:
    few = [passage(f"{number:03}.md", body="pump") for number in range(300)]
    corpus = MemoryCorpus([*few, passage("last.md", body="pump valve")])
    ranking = score(corpus, Query("pump valve absent"))
    assert len(ranking.hits) == 200
    assert ranking.hits[0].passage.path == "last.md"
    assert rows(ranking)["000.md"] == 0.5


@given(
    bodies=st.lists(st.lists(st.sampled_from(["red", "blue", "green", "有給休"])), max_size=6),
    least=st.floats(0, 1),
)
def test_elsewhere_no_section_has_less_than_what_is_needed_and_no_whole_concept(
    bodies: list[list[str]], least: float
) -> None:
    pages = [passage(f"{number}.md", body=" ".join(body)) for number, body in enumerate(bodies)]
    query, pieces = Query("red blue grey 有給休暇"), ("red", "blue", "grey", "有給", "給休", "休暇")
    ranking = score(MemoryCorpus(pages), query, Fulltext(min_coverage=least))
    shares = {
        item.path: sum(piece in item.fields["body"] for piece in pieces) / 6 for item in pages
    }
    kept = {
        item.path: shares[item.path]
        for item in pages
        if shares[item.path] >= max(min(least, 1 - 1e-9), 1e-9)
        or {"red", "blue"} & {*item.fields["body"].split()}
    }
    top = max(kept.values(), default=1.0)
    assert rows(ranking) == {path: round(share / top, 6) for path, share in kept.items()}


# --- pieces -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("requested", "pieces"),
    [
        (("red",), [("red",)]),
        (("the", "red"), [("red",)]),
        (("休暇届",), [("休暇", "暇届")]),
        (("休暇の申請",), [("休暇",), ("申請",)]),
        (("時時時",), [("時時",)]),
        (("第3条",), [("第3", "3条")]),
        (("第3条", "pay"), [("第3", "3条"), ("pay",)]),
        (("第12章の休暇",), [("第12", "12章"), ("休暇",)]),
        (("USB端子",), [("usb",), ("端子",)]),
        (("税",), [("税",)]),
        (("休暇を取る",), [("休暇",)]),
        (("取る",), [("取",)]),
        (("第3条を取る",), [("第3", "3条")]),
    ],
)
def test_a_query_is_divided_into_words_and_pairs_of_characters(
    requested: tuple[str, ...], pieces: list[tuple[str, ...]]
) -> None:
    assert _pieces(requested) == pieces


def test_its_settings() -> None:
    assert Fulltext() == Fulltext(min_coverage=0.2)
    for wrong in (-0.1, 1.1):
        with pytest.raises(ValueError, match="Input should be"):
            Fulltext(min_coverage=wrong)
    assert Fulltext(min_coverage=0).min_coverage == 0
    assert Fulltext.generates is True


def test_a_document_scores_as_its_best_section() -> None:
    corpus = WrittenLinks([passage("a.md", line, body="x") for line in (1, 5)])
    best, other = corpus.passages
    corpus.search_texts = lambda *_: TextMatches(  # type: ignore[method-assign]
        [IndexMatch(best, 4.0), IndexMatch(other, 1.0)], 2
    )
    query = Query("red")
    score(corpus, query)
    assert document_scores(query).by_scorer["fulltext"] == {"a.md": 1.0}


def test_matches_of_several_searches_are_joined_each_at_its_best() -> None:
    first, second = IndexMatch(PAGES[0], 1.0), IndexMatch(PAGES[1], 3.0)
    better = IndexMatch(PAGES[0], 2.0)
    one = TextMatches([first], 3)
    assert _joined([one]) is one
    assert _joined([one, TextMatches([second, better], 2)]) == TextMatches([second, better], 4)
    assert _joined([TextMatches([better], 1), one]) == TextMatches([better], 3)
    same = IndexMatch(PAGES[0]._replace(end_line=99), 1.0)
    assert _joined([one, TextMatches([same], 1)]).matches == [first]
