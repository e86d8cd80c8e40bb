"""A section that contains the whole of a long query: the query quotes it."""

from __future__ import annotations

from math import log

import pytest

from fumishirube import Passage, Query, Ranking
from fumishirube.testing import MemoryCorpus, passage
from fumishirube_stages.scorers.lexical import Lexical
from fumishirube_stages.scorers.quotations import quoted_sections
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
