"""Folding, occurrence, lines and measuring."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fumishirube.text import (
    Lines,
    estimate_tokens,
    fold,
    is_cjk,
    nfc,
    occurrences,
    occurs,
    runs,
    words,
)

# Where folding goes wrong if it does: widths, forms, marks, odd spaces, dashes and cases.
AWKWARD = (
    "がガｶﾞか\u3099é e\u0301ＡａİıſßẞΣσςﬁ①㈱½㌔・·"
    "‐–—―ー-−〜 \u3000\u00a0\t\n\r\u2028給付々〇𠮷豈가각☕👩‍👧"
)
texts = st.text() | st.text(alphabet=AWKWARD) | st.text(alphabet="ab1_ -.給付ひらカ。")
JAPANESE = st.text(alphabet="給付金休暇ひとり親カタ々", min_size=1)
WORDS = st.text(alphabet="abz019", min_size=1)


# --- fold -----------------------------------------------------------------------------------


@given(texts)
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(texts)
def test_a_folded_text_is_one_line_without_double_spaces(text: str) -> None:
    folded = fold(text)
    assert folded == folded.strip()
    assert not re.search(r"[^\S ]|  ", folded)


@given(st.text(alphabet="abcXYZ 019-_.給付金ひらカタ"))
def test_width_does_not_matter(text: str) -> None:
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)
    assert fold(wide) == fold(text)


@given(st.text(alphabet="abcXYZäÖÅß 給ΣσςЖж"))
def test_case_does_not_matter(text: str) -> None:
    assert fold(text.upper()) == fold(text.lower()) == fold(text)


@given(texts)
def test_the_composed_and_the_decomposed_form_fold_alike(text: str) -> None:
    assert fold(unicodedata.normalize("NFD", text)) == fold(unicodedata.normalize("NFC", text))


@given(st.lists(JAPANESE), st.sampled_from([" ", "　", "\n", "・", " \t ", "･", "\r\n"]))
def test_spaces_and_middle_dots_between_japanese_do_not_matter(parts: list[str], gap: str) -> None:
    assert fold(gap.join(parts)) == fold("".join(parts))


@given(st.lists(WORDS), st.sampled_from(["  ", "\u3000", "\n", "\t ", "\u00a0", "\u2028"]))
def test_spaces_between_words_are_one_space(parts: list[str], gap: str) -> None:
    assert fold(gap.join(parts)) == " ".join(parts)


@pytest.mark.parametrize("dash", "‐‑‒–—―⁃−﹘﹣－")
def test_every_dash_is_a_hyphen(dash: str) -> None:
    assert fold(f"E{dash}104") == "e-104"


@pytest.mark.slow
def test_marks_without_end_are_folded_in_time() -> None:
    assert fold("標的" + "\u0301\u0323" * 200_000 + "標的").endswith("標的")


def test_the_long_vowel_mark_is_no_dash() -> None:
    assert fold("サーバー") == "サーバー"
    assert fold("ｻｰﾊﾞｰ") == "サーバー"


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_the_short_cut_for_ascii_is_no_other_way(text: str) -> None:
    # One wide character at the end takes the long way; "末" joins nothing that ASCII could be.
    assert fold(f"{text} 末").removesuffix("末").rstrip(" ") == fold(text)


# --- occurs ---------------------------------------------------------------------------------


@given(texts, texts)
def test_what_occurs_stands_there(text: str, term: str) -> None:
    if occurs(fold(text), fold(term)):
        assert fold(term) in fold(text)


@given(st.text(alphabet="給付金ひらカ a"), JAPANESE, st.text(alphabet="給付金ひらカ a"))
def test_japanese_occurs_anywhere(before: str, term: str, after: str) -> None:
    assert occurs(fold(f"{before}{term}{after}"), fold(term))


@given(st.lists(WORDS, min_size=1), st.data())
def test_a_word_occurs_where_it_stands_by_itself(parts: list[str], data: st.DataObject) -> None:
    text = " ".join(parts)
    assert occurs(text, data.draw(st.sampled_from(parts)))
    term = data.draw(WORDS)
    assert occurs(text, term) == (term in parts)


@given(WORDS, JAPANESE)
def test_a_word_may_touch_japanese(word: str, japanese: str) -> None:
    for text in (f"{japanese}{word}", f"{word}{japanese}", f"{japanese}{word}{japanese}"):
        assert occurs(fold(text), word)


@given(texts, texts, texts)
def test_more_text_around_spaces_loses_no_occurrence(before: str, text: str, after: str) -> None:
    whole, part = fold(f"{before} {text} {after}"), fold(text)
    if part and part in whole and not part[0].isspace():
        assert occurs(f" {part} ", part)


@pytest.mark.parametrize(
    ("text", "term", "there"),
    [
        ("reset the password", "pass", False),
        ("e-104 failed", "e-104", True),
        ("e-1042 failed", "e-104", False),
        ("node.js 20", ".js", True),
        ("c++ と c#", "c++", True),
        ("api制限", "api", True),
        ("rapi制限", "api", False),
        ("第3章", "3", True),
        ("第13章", "3", False),
        ("snake_case", "snake", True),
        ("ångström", "ngstr", False),
        ("給付金", "付", True),
        ("", "a", False),
    ],
)
def test_words_stand_on_word_boundaries_and_japanese_anywhere(
    text: str, term: str, *, there: bool
) -> None:
    assert occurs(text, term) is there


@given(
    text=st.lists(st.sampled_from(["a", "to", "too", "i", "給", "é", "7", "_", "-", " "])).map(
        "".join
    ),
    word=st.sampled_from(["a", "to", "i", "7", "oo", "ai"]),
    most=st.none() | st.integers(1, 4),
)
def test_a_word_of_ascii_is_counted_where_a_word_begins_and_ends(
    text: str, word: str, most: int | None
) -> None:
    whole = [run for run, japanese in words(text) if not japanese]
    assert occurrences(text, word, most) == min(whole.count(word), most or len(text))


# --- runs and words -------------------------------------------------------------------------


@given(texts)
def test_runs_are_where_they_say(text: str) -> None:
    folded, end = fold(text), 0
    for script, run, offset in runs(folded):
        assert script in {"han", "hiragana", "katakana", "word", "joined"}
        assert offset >= end
        assert folded[offset : offset + len(run)] == run
        end = offset + len(run)


@given(texts)
def test_runs_and_words_leave_out_the_same(text: str) -> None:
    """Both are the text without its punctuation and spaces; only the small ヶ is han to one."""
    folded = fold(text)
    assert "".join(run for _, run, _ in runs(folded)) == "".join(run for run, _ in words(folded))


@given(texts)
def test_letters_and_digits_are_in_a_word(text: str) -> None:
    folded = fold(text)
    kept = "".join(run for run, _ in words(folded))
    assert [c for c in kept if c.isalnum()] == [c for c in folded if c.isalnum()]


@pytest.mark.slow
def test_every_character_joins_two_letters_to_a_word_or_divides_them() -> None:
    characters = [chr(code) for code in range(0x110000)]
    joining = {c for c in characters if [*words(f"b{c}a")] == [(f"b{c}a", False)]}
    assert {c for c in characters if not occurs(f"b{c}a", "a")} == joining
    assert {c for c, japanese in words("\n".join(characters)) if japanese} <= {
        *filter(is_cjk, characters)
    }


@given(texts)
def test_words_are_japanese_or_not_but_never_both(text: str) -> None:
    for run, japanese in words(fold(text)):
        assert all(is_cjk(character) is japanese for character in run), run


# --- names ----------------------------------------------------------------------------------


@given(texts)
def test_names_are_composed_once(text: str) -> None:
    assert nfc(nfc(text)) == nfc(text) == unicodedata.normalize("NFC", text)


# --- measuring ------------------------------------------------------------------------------


@given(texts, texts)
def test_the_tokens_of_two_texts_are_those_of_both_together(one: str, other: str) -> None:
    apart = estimate_tokens(one) + estimate_tokens(other)
    assert apart - 1 <= estimate_tokens(one + other) <= apart


@given(texts)
def test_tokens_are_bounded_by_characters(text: str) -> None:
    assert len(text) / 4 <= estimate_tokens(text) <= len(text)


def test_tokens_are_one_a_japanese_character_and_one_per_four_others() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("給付金") == 3
    assert estimate_tokens("abcd") == 1
    assert estimate_tokens("abcde") == 2
    assert estimate_tokens("給付金 abc") == 4


# --- lines ----------------------------------------------------------------------------------

lined = st.text(alphabet="ab給\n\r\u2028\x0b", max_size=40)


@given(lined)
def test_lines_are_those_between_line_feeds(text: str) -> None:
    lines = Lines(text)
    expected = text.split("\n")
    if len(expected) > 1 and not expected[-1]:
        expected.pop()
    cut = [
        text[lines.start(number) : lines.start(number + 1)].removesuffix("\n")
        for number in range(1, lines.total + 1)
    ]
    assert cut == expected


@given(lined)
def test_a_line_holds_what_begins_in_it(text: str) -> None:
    lines = Lines(text)
    for number in range(1, lines.total + 1):
        assert lines.at(lines.start(number)) == number
    for offset in range(len(text)):
        assert lines.at(offset) == text.count("\n", 0, offset) + 1


@given(lined)
def test_the_line_after_the_last_begins_at_the_end(text: str) -> None:
    lines = Lines(text)
    assert lines.total >= 1
    assert lines.start(lines.total + 1) == lines.length == len(text)
