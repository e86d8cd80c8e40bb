"""Phrases by hand: a stretch is worth the summed rarity of its terms, as the docstring says."""

from __future__ import annotations

from dataclasses import replace
from math import log

import pytest

from fumishirube import Hit, Passage, Query
from fumishirube.testing import MemoryCorpus, passage
from fumishirube_stages.scorers.lexical import Lexical
from fumishirube_stages.scorers.phrase import (
    PhraseScorer,
    _counts,
    _pairs,
    _parts,
    _query_phrases,
    _QueryPhrases,
    _verbatim,
    _verbatim_words,
    _whole_words,
)
from fumishirube_stages.tokenizers.bigram import Bigram

OTHERS = [passage("x.md", body="zzz"), passage("y.md", body="yyy")]
ONE_OF_3 = log(1 + 2.5 / 1.5)
PHRASE, EXACT = "phrase", "exact"


def scored(text: str, body: str, title: str = "", stage: PhraseScorer | None = None) -> list[Hit]:
    item = passage("a.md", title=title, body=body)
    corpus = MemoryCorpus([item, *OTHERS], Bigram())
    return list((stage or PhraseScorer()).score(Query(text), corpus, {item.key: item}))


def only(
    text: str, body: str, title: str = "", stage: PhraseScorer | None = None
) -> tuple[float, set[str]]:
    hits = scored(text, body, title, stage)
    return (hits[0].score, set(hits[0].labels)) if hits else (0.0, set())


@pytest.mark.parametrize(
    ("text", "body", "terms", "labels"),
    [
        # Any part between spaces is exact. Phrases have two words on, and are worth half of the
        # sum of the rarities of the terms within.
        ("red blue", "a red blue sky", 2, {PHRASE, EXACT}),
        ("red blue green", "a red blue sky", 2, {PHRASE, EXACT}),
        ("red blue green", "a red blue green", 3, {PHRASE, EXACT}),
        ("dark red blue", "a red blue", 2, {PHRASE, EXACT}),
        ("red blue sky sea", "red blue or sky sea", 4, {PHRASE, EXACT}),
        ("red blue", "red or blue", 0, {EXACT}),
        ("red blue", "redder bluer", 0, set()),
        ("red blue", "hatred blue", 0, {EXACT}),
        ("red blue", "red blues", 0, {EXACT}),
        ("red", "red", 0, {EXACT}),
        # is says nothing, so it is worth nothing.
        ("red is", "red is", 1, {PHRASE, EXACT}),
        # Four Japanese characters on: pairs are terms.
        ("休暇申請", "休暇申請", 3, {PHRASE, EXACT}),
        # Pairs with a particle, 暇を and を指, are worth .3 each, those between two nouns one.
        ("休暇を指定", "休暇を指定", 2.6, {PHRASE, EXACT}),
        ("アプリ認証", "アプリ認証", 4, {PHRASE, EXACT}),
        ("有給休暇申請", "休暇申請", 3, {PHRASE}),
        ("有給休暇申請", "有給休暇を申請", 3, {PHRASE}),
        ("休暇申請", "休暇の申請", 0, set()),
        ("休暇申", "休暇申", 0, {EXACT}),
        ("休暇申請書類", "休暇申請書と", 4, {PHRASE}),
        # Words beside each other in a Japanese query are a phrase too.
        ("red blue の設定", "a red blue sky", 2, {PHRASE, EXACT}),
        ("red blue の設定", "blue and red", 0, {EXACT}),
    ],
)
def test_what_stands_verbatim_is_worth_half_the_rarity_of_its_terms(
    text: str, body: str, terms: float, labels: set[str]
) -> None:
    score, marks = only(text, body)
    assert (score, marks) == (pytest.approx(0.5 * terms * ONE_OF_3), labels)


def test_two_stretches_of_a_japanese_query_add_up() -> None:
    score, labels = only("休暇申請 勤務時間", "勤務時間と休暇申請")
    assert score == pytest.approx(0.5 * 6 * ONE_OF_3)
    assert labels == {PHRASE, EXACT}


