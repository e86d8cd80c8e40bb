"""Patterns of ``manual_grep``: what they match in a line, when case counts, and slow ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from grep_files import places
from manuals import write
from stdio import Fumishirube

pytest_plugins = ["grep_servers"]


@pytest.fixture(scope="module")
def server(grep_server: Fumishirube) -> Fumishirube:
    return grep_server


def test_patterns_are_matched_line_by_line(server: Fumishirube) -> None:
    answer = server.ok("manual_grep", regex=r"^the\s.*[0-9] 秒\.$", manual_id="m")
    assert places(answer) == [("copy.md", 2), ("times.md", 4), ("times.md", 9)]
    cased = server.ok("manual_grep", regex=r"^the\s", manual_id="m", exact=True)
    assert cased["total"] == 0
    backwards = server.ok("manual_grep", regex=r"(?<=FnO)nce", manual_id="m")
    assert places(backwards) == [("sub/code.md", 5)]
    word = server.ok("manual_grep", regex="once|retr", manual_id="m", word=True)
    assert places(word) == [("sub/code.md", 6)]
    for flags in ("(?i)", "(?i)(?x)", "(?xi)"):
        ignoring = server.ok("manual_grep", regex=f"{flags}ONCE|RETR", manual_id="m", word=True)
        assert places(ignoring) == places(word)


@pytest.mark.many_cases
@pytest.mark.parametrize(
    ("pattern", "numbers"),
    [
        ("FNO", []),
        ("FnO", [5]),
        ("(?i)FNO", [5]),
        (r"\Wx|FNO\W?|ONCE", [5, 6]),
        (r"\WX|FNO\W?|ONCE", []),
        ("[A-Z]nc", [5]),
        ("[A-Z]all", []),
        ("[A-Za-z]all", [6]),
        ("[^A-Z]all", [6]),
        ("(?i)[A-Z]all", [6]),
        ("fn[a-z]", []),
        ("F[a-z]", [5]),
        ("fn[A-Za-z]", [5]),
        ("(?i)fn[a-z]", [5]),
        ("(?P<first>F)NO(?P=first)?", []),
        ("(?<!X)FNO|(?>Q)", []),
        ("(?P<first>f)no(?P=first)?", [5]),
        ("(Q)?(?(1)R|F)NO", []),
    ],
)
def test_capitals_and_a_class_of_letters_of_one_case_make_case_count(
    server: Fumishirube, pattern: str, numbers: list[int]
) -> None:
    found = server.ok("manual_grep", regex=pattern, manual_id="m", path_prefix="sub")
    assert [number for _, number in places(found)] == numbers


SPELLINGS = (
    "# 利用\n\nAPIを使うとVPNに接続。\n\n消費税のレート、プレート。\n\nAPIs: --flag, f(x)\n\n"
    "con\u00adfig\n\n葛\U000e0100城\n\nещё\n\nمُدَرِّس\n\nمدرس\n\n𠮷野家\n"
)


@pytest.fixture(scope="module")
def spellings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fumishirube]:
    with Fumishirube(write(tmp_path_factory.mktemp("s"), {"m/a.md": SPELLINGS})) as connected:
        connected.ok("manual_ls")
        yield connected


def test_whole_words_may_touch_another_script(spellings: Fumishirube) -> None:
    asked = {"regex": "API|VPN|レート|--flag|使|ラグ|PN|税|野", "word": True, "matches_only": True}
    (file,) = spellings.ok("manual_grep", manual_id="m", context=0, **asked)["matches"]
    assert {text[2] for text in file["texts"]} == {"API", "VPN", "レート", "--flag", "使"}


@pytest.mark.parametrize(
    ("pattern", "numbers"),
    [
        ("config", [9]),
        (r"^con.ig$|葛城", [9, 11]),
        ("еще", [13]),
        ("ещё", [13]),
        ("مدرس", [15, 17]),
        ("مُدَرِّس", [15]),
        ("\u00ad|[\u064b-\u0652]", [9, 15]),
    ],
)
def test_what_a_pattern_does_not_name_is_not_seen(
    spellings: Fumishirube, pattern: str, numbers: list[int]
) -> None:
    asked = {"manual_id": "m", "regex": pattern, "context": 0}
    found = spellings.ok("manual_grep", **asked)
    assert [number for _, number in places(found)] == numbers
    exact = spellings.ok("manual_grep", **asked, exact=True)
    assert exact["total"] == sum(bool(re.search(pattern, line)) for line in SPELLINGS.split("\n"))


INDENTED = "# Run\n\n- one\n  - two\n\n      three ^ four\n\n\t- five\n"


@pytest.mark.many_cases
@pytest.mark.parametrize(
    ("pattern", "numbers"),
    [
        ("^- ", [3, 4, 8]),
        (r"^\s*- ", [3, 4, 8]),
        (r"^\s+- ", [4, 8]),
        ("^  - ", [4]),
        ("^(?:one|three|- five)$", [8]),
        (r"^(?:- one$|three|\^)", [3, 6]),
        (r"\^ four|[^\W]ive", [6, 8]),
        (r"[]^]", [6]),
        (r"(?<=^- )o", [3]),
        (r"^$", []),
    ],
)
def test_an_indented_line_begins_where_its_text_does(
    tmp_path: Path, pattern: str, numbers: list[int]
) -> None:
    with Fumishirube(write(tmp_path, {"m/run.md": INDENTED})) as server:
        server.ok("manual_ls")
        asked = {"manual_id": "m", "regex": pattern}
        assert [number for _, number in places(server.ok("manual_grep", **asked))] == numbers
        exact = places(server.ok("manual_grep", **asked, exact=True))
        assert exact == [row for row in exact if row[1] in numbers]
        if pattern == "^- ":
            assert exact == [("run.md", 3)]
            (file,) = server.ok("manual_grep", **asked, matches_only=True, context=0)["matches"]
            assert file["texts"] == [[3, 3, "-"]]


@pytest.mark.parametrize("exact", [True, False])
def test_a_blank_of_a_pattern_is_also_the_end_of_a_line(tmp_path: Path, exact: bool) -> None:
    text = "# Run\n\nThen run cargo\nfix to apply.\n\n* cargo\n\nfix\n"
    with Fumishirube(write(tmp_path, {"m/run.md": text})) as server:
        found = server.ok("manual_grep", manual_id="*", regex="cargo fix|[^\\n]ply", exact=exact)
        assert [number for _, number in places(found)] == [3, 4]


def test_a_match_within_a_line_is_not_joined_to_the_next(tmp_path: Path) -> None:
    code = "tool install one\nthen run it\nThe tool\ninstall two\n"
    write(tmp_path, {"m/a.md": f"# A\n\n{code}"})
    with Fumishirube(tmp_path) as server:
        server.ok("manual_ls")
        asked = {"manual_id": "m", "regex": "tool install[^`]*"}
        (group,) = server.ok("manual_grep", **asked)["groups"]
        assert group["lines"] == [[3, "tool install one"], [5, "The tool / install two"]]
        (file,) = server.ok("manual_grep", **asked, matches_only=True, context=0)["matches"]
        assert file["texts"] == [[3, 1, "tool install one"], [5, 1, "tool install two"]]


def test_a_pattern_that_also_matches_nothing_tallies_what_it_matches(tmp_path: Path) -> None:
    write(tmp_path, {"m/a.md": "# 会社\n\n(株)サムライ 株 \n"})
    with Fumishirube(tmp_path) as server:
        asked = {"manual_id": "*", "regex": "(株)?", "matches_only": True}
        answer = server.ok("manual_grep", **asked)
        assert [text[2] for text in answer["matches"][0]["texts"]] == ["株"]
        assert answer["total"] == 2


@pytest.mark.slow
def test_a_line_of_a_megabyte_and_patterns_that_explode(tmp_path: Path) -> None:
    long = "a" * 500_000 + " 5 秒 " + "a b " * 125_000
    workspace = write(tmp_path, {"m/long.md": f"# L\n{long}\n{'a' * 60}!\n"})
    with Fumishirube(workspace) as server:
        answer = server.ok("manual_grep", any=["5秒", "b"], manual_id="*")
        ((number, line),) = answer["groups"][0]["lines"]
        assert number == 2
        assert "5 秒" in line
        assert "more in this line)" in line
        assert len(line) < 500
        slow = server.ok("manual_grep", regex=r"^(a+)+(?<!b)$", manual_id="*")
        assert slow["not_searched"] == [
            {"manual_id": "m", "path": "long.md", "reason": "pattern_too_slow"}
        ]
