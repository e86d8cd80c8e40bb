"""The words that a query without required terms gets: its rarest, as the corpus writes them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fumishirube.testing import MemoryCorpus, passage
from fumishirube_stages.picked_terms import _CODE, rarest_words
from fumishirube_stages.tokenizers.bigram import Bigram


def picked(text: str, *bodies: str) -> tuple[str, ...]:
    passages = [passage(f"{n}.md", body=body) for n, body in enumerate(bodies)]
    return rarest_words(text, MemoryCorpus(passages, Bigram()))


def test_the_rarest_are_counted_and_japanese_words_are_shortened_to_what_stands_there() -> None:
    bodies = ("休暇申請 red e-104 12", "休暇申請 red", "red green")
    corpus = MemoryCorpus(
        [passage(f"{n}.md", body=body) for n, body in enumerate(bodies)], Bigram()
    )
    assert rarest_words("red green 有給休暇申請書", corpus) == ("green", "休暇申請")
    assert rarest_words("redder e-104 red", corpus) == ("e-104", "red")
    assert rarest_words("12 の x", corpus) == ()


@pytest.mark.parametrize(
    ("query", "passages", "picked"),
    [
        # A rare word that may stand in any text is none that a question is about.
        (
            "how many days after the flood",
            ["many flood", "days", "days flood", "after"],
            ["days", "flood"],
        ),
        ("please tell what to do before work", ["please tell before work"], []),
        ("必要な場合の手続", ["必要な場合", "手続", "手続"], ["手続"]),
        # What counts a number, joins two words or surrounds one belongs to neither.
        ("2012年5月1日現在の党員数", ["日現在", "現在 現在", "党員数"], ["党員数", "現在"]),
        ("第45回衆議院選挙", ["回衆議院選挙", "衆議院選挙"], ["衆議院選挙"]),
        ("直接又は間接に", ["直接又は間接", "直接"], ["直接", "間接"]),
        ('I don\'t know "what "pumps', ['don "what pumps', "pumps"], ["pumps"]),
        # Katakana is whole, kanji may be a compound.
        ("サテライトの設置", ["ライト", "サテ", "設置"], ["設置"]),
        ("サテライトの設置基準", ["サテライト", "設置"], ["サテライト", "設置"]),
    ],
)
def test_only_whole_words_that_say_something_are_picked(
    query: str, passages: list[str], picked: list[str]
) -> None:
    corpus = MemoryCorpus([passage(f"{n}.md", body=text) for n, text in enumerate(passages)])
    assert sorted(rarest_words(query, corpus)) == sorted(picked)


@pytest.mark.parametrize(
    ("text", "body", "words"),
    [
        ("有給休暇", "有給休暇", ("有給休暇",)),
        ("有給休暇", "有給の休暇", ("有給",)),
        ("有給休暇", "休暇だけ", ("休暇",)),
        ("有給休暇", "給休だけ", ("給休",)),
        ("有給休暇", "有の暇", ()),
        ("税", "税", ()),
        ("12 sky", "12 sky", ("sky",)),
        ("x sky", "x sky", ("sky",)),
        ("skyline", "sky line", ()),
        ("アパート", "アパ", ()),
        ("の sky", "の sky", ("sky",)),
    ],
)
def test_the_longest_part_of_a_compound_that_occurs_is_picked(
    text: str, body: str, words: tuple[str, ...]
) -> None:
    assert picked(text, body) == words


def test_parts_of_at_most_24_characters_are_searched() -> None:
    word = "".join(chr(0x4E00 + number) for number in range(30))
    assert picked(word, word[:25]) == (word[:24],)
    assert picked(word, word[3:27]) == (word[3:27],)
    letters = "a" * 40
    assert picked(letters, letters) == (letters,)


def test_parts_of_the_first_hundred_characters_are_searched() -> None:
    word = "".join(chr(0x4E00 + number) for number in range(200))
    assert picked(word, word[98:100]) == (word[98:100],)
    assert picked(word, word[99:101]) == ()


@given(text=st.text(alphabet="aZ1-_.é あ\n", max_size=20))
def test_codes_are_letters_and_digits_with_marks_between_them(text: str) -> None:
    assert _CODE.findall(text) == re.findall(r"[a-z0-9]+(?:[-_.][a-z0-9]+)+", text)


@pytest.mark.timeout(30)
@pytest.mark.parametrize("piece", ["a", "1", "a-", "電", "あ"])
def test_a_long_word_takes_no_longer_than_its_length_asks_for(piece: str) -> None:
    assert picked(piece * (100_000 // len(piece)), "red") == ()