def test_a_stretch_that_stands_there_twice_counts_once() -> None:
    assert only("red blue", "red blue red blue")[0] == pytest.approx(0.5 * 2 * ONE_OF_3)
    assert only("休暇申請と休暇申請", "休暇申請")[0] == pytest.approx(0.5 * 3 * ONE_OF_3)


def test_the_title_counts_like_the_body_and_they_do_not_run_together() -> None:
    assert only("red blue", "zzz", title="red blue")[1] == {PHRASE, EXACT}
    assert only("red blue", "blue", title="red") == (0.0, {EXACT})


def test_what_is_part_of_a_word_is_cut_off() -> None:
    # The stretch ends inside "abc": what is left has four Japanese characters.
    assert only("休暇申請abc", "休暇申請abx")[0] == pytest.approx(0.5 * 3 * ONE_OF_3)
    assert only("abc休暇申請", "xbc休暇申請")[0] == pytest.approx(0.5 * 3 * ONE_OF_3)


def test_the_weight_is_the_number_of_the_formula() -> None:
    assert only("red blue", "red blue", stage=PhraseScorer(weight=2.0))[0] == pytest.approx(
        2.0 * 2 * ONE_OF_3
    )


def test_a_phrase_of_a_long_english_question_is_worth_less() -> None:
    six, eight = "red blue sky sea tree stone", "red blue sky sea tree stone wind rain"
    assert only(f"the {six}", "a red blue")[0] == pytest.approx(0.5 * 2 * ONE_OF_3)
    assert only(f"the {eight}", "a red blue")[0] == pytest.approx(0.5 * 2 * ONE_OF_3 * 6 / 8)
    stage = PhraseScorer(enough_words=2)
    assert only(six, "a red blue", stage=stage)[0] == pytest.approx(0.5 * 2 * ONE_OF_3 * 2 / 6)


def test_only_the_first_passages_by_depth_are_looked_at() -> None:
    items = [passage(f"{n:02}.md", body="red blue") for n in range(22)]
    candidates: dict[tuple[str, int], Passage] = {item.key: item for item in items}
    corpus = MemoryCorpus(items)
    assert len(list(PhraseScorer().score(Query("red blue"), corpus, candidates))) == 20
    hits = PhraseScorer(depth=2).score(Query("red blue"), corpus, candidates)
    assert [hit.passage.path for hit in hits] == ["00.md", "01.md"]
    hits = PhraseScorer(depth=2**64).score(Query("red blue"), corpus, candidates)
    assert len([*hits]) == len(items)


def test_a_section_that_the_query_quotes_is_looked_at_wherever_it_is() -> None:
    text = "the red macro of naked functions fails twice"
    items = [passage(f"{n:02}.md", body="red macro") for n in range(22)]
    quoted = passage("quoted.md", body=f"Note: {text}!")
    others = [passage(f"other {n}.md", body="zzz") for n in range(600)]
    corpus = MemoryCorpus([*items, quoted, *others])
    candidates = {item.key: item for item in (*items, quoted)}

    def looked_at(query: Query) -> list[str]:
        return [hit.passage.path for hit in PhraseScorer(depth=2).score(query, corpus, candidates)]

    alone, after_lexical = Query(text), Query(text)
    Lexical().score(after_lexical, corpus, {})
    assert looked_at(alone) == ["00.md", "01.md"]
    assert looked_at(after_lexical) == ["00.md", "01.md", "quoted.md"]
    Lexical(quotation_weight=0).score(after_lexical, corpus, {})
    assert looked_at(after_lexical) == ["00.md", "01.md", "quoted.md"]
    # What another wording of the search quotes is no quotation of this one.
    assert looked_at(replace(after_lexical, text="a red macro")) == ["00.md", "01.md"]


def test_a_section_without_a_stretch_does_not_end_the_search() -> None:
    items = [passage("a.md", body="zzz"), passage("b.md", body="red blue")]
    query, corpus = Query("red blue"), MemoryCorpus(items)
    candidates = {item.key: item for item in items}
    for _ in range(2):
        hits = PhraseScorer().score(query, corpus, candidates)
        assert [hit.passage.path for hit in hits] == ["b.md"]


