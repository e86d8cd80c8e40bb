"""Readings: what a text is matched as."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fumishirube.text import Reading, fold, is_cjk, reading, reading_form, wraps

WORDS = st.sampled_from(
    [
        *("abort", "Signal", "AbortSignal", "abort_signal", "e-mail", "query", "queries", "class"),
        *(
            "a",
            "is",
            "visa",
            "once",
            "concept",
            "Straße",
            "5",
            "15",
            "1.5",
            "12",
            "000",
            "v2",
            "秒",
        ),
        *("分間", "給付金", "入院", "レート", "ﾚｰﾄ", "ガソリン", "ｶﾞｿﾘﾝ", "５", "Ａｂ", "の", "・"),
    ]
)
JOINS = st.sampled_from(["", "", " ", "  ", "-", "_", "\u3000", "\t", ". ", "/", "*", "`", "ー"])
LINES = st.lists(st.tuples(WORDS, JOINS), max_size=8).map(
    lambda parts: "".join(word + join for word, join in parts)
)
TEXTS = LINES.filter(str.strip)


def holds(line: str, text: str, *, exact: bool = False, word: bool = False) -> bool:
    understood = reading(text, exact=exact, word=word)
    assert understood is not None
    return matches(understood, line)


def matches(understood: Reading, line: str) -> bool:
    found = [*understood.matching_lines(line, reading_form(line))]
    assert found in ([], [(1, 1)])
    return bool(found)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("5 秒", "タイムアウトは5秒です"),
        ("5 秒", "タイムアウトは５ 秒です"),
        ("5秒", "タイムアウトは **5** 秒です"),
        ("2 分", "2 分間"),
        ("64 bit", "64-bit"),
        ("sha256", "SHA-256"),
        ("5%", "5 %"),
        ("abort signal", "new AbortSignal()"),
        ("abort signal", "`abort` signal"),
        ("AbortSignal", "the abort_signals"),
        ("abort signals", "an abort-signal."),
        ("set up", "setup"),
        ("log in", "doLogIn()"),
        ("e-mail", "email"),
        ("query", "two queries"),
        ("queries", "a query plan"),
        ("boxes", "a box"),
        ("page sizes", "the page size"),
        ("caches", "a cache of"),
        ("cookies", "one cookie"),
        ("class", "classes"),
        (" once", "call once"),
        ("once", "FnOnce"),
        ("--flag", "use --flag"),
        ("2024", "2024.05.01"),
        ("入院給付金", "入院 給付金"),
        ("ガソリン", "ｶﾞｿﾘﾝ"),
        ("ｶﾞｿﾘﾝ", "ガソリン"),
        ("1–2", "1-2"),
        ("RUST_MIN_STACK", "set RUST_MIN_STACK=1"),
        ("note: keep", "**Note**: keep it"),
        ("core.editor::", "`core.editor`::"),
        ("hint: ask", "__Hint__: ask"),
        ("注意：", "**注意**: 必ず"),
    ],
)
def test_a_text_is_met_as_a_reader_meets_it(text: str, line: str) -> None:
    assert holds(line, text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("5 秒", "15 秒"),
        ("5 秒", "1.5 秒"),
        ("2 分", "12 分間"),
        ("000 円", "1,000 円"),
        ("1.5", "11.5"),
        ("3", "3.5"),
        ("3", "30"),
        ("1 2", "12"),
        (" once", "concept"),
        (" once", "FnOnce"),
        ("once ", "oncely"),
        ("signals", "signaling"),
        ("is a", "visa"),
        ("--flag", "a flag"),
        ("https", "http"),
        ("abort signal", "abort the signal"),
        ("f(x)", "f[(x)"),
        ("print(args)", "print(*args)"),
        ("count()", "count(*)"),
        ("src//x", "src/*/x"),
    ],
)
def test_a_text_is_not_met_in_what_reads_otherwise(text: str, line: str) -> None:
    assert not holds(line, text)


@pytest.mark.parametrize(
    ("text", "line", "whole"),
    [
        ("once", "call once.", True),
        ("once", "FnOnce", False),
        ("レート", "レートの", True),
        ("レート", "プレート", False),
        ("abort", "abort_signal", False),
        ("tax", "the taxes", True),
    ],
)
def test_whole_words_are_no_part_of_longer_ones(text: str, line: str, *, whole: bool) -> None:
    assert holds(line, text, word=True) is whole
    assert holds(line, text)


@pytest.mark.parametrize("text", ["", " ", "\t\u3000", "a\nb", "a\r"])
def test_blank_texts_and_several_lines_are_no_reading(text: str) -> None:
    assert reading(text) is None
    assert reading(text, exact=True) is None


@given(TEXTS, LINES)
def test_exactly_is_what_stands_there(text: str, line: str) -> None:
    assert holds(line, text, exact=True) is (text in line)


@given(TEXTS, LINES, LINES)
def test_what_is_met_exactly_is_met_by_a_reader_unless_a_number_is_cut(
    text: str, before: str, after: str
) -> None:
    line = before + text + after
    assume(unicodedata.is_normalized("NFC", line))
    first, last, left, right = (
        unicodedata.normalize("NFKC", part) for part in (text[0], text[-1], before, after)
    )
    cut = first.isdecimal() and re.search(r"[0-9.,]\Z", left)
    assume(not cut and not (last.isdecimal() and re.match(r"[0-9.]", right)))
    assert holds(line, text)


@given(TEXTS, LINES)
def test_width_and_case_do_not_count(text: str, line: str) -> None:
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)
    expected = holds(line, text)
    assert holds(line, wide) is expected
    assert holds(line.upper(), text) is expected
    assert holds(line.lower(), text) is expected
    assert holds(unicodedata.normalize("NFKC", line), text) is expected


@given(st.integers(0, 99_999), st.integers(0, 99_999), st.sampled_from(["", " ", "\u3000", "-"]))
def test_a_number_is_met_as_a_whole(wanted: int, written: int, gap: str) -> None:
    assert holds(f"約{written}{gap}秒", f"{wanted} 秒") is (wanted == written)
    assert not holds(f"({written}.25 秒)", f"{wanted} 秒")


@given(TEXTS, LINES, st.booleans(), st.booleans())
def test_stems_stand_in_every_line_that_matches(
    text: str, line: str, exact: bool, word: bool
) -> None:
    understood = reading(text, exact=exact, word=word)
    assert understood is not None
    if matches(understood, line):
        for stem in understood.stems:
            assert stem in fold(line)


@given(TEXTS, LINES, st.booleans())
def test_spans_are_of_the_line_itself(text: str, line: str, exact: bool) -> None:
    understood = reading(text, exact=exact)
    assert understood is not None
    spans = understood.spans(line)
    assert bool(spans) is matches(understood, line)
    for start, end in spans:
        assert 0 <= start < end <= len(line)
        if exact:
            assert line[start:end] == text


def over_line_end(understood: Reading, line: str, following: str) -> bool:
    """Tell whether words that match are divided by the end of a line."""
    if not wraps(line, following):
        return False
    beside = (line.rstrip()[-1:], following.lstrip().removeprefix(">").lstrip()[:1])
    if ">" in following[:4] and all(map(is_cjk, beside)):
        return False  # words of Japanese are not divided within quotations
    joined = reading_form(f"{line.rstrip()} {following.lstrip().removeprefix('>').lstrip()}")
    end = len(reading_form(line.rstrip()))
    return any(m.start() < end < m.end() - 1 for m in understood.pattern.finditer(joined))


@given(st.lists(LINES, max_size=6), TEXTS)
def test_lines_are_looked_at_one_by_one_and_over_their_ends(lines: list[str], text: str) -> None:
    understood = reading(text)
    assert understood is not None
    whole = "\n".join(lines)
    expected = [
        number
        for number, (line, following) in enumerate(pairwise([*lines, ""]), 1)
        if matches(understood, line) or over_line_end(understood, line, following)
    ]
    found = [*understood.matching_lines(whole, reading_form(whole))]
    assert [first for first, _ in found] == expected


@pytest.mark.parametrize(
    ("text", "lines", "last"),
    [
        ("cargo fix", "run cargo\nfix to apply", 2),
        ("cargo fix", "> run cargo\n> fix to apply", 2),
        ("cargo fix", "run cargo  \n   fix; cargo fix", 2),
        ("within 5 days", "it is due within\n5 days of", 2),
        ("cargo fix", "cargo fix and cargo\nfix", 1),
        ("cargo fix", "## Cargo\nfix it", None),
        ("cargo fix", "| cargo\nfix it", None),
        ("cargo fix", "* cargo\n* fix", None),
        ("cargo fix", "cargo\n\nfix", None),
        ("5 秒", "合計 5\n秒", 2),
        ("配偶者", "会員の配偶\n者も", 2),
        ("配偶者", "会員の配偶\n\u3000者も", 2),
        ("カタカナ", "カタ\nカナ", 2),
        ("配偶者", "# 配偶\n者も", None),
        ("配偶者", "配偶\n\n者", None),
        ("配偶者", "* 配偶\n* 者", None),
    ],
)
def test_words_may_be_divided_by_the_end_of_a_line(text: str, lines: str, last: int | None) -> None:
    understood, exact = reading(text), reading(text, exact=True)
    assert understood is not None
    assert exact is not None
    found = [*understood.matching_lines(lines, reading_form(lines))]
    assert [end for first, end in found if first == 1] == ([] if last is None else [last])
    assert [*exact.matching_lines(lines, reading_form(lines))] in ([], [(1, 1)], [(2, 2)])
