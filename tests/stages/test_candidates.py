"""The candidates of a query: from other files too, and those that contain the whole of it."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import pytest

from fumishirube import (
    Bool,
    Budget,
    Clause,
    IndexMatch,
    Pages,
    Passage,
    Query,
    Ranking,
    ScoreCutoff,
    Term,
)
from fumishirube.testing import MemoryCorpus, passage
from fumishirube_stages.scorers.candidates import (
    best_matches,
    matches_elsewhere,
    quoted_sections,
)
from fumishirube_stages.scorers.lexical import Lexical
from fumishirube_stages.tokenizers.bigram import Bigram

SENTENCE = "次のようなメッセージがログに記録されます"
OTHERS = [passage(f"other-{number}.md", body=f"別の話 {number}") for number in range(600)]
QUOTED = passage("quoted.md", body=f"起動すると、{SENTENCE}。設定はここで変えられます。" * 3)
ABOUT = passage(
    "logs.md", title="ログに記録されるメッセージ", body="メッセージはログに記録されます。" * 4
)


def corpus(*passages: Passage) -> MemoryCorpus:
    return MemoryCorpus([*passages, *OTHERS], Bigram())


def scores(stage: Lexical, query: Query, *passages: Passage) -> dict[str, float]:
    found = stage.score(query, corpus(*passages), {})
    hits = found.hits if isinstance(found, Ranking) else found
    return {hit.passage.path: hit.score for hit in hits}


def first(stage: Lexical, text: str, must: tuple[str, ...] = ()) -> str:
    by_path = scores(stage, Query(text, must=must), ABOUT, QUOTED)
    return max(by_path, key=lambda path: by_path[path])


@pytest.mark.parametrize("text", [SENTENCE, f"「{SENTENCE}。」", f" {SENTENCE}?"])
def test_a_section_with_the_whole_text_is_quoted_whatever_marks_are_around_it(text: str) -> None:
    assert quoted_sections(text, corpus(ABOUT, QUOTED)) == [QUOTED]


def test_a_name_is_no_quotation_because_many_sections_mention_it() -> None:
    assert not quoted_sections("ログに記録", corpus(ABOUT, QUOTED))
    assert not quoted_sections("reading a file", corpus(passage("a.md", body="reading a file")))


def test_an_english_sentence_is_quoted_too() -> None:
    sentence = "The naked macro is only allowed in naked functions."
    section = passage("a.md", body=f"Note: {sentence} See below.")
    assert quoted_sections(sentence, corpus(section)) == [section]


@pytest.mark.parametrize(("number", "quoted"), [(5, True), (6, False)])
def test_a_text_that_many_sections_contain_distinguishes_none(number: int, quoted: bool) -> None:
    copies = [passage(f"{place}.md", body=f"{SENTENCE} {place}") for place in range(number)]
    assert bool(quoted_sections(SENTENCE, corpus(*copies))) is quoted


def test_more_than_a_hundredth_of_the_sections_is_many() -> None:
    def few(size: int) -> bool:
        sections = [QUOTED, *OTHERS[: size - 1]]
        return bool(quoted_sections(SENTENCE, MemoryCorpus(sections, Bigram())))

    assert (few(99), few(100)) == (False, True)


def test_a_quoted_section_comes_before_the_page_about_the_words() -> None:
    assert first(Lexical(quotation_weight=0), SENTENCE) == ABOUT.path
    assert first(Lexical(), SENTENCE) == QUOTED.path


def test_a_quoted_section_is_a_candidate_where_the_pool_has_no_place_for_it() -> None:
    assert first(Lexical(pool=1), SENTENCE) == QUOTED.path


def test_a_quoted_section_without_a_term_of_the_filter_is_no_candidate() -> None:
    assert first(Lexical(), SENTENCE, must=("メッセージは",)) == ABOUT.path


def test_it_adds_its_weight_times_the_rarity_of_the_concepts() -> None:
    text = "the red macro of naked functions fails twice"
    quoted, other = passage("a.md", body=f"Note: {text}!"), passage("b.md", body="red macro")
    plain, found = (
        scores(Lexical(quotation_weight=weight), Query(text), quoted, other) for weight in (0, 0.5)
    )
    rarity = {number: log(1 + (602 - number + 0.5) / (number + 0.5)) for number in (1, 2)}
    concepts = 2 * rarity[2] + 4 * rarity[1]  # red, macro; naked, functions, fails, twice
    more = {path: score - plain[path] for path, score in found.items()}
    assert more == pytest.approx({"a.md": 0.5 * concepts, "b.md": 0.0})


@pytest.mark.parametrize(
    "query",
    [
        Query(SENTENCE, within=frozenset({"logs.md"})),
        Query(SENTENCE, exclude=frozenset({QUOTED.key})),
    ],
)
def test_a_quoted_section_that_may_not_be_returned_changes_no_score(query: Query) -> None:
    plain = scores(Lexical(quotation_weight=0), query, ABOUT, QUOTED)
    assert scores(Lexical(), query, ABOUT, QUOTED) == plain


@pytest.mark.parametrize(("length", "quoted"), [(200, True), (201, False)])
def test_a_text_of_more_than_200_characters_is_no_quotation(length: int, quoted: bool) -> None:
    text = f"red blue green sky sea {'x' * 200}"[:length]
    assert bool(quoted_sections(text, corpus(passage("a.md", body=f"{text} end")))) is quoted


@pytest.mark.parametrize(
    ("text", "quoted"),
    [("red blue green sky sea", False), ("red blue green sky sea hill", True)],
)
def test_a_quotation_has_at_least_six_terms(text: str, quoted: bool) -> None:
    assert bool(quoted_sections(text, corpus(passage("a.md", body=text)))) is quoted


def test_its_weight_is_never_negative() -> None:
    assert Lexical() == Lexical(quotation_weight=1.0)
    with pytest.raises(ValueError, match="greater than or equal to 0"):
        Lexical(quotation_weight=-1)


# --- candidates from other files --------------------------------------------------------------


class Listed(MemoryCorpus):
    """Returns written matches, and records what was searched."""

    def __init__(self, matches: Sequence[IndexMatch]) -> None:
        super().__init__(match.passage for match in matches)
        self.matches = matches
        self.searched: list[tuple[Clause, int]] = []

    def search(
        self, clause: Clause, limit: int, cutoff: ScoreCutoff | None = None
    ) -> Sequence[IndexMatch]:
        self.searched.append((clause, limit))
        return self.matches[:limit]


def matched(path: str, line: int, estimate: float) -> IndexMatch:
    return IndexMatch(passage(path, line, body="x"), estimate)


FIRST = [matched("a.md", line, 4.0) for line in (1, 2, 3)] + [matched("b.md", 1, 2.0)]


def test_files_with_too_many_candidates_leave_places_to_others() -> None:
    further = [
        matched("c.md", 1, 3.0),
        matched("b.md", 1, 2.9),
        matched("d.md", 1, 2.8),
        matched("e.md", 1, 2.0),
        matched("f.md", 1, 1.9),
        matched("g.md", 1, 2.1),
        matched("h.md", 1, 2.1),
    ]
    corpus, clause = Listed(further), Term("x")
    exclude = frozenset({("d.md", 1)})
    more = matches_elsewhere(corpus, clause, FIRST, exclude, crowding=2, limit=3, share=0.5)
    assert [match.passage.path for match in more] == ["c.md", "e.md", "g.md"]
    others = Bool(must=(clause,), must_not=(Pages(("a.md",)),))
    assert corpus.searched == [(others, 3 + 5)]


def test_without_too_many_of_one_file_nothing_further_is_searched() -> None:
    corpus = Listed([matched("c.md", 1, 3.0)])
    for crowding, limit in ((3, 3), (1, 0)):
        assert not matches_elsewhere(
            corpus, Term("x"), FIRST, frozenset(), crowding=crowding, limit=limit, share=0.5
        )
    assert corpus.searched == []


@pytest.mark.parametrize(("pool", "searches"), [(4, 2), (5, 1)])
def test_others_are_searched_when_the_pool_is_full_and_there_is_time(
    pool: int, searches: int
) -> None:
    corpus = Listed(FIRST)
    stage = Lexical(pool=pool, crowding=2)
    stage.score(Query("x"), corpus, {})
    assert len(corpus.searched) == searches
    late = Listed(FIRST * 3)
    stage.score(Query("x", budget=Budget(deadline=0.0)), late, {})
    assert len(late.searched) == 1


def test_excluded_sections_take_no_place_of_the_candidates() -> None:
    corpus = Listed([matched("a.md", line, 9.0 - line) for line in range(1, 7)])
    exclude = frozenset({("a.md", 1), ("a.md", 3)})
    best = best_matches(corpus, Term("x"), 3, ScoreCutoff(10, 0.5), exclude)
    assert [match.passage.start_line for match in best] == [2, 4, 5]
    assert corpus.searched == [(Term("x"), 5)]


def test_others_are_measured_by_the_very_best_match() -> None:
    corpus = Listed([matched("c.md", 1, 2.0)])
    first = [matched("a.md", 1, 8.0), *FIRST]
    assert not matches_elsewhere(
        corpus, Term("x"), first, frozenset(), crowding=2, limit=3, share=0.5
    )


def test_no_more_than_the_limit_are_returned_when_the_excluded_ones_do_not_match() -> None:
    corpus = Listed([matched("a.md", line, 9.0) for line in range(1, 7)])
    best = best_matches(corpus, Term("x"), 3, ScoreCutoff(10, 0.5), frozenset({("z.md", 1)}))
    assert [match.passage.start_line for match in best] == [1, 2, 3]