def test_it_nominates_nothing() -> None:
    assert PhraseScorer.generates is False


# --- parts of phrases -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stretch", "text", "parts"),
    [
        ("有給休暇届出書", "有給休暇届出書", ["有給休暇届出書"]),
        ("有給休暇届出書", "有給休暇 休暇届出書", ["有給休暇"]),
        ("有給休暇届出書類", "有給休暇 届出書類", ["有給休暇", "届出書類"]),
        ("有給休暇届出書類", "x届出書類", ["届出書類"]),
        ("有給休暇届出", "有給休", []),
        ("有給休 暇", "休 暇", []),
        ("休" * 4, "休" * 4, ["休" * 4]),
        ("休" * 70, "休" * 70, ["休" * 64, "休" * 6]),
    ],
)
def test_the_longest_parts_from_four_characters_to_64_left_to_right(
    stretch: str, text: str, parts: list[str]
) -> None:
    for number in (0, len(text)):  # of a short query, and of a long one
        phrases = _QueryPhrases(((stretch, _parts(stretch)),), (), japanese=True, number=number)
        assert [*_verbatim(phrases, text)] == parts


@pytest.mark.parametrize(
    ("stretch", "text", "parts"),
    [
        ("red blue sky", "red blue sky", ["red blue sky"]),
        ("red blue sky sea", "red blue sea sky sea", ["red blue", "sky sea"]),
        ("red blue sky sea", "red blue blue sky sea", ["red blue", "sky sea"]),
        ("red blue sky", "blue sky", ["blue sky"]),
        ("red blue sky sea", "blue sky sea", ["blue sky sea"]),
        ("red blue sky", "red blue skyline", []),
        ("red blue", "hatred blue", []),
        ("red", "red", []),
        ("a b c d e", "a b c x c d e", ["a b c", "d e"]),
    ],
)
def test_the_longest_sequences_of_two_words_on_left_to_right(
    stretch: str, text: str, parts: list[str]
) -> None:
    phrases = _QueryPhrases(((stretch, _pairs(stretch)),), (), japanese=False, number=0)
    assert [*_verbatim_words(phrases, text)] == parts


@pytest.mark.parametrize(
    ("stretch", "start", "end", "part"),
    [
        ("red blue sky", 0, 12, "red blue sky"),
        ("red blue sky", 1, 12, "blue sky"),
        ("red blue sky", 0, 11, "red blue"),
        ("red blue sky", 2, 10, "blue"),
        ("red blue sky", 1, 2, ""),
        ("redblue", 1, 6, ""),
        ("red, blue", 3, 9, ", blue"),
        ("red,blue", 2, 8, ",blue"),
        ("red,blue", 0, 5, "red,"),
        ("red休暇", 3, 5, "休暇"),
        ("休暇red", 0, 2, "休暇"),
        ("休暇届出", 1, 3, "暇届"),
        ("-red-", 1, 4, "red"),
        ("a1b", 1, 3, ""),
    ],
)
def test_incomplete_words_are_cut_at_both_ends(
    stretch: str, start: int, end: int, part: str
) -> None:
    assert _whole_words(stretch, start, end) == part


def test_what_counts_as_a_phrase() -> None:
    assert _counts("休暇届出")
    assert not _counts("休暇届")
    assert _counts("red blue")
    assert not _counts("red")
    assert _counts("休 暇")


def test_a_query_of_one_chunk_is_one_whole_and_a_japanese_part_has_2048_characters() -> None:
    assert _query_phrases("休暇届") == ((("休暇届", ()),), ("休暇届",), True, 0)
    several = _query_phrases("red 休暇の申請")
    assert several.stretches == (("red", ()), ("休暇の申請", ("休暇の申", "暇の申請")))
    assert several.wholes == ("red 休暇の申請", "red", "休暇の申請")
    assert several.number == 2
    words = (("red blue", ("red blue",)),)
    assert _query_phrases("red blue") == (words, ("red blue", "red", "blue"), False, 1)
    assert [len(part) for part, _ in _query_phrases("休" * 3000).stretches] == [2048]
