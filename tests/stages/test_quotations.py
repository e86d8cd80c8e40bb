"""A section that contains the whole of a long query: the query quotes it."""

from __future__ import annotations

import pytest

from fumishirube import Hit, Passage, Query, Ranking
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


def first(stage: Lexical, text: str, must: tuple[str, ...] = ()) -> Hit:
    found = stage.score(Query(text, must=must), corpus(ABOUT, QUOTED), {})
    hits = found.hits if isinstance(found, Ranking) else tuple(found)
    return max(hits, key=lambda hit: hit.score)


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
    assert first(Lexical(quotation_weight=0), SENTENCE).passage == ABOUT
    assert first(Lexical(), SENTENCE).passage == QUOTED


def test_a_quoted_section_is_a_candidate_where_the_pool_has_no_place_for_it() -> None:
    assert first(Lexical(pool=1), SENTENCE).passage == QUOTED


def test_a_quoted_section_without_a_term_of_the_filter_is_no_candidate() -> None:
    assert first(Lexical(), SENTENCE, must=("メッセージは",)).passage == ABOUT
