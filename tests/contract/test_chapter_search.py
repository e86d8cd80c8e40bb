"""How chapters are searched: modes, snippets, exceptions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from chapter_manuals import (
    NAME,
    entry,
    four_chapters,
    made,
    opened,
    scoring,
    searched,
)
from hypothesis import given
from hypothesis import strategies as st
from stdio import Fumishirube

from fumishirube.text import TextRange
from fumishirube_chapters.search_text import snippet


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fumishirube]:
    with Fumishirube(four_chapters(tmp_path_factory.mktemp("chapters"))) as server:
        yield server


@pytest.mark.parametrize(
    "query", ["帝王切開", "帝 王-切開", " 帝王切開 ", "帝・王／切ー開".replace("ー", "−")]
)
def test_separators_in_a_loose_query_change_nothing(server: Fumishirube, query: str) -> None:
    assert searched(server, query, mode="loose") == ["03"]


def test_a_foreign_character_prevents_a_loose_match(server: Fumishirube) -> None:
    assert searched(server, "帝王の切開", mode="loose") == []
    assert searched(server, "帝王切開", mode="plain") == []


@pytest.mark.parametrize(
    ("query", "mode", "found"),
    [
        ("(1)", "plain", ["03"]),
        ("（１）", "plain", ["03"]),
        ("①", "plain", ["01", "02-1", "03"]),
        ("（１）", "regex", ["03"]),
        ("[①-③]章", "regex", ["01", "02-1", "03"]),
        (r"\１章", "regex", ["01"]),
        ("^第[１３]章", "regex", ["01", "03"]),
        ("定める。$", "regex", ["01"]),
        (r"定める。\s*$", "regex", ["01"]),
        ("(?m)定める。$", "regex", ["01"]),
        (r"(?<=王 )切", "regex", ["03"]),
        (r"(\n)\1", "regex", ["01"]),
        ("(", "regex", ["03"]),
        ("*", "regex", []),
        ("x*", "regex", ["01", "02-1", "03"]),
    ],
)
def test_modes(server: Fumishirube, query: str, mode: str, found: list[str]) -> None:
    assert searched(server, query, mode=mode) == found


def test_case_is_ignored_unless_it_matters(tmp_path: Path) -> None:
    ask = opened(made(tmp_path, [entry("a", "A")], a="Straße ＴＥＬ"))
    for mode, query in (
        ("plain", "tel"),
        ("plain", "STRASSE"),
        ("regex", "t.l"),
        ("loose", "t e l"),
    ):
        arguments = {"manual_name": NAME, "query": query, "mode": mode}
        assert len(ask("search_text", **arguments)["results"]) == 1, (mode, query)
        assert ask("search_text", **arguments, case_sensitive=True) == {"results": []}


SNIPPETS = [
    (0, 2, 0, "{m}"),
    (79, 2, 79, "{b}{m}{a}"),
    (80, 2, 80, "{b}{m}{a}"),
    (81, 2, 81, "…{b80}{m}{a80}…"),
    (0, 2, 300, "{m}{a80}…"),
    (300, 2, 0, "…{b80}{m}"),
    (100, 500, 100, "…{b80}{m280}…"),
]


@pytest.mark.parametrize(("before", "length", "after", "form"), SNIPPETS)
def test_snippets_are_cut_around_the_match(before: int, length: int, after: int, form: str) -> None:
    b, m, a = "前" * before, "標" * length, "後" * after
    match = TextRange(before, before + length)
    parts = {"b": b, "m": m, "a": a, "b80": b[:80], "a80": a[:80], "m280": m[:280]}
    assert snippet(b + m + a, match) == form.format(**parts)


def test_a_snippet_is_trimmed_after_it_was_cut() -> None:
    text = " " * 90 + "標的" + " " * 90
    assert snippet(text, TextRange(90, 92)) == "…標的…"


@given(st.text("あ 標\n", max_size=700), st.integers(0, 700), st.integers(0, 700))
def test_a_snippet_is_a_short_substring(text: str, one: int, other: int) -> None:
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    shown = snippet(text, TextRange(start, end))
    assert shown.removeprefix("…").removesuffix("…") in text
    assert len(shown) <= 362


# --- exceptions -----------------------------------------------------------------------------

LINES = "一\n二\n三は対象外、例外\n四\n五は禁止\n六\n七\n"


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("", ["一\n二\n三は対象外、例外\n四\n五は禁止", "三は対象外、例外\n四\n五は禁止\n六\n七"]),
        ("context_lines: 0", ["三は対象外、例外", "五は禁止"]),
        ("merge: true", [LINES.strip()]),
        ("vocabulary: [四], context_lines: 0", ["四"]),
        ("extra_words: [七], context_lines: 0", ["三は対象外、例外", "五は禁止", "七"]),
        ("max_chars: 4", ["…三は対象外、例…", "…五は禁止\n六…"]),
    ],
)
def test_exceptions_follow_their_settings(
    tmp_path: Path, settings: str, expected: list[str]
) -> None:
    yaml = scoring("plain", "regex", "loose", f"exceptions, with: {{{settings}}}")
    ask = opened(made(tmp_path, [entry("a", "A")], yaml, a=LINES))
    results = ask("find_exceptions", manual_name=NAME)["results"]
    assert [one["text"] for one in results] == expected


def test_loose_exceptions_do_not_reach_over_a_line_end(tmp_path: Path) -> None:
    told = "exceptions, with: {loose: true, context_lines: 0}"
    yaml = scoring("plain", "regex", "loose", told)
    ask = opened(made(tmp_path, [entry("a", "A")], yaml, a="対 象-外\n禁\n止\n"))
    assert ask("find_exceptions", manual_name=NAME)["results"] == [
        {"section_id": "a", "text": "対 象-外"}
    ]


def test_the_number_of_cut_off_lines_is_told(tmp_path: Path) -> None:
    ask = opened(made(tmp_path, [entry("a", "A")], a="禁止\n" * 60))
    answer = ask("find_exceptions", manual_name=NAME)
    assert (len(answer["results"]), answer["total"]) == (50, 60)
