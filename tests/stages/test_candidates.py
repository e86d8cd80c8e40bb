"""The candidates of a query: from other files too, and those that contain the whole of it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from fumishirube import (
    Bool,
    Clause,
    Holds,
    IndexMatch,
    Pages,
    Part,
    Passage,
    Query,
    ScoreCutoff,
    Term,
    Tokenizer,
)
from fumishirube.testing import MemoryCorpus, passage
from fumishirube_stages.scorers.lexical_search.candidates import (
    NameBoosts,
    best_matches,
    complete_clause,
    matches_elsewhere,
    pooled_matches,
    quoted_sections,
    rare_clause,
    searched_terms,
)
from fumishirube_stages.tokenizers.bigram import Bigram

SENTENCE = "次のようなメッセージがログに記録されます"
OTHERS = [passage(f"other-{number}.md", body=f"別の話 {number}") for number in range(600)]
QUOTED = passage("quoted.md", body=f"起動すると、{SENTENCE}。設定はここで変えられます。" * 3)
ABOUT = passage(
    "logs.md", title="ログに記録されるメッセージ", body="メッセージはログに記録されます。" * 4
)


def corpus(*passages: Passage) -> MemoryCorpus:
    return MemoryCorpus([*passages, *OTHERS], Bigram())


def test_searched_terms_count_in_all_fields_and_parts_in_any() -> None:
    boosts = NameBoosts(3.0, 1.5, 2.0).times(0.5)
    assert boosts.clauses([("税", 1.0, 0.7), ("red", 0.5, 2.5)], {"税"}) == [
        Part("税", None, 0.7),
        Term("red", "body", 0.5),
        Term("red", "title", 0.75),
        Term("red", "headings", 0.375),
        Term("red", "path", 0.5),
    ]


def test_the_rarest_terms_are_searched_and_those_that_are_rare_enough() -> None:
    weights = {"sea": 1.0, "red": 0.5, "sky": 2.0, "sun": 1.0, "fig": 0.1}
    idf = {"sea": 1.0, "red": 8.0, "sky": 1.0, "sun": 0.5, "fig": 6.0}
    assert searched_terms(weights, idf, 2, 6.0) == [
        ("red", 0.5, 4.0),
        ("sky", 2.0, 2.0),
        ("fig", 0.1, pytest.approx(0.6)),
    ]
    assert [term for term, _, _ in searched_terms(weights, idf, 3, 9.0)] == ["red", "sky", "sea"]


def test_names_have_all_searched_terms_and_titles_the_others_too() -> None:
    searched = [("red", 1.0, 2.5), ("税", 0.5, 0.7), ("elsewhere", 1.0, 3.0)]
    weights = {"red": 0.5, "税": 0.5, "sheet": 0.4, "章": 1.0}
    assert NameBoosts(3.0, 1.5, 2.0).name_clauses(weights, searched, {"税", "章"}) == [
        Term("red", "title", 1.5),
        Term("red", "headings", 0.75),
        Term("red", "path", 1.0),
        Part("税", None, 0.7),
        Term("sheet", "title", pytest.approx(1.2)),
    ]


@pytest.mark.parametrize("text", [SENTENCE, f"「{SENTENCE}。」", f" {SENTENCE}?"])
def test_a_section_with_the_whole_text_is_quoted_whatever_marks_are_around_it(text: str) -> None:
    assert quoted_sections(text, corpus(ABOUT, QUOTED)) == [QUOTED]


def test_a_name_is_no_quotation_because_many_sections_mention_it() -> None:
    assert [*quoted_sections("ログに記録", corpus(ABOUT, QUOTED))] == []
    section = passage("a.md", body="reading a file")
    assert [*quoted_sections("reading a file", corpus(section))] == []


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


@pytest.mark.parametrize(("size", "searched"), [(99, []), (100, [2]), (250, [3]), (600, [6])])
def test_one_section_more_than_is_few_is_searched(size: int, searched: Sequence[int]) -> None:
    listed = Listed([matched("other.md", line, 1.0) for line in range(1, size + 1)], Bigram())
    quoted_sections(SENTENCE, listed)
    assert listed.searched == [(Holds(SENTENCE), limit) for limit in searched]


@pytest.mark.parametrize(("length", "quoted"), [(200, True), (201, False)])
def test_a_text_of_more_than_200_characters_is_no_quotation(length: int, quoted: bool) -> None:
    text = f"red blue green sky sea {'x' * 200}"[:length]
    section = passage("a.md", body=f"{text} end")
    assert [*quoted_sections(text, corpus(section))] == [section] * quoted


@pytest.mark.parametrize(
    ("text", "quoted"),
    [("red blue green sky sea", False), ("red blue green sky sea hill", True)],
)
def test_a_quotation_has_at_least_six_terms(text: str, quoted: bool) -> None:
    assert bool(quoted_sections(text, corpus(passage("a.md", body=text)))) is quoted


# --- candidates from other files --------------------------------------------------------------


class Listed(MemoryCorpus):
    """Returns written matches, and records what was searched."""

    def __init__(self, matches: Sequence[IndexMatch], tokenizer: Tokenizer | None = None) -> None:
        super().__init__((match.passage for match in matches), tokenizer)
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
        further = matches_elsewhere(
            corpus, Term("x"), FIRST, frozenset(), crowding=crowding, limit=limit, share=0.5
        )
        assert [*further] == []
    assert corpus.searched == []


def test_excluded_sections_take_no_place_of_the_candidates() -> None:
    corpus = Listed([matched("a.md", line, 9.0 - line) for line in range(1, 7)])
    exclude = frozenset({("a.md", 1), ("a.md", 3)})
    best = best_matches(corpus, Term("x"), 3, ScoreCutoff(10, 0.5), exclude)
    assert [match.passage.start_line for match in best] == [2, 4, 5]
    assert corpus.searched == [(Term("x"), 5)]


def test_without_excluded_sections_the_index_applies_the_cutoff() -> None:
    corpus = Listed([matched("a.md", line, 9.0 - line) for line in range(1, 7)])
    best = best_matches(corpus, Term("x"), 3, ScoreCutoff(10, 0.5), frozenset())
    assert [match.passage.start_line for match in best] == [1, 2, 3]
    assert corpus.searched == [(Term("x"), 3)]


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


# --- sections with every concept ----------------------------------------------------------------

ANY = Term("red")


@pytest.mark.parametrize(
    ("concepts", "clauses"),
    [
        ([["red"], ["sky"]], (Term("red"), Term("sky"))),
        ([["休暇", "暇届"], ["税"]], (Term("休暇"), Term("暇届"), Part("税"))),
        ([["red"], ["sky"], ["red"]], (Term("red"), Term("sky"))),
        # One concept, more than eight, and a term of no section.
        ([["red"]], None),
        ([["red"]] * 9, None),
        ([["red"], ["nowhere"]], None),
    ],
)
def test_a_section_with_every_concept_has_all_of_their_terms(
    concepts: Sequence[Sequence[str]], clauses: tuple[Clause, ...] | None
) -> None:
    counts = {"red": 2, "sky": 1, "休暇": 1, "暇届": 1, "税": 1, "nowhere": 0}
    expected = None if clauses is None else Bool(must=(ANY, *clauses))
    assert complete_clause(ANY, concepts, {"税"}, counts) == expected


@pytest.mark.parametrize(
    ("counts", "size", "terms"),
    [
        ({"cosign": 1, "release": 5, "caddy": 6}, 600, ["cosign", "release"]),
        ({"cosign": 3, "release": 4}, 399, ["cosign"]),
        ({"cosign": 0, "休暇": 1, "sig": 1}, 600, []),
        ({"cosign": 1}, 99, []),
    ],
)
def test_words_of_very_few_sections_have_a_clause_of_their_own(
    counts: dict[str, int], size: int, terms: Sequence[str]
) -> None:
    values = {term: 2.0 + place for place, term in enumerate(counts)}
    clause = rare_clause(values, {"sig"}, counts, size, 5)
    clauses = tuple(Term(term, "body", values[term]) for term in terms)
    assert clause == (Bool(should=clauses) if terms else None)


@pytest.mark.parametrize(("room", "paths"), [(9, "aabc"), (3, "aab"), (1, "a"), (0, "")])
def test_each_pool_has_its_best_matches_while_there_is_room(room: int, paths: str) -> None:
    texts = {"a": "red red sky", "b": "sky sky", "c": "sky sea"}
    manual = MemoryCorpus([passage(f"{name}.md", body=text) for name, text in texts.items()])
    pools = [(Term("red"), 5), (None, 5), (Term("sky"), 3)]
    matches = pooled_matches(manual, Query("red"), pools, room)
    assert sorted(match.passage.path[0] for match in matches) == sorted(paths)


def test_nothing_is_searched_without_a_clause_or_room() -> None:
    manual = Listed([matched(path, 1, 1.0) for path in "abc"])
    red, sky = Term("red"), Term("sky")
    pools = [(None, 5), (red, 0), (red, 2), (sky, 9), (sky, 9), (red, 1)]
    assert len(pooled_matches(manual, Query("red"), pools, 4)) == 4
    assert manual.searched == [(red, 2), (sky, 2)]


@pytest.mark.parametrize(("number", "clause"), [(2, True), (8, True), (9, False)])
def test_up_to_eight_concepts_are_looked_for_together(number: int, clause: bool) -> None:
    concepts = [[f"word{n}"] for n in range(number)]
    counts = {f"word{n}": 1 for n in range(number)}
    assert (complete_clause(ANY, concepts, (), counts) is not None) == clause
