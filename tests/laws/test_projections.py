"""Projections say what is searched, and lead every match back to whole original characters."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fumishirube.text import LOOSE, NORMAL, TextForm, TextRange, TextRanges, form_of, project
from fumishirube.text.projections import SEPARATORS

MIXED = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from(
            "がか゛゙゚ﾊﾟｶﾞ㍻㈱①½ﬁẞßİＡａA　 ・/-ー\n\u200b\u0301\u0327각ᄀ\u1161\u11a8\u0cc6\u0cc2\u0cd5"
        ),
    ),
    max_size=40,
)

SIZES = st.integers(0, 2**32 - 1)


@given(MIXED)
def test_the_normal_form_is_exactly_nfkc(text: str) -> None:
    assert project(text, NORMAL).text == unicodedata.normalize("NFKC", text)


@given(MIXED, st.sampled_from(["", "〜、"]))
def test_the_loose_form_lacks_separators_and_nothing_else(text: str, extra: str) -> None:
    naive = re.sub(f"[\\s{SEPARATORS}{extra}]", "", unicodedata.normalize("NFKC", text))
    assert project(text, TextForm(fold=False, separators=extra)).text == naive


@given(MIXED, st.booleans())
def test_a_query_and_a_text_have_one_form(text: str, loose: bool) -> None:
    form = TextForm(separators="" if loose else None)
    assert project(text, form).text == form_of(text, form)


@given(MIXED, st.sampled_from([NORMAL, LOOSE, TextForm(), TextForm(separators="")]))
def test_the_way_back_is_monotone_and_whole(text: str, form: TextForm) -> None:
    projection = project(text, form)
    before = 0
    for place in range(len(projection.text)):
        start, end = projection.span(place, place + 1)
        assert 0 <= start < end <= len(text)
        assert start >= before
        before = start
        assert projection.span(place, place) == (start, start)


@given(MIXED, st.sampled_from([NORMAL, TextForm()]))
def test_what_a_match_covers_projects_to_what_holds_the_match(text: str, form: TextForm) -> None:
    projection = project(text, form)
    for place in range(len(projection.text)):
        start, end = projection.span(place, min(place + 2, len(projection.text)))
        assert projection.text[place : place + 2] in project(text[start:end], form).text


@pytest.mark.parametrize(
    ("text", "wanted", "covered"),
    [
        ("㍻30年", "平", "㍻"),
        ("㍻30年", "成3", "㍻3"),
        ("さか\u3099す", "が", "か\u3099"),
        ("ﾊﾟｰﾄ", "パー", "ﾊﾟｰ"),
        ("（㈱）", "株", "㈱"),
        ("Straße", "ss", "ß"),
        ("Ｔｅｌ", "tel", "Ｔｅｌ"),
    ],
)
def test_a_match_covers_whole_characters(text: str, wanted: str, covered: str) -> None:
    projection = project(text, TextForm())
    place = projection.text.index(wanted)
    start, end = projection.span(place, place + len(wanted))
    assert text[start:end] == covered


def test_separators_between_letters_belong_to_the_match_and_those_around_do_not() -> None:
    text = "異常 帝　王・切-開 とする"
    projection = project(text, LOOSE)
    place = projection.text.index("帝王切開")
    start, end = projection.span(place, place + 4)
    assert text[start:end] == "帝　王・切-開"


@pytest.mark.parametrize("kept", "ー〜_.、")
def test_some_marks_are_no_separators(kept: str) -> None:
    assert project(kept, LOOSE).text == unicodedata.normalize("NFKC", kept)


def test_a_stretch_is_shown_with_marks_where_it_was_cut() -> None:
    assert TextRange(1, 6, cut_after=True).shown("a bcd e") == "bcd…"
    assert TextRange(0, 0).shown("") == ""


def test_long_texts_project_like_short_ones() -> None:
    part = "第1章（ｶﾞ）ABC か\u3099・"
    assert project(part * 20_000, LOOSE).text == project(part, LOOSE).text * 20_000


@given(st.integers(0, 9), st.integers(1008, 1038), MIXED)
def test_where_a_long_text_is_divided_does_not_show(before: int, plain: int, text: str) -> None:
    whole = "a" * before + "字" * plain + text * 3
    assert project(whole, NORMAL).text == unicodedata.normalize("NFKC", whole)


@pytest.mark.slow
def test_a_row_of_marks_without_end_takes_no_time_without_end() -> None:
    """Putting such a row in order takes time that grows with its square: hours for this one."""
    labels = "\u0301\u0323" * 500_000
    projection = project(f"標的a{labels}標的", NORMAL)
    place = projection.text.rindex("標的")
    assert projection.span(place, place + 2) == (3 + len(labels), 5 + len(labels))


@given(st.lists(st.builds(TextRange, SIZES, SIZES, st.booleans(), st.booleans())))
def test_many_stretches_are_a_sequence_of_stretches(given: list[TextRange]) -> None:
    stretches = TextRanges(given)
    assert list(stretches) == given
    assert list(stretches[1:-1]) == given[1:-1]
    assert (stretches == TextRanges(given[:3])) is (len(given) <= 3)
    with pytest.raises(IndexError):
        stretches[len(given)]
