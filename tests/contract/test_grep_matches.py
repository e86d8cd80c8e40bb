"""Each different match of a pattern, as it stands in its line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from manuals import write
from stdio import Fumishirube

from fumishirube_manual.evidence.markup import unescaped


def grepped(folder: Path, files: dict[str, str], **arguments: Any) -> dict[str, Any]:
    """Return the answer of `manual_grep` about some files."""
    with Fumishirube(write(folder, files)) as server:
        server.ok("manual_ls")
        answer: dict[str, Any] = server.ok("manual_grep", manual_id="guide", **arguments)
        return answer


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("(?<![0-9])[0-9]{2}", {"12": 1}),
        ("^[0-9]", {"1": 1}),
        (r"\bE[0-9]", {"E1": 1}),
        ("[0-9]{2}", {"12": 1, "34": 1}),
        ("x*", {}),
    ],
)
def test_a_match_is_one_in_the_whole_line(
    tmp_path: Path, pattern: str, matches: dict[str, int]
) -> None:
    answer = grepped(
        tmp_path, {"guide/a.md": "# A\n\n1234 is E1E2\n"}, regex=pattern, matches_only=True
    )
    texts = [text for file in answer["matches"] for text in file["texts"]]
    assert {text: number for _, number, text, *_ in texts} == matches


def test_all_matches_of_a_line_are_counted(tmp_path: Path) -> None:
    line = " ".join(f"X{n:03}" for n in range(500))
    answer = grepped(
        tmp_path, {"guide/a.md": f"# A\n\n{line}\n"}, regex="X[0-9]{3}", matches_only=True
    )
    assert (answer["different_matches"], answer["complete"]) == (500, True)


@pytest.fixture(params=["timeout", "タイムアウト 😀"])
def term(request: pytest.FixtureRequest) -> str:
    value: str = request.param
    return value


def test_escaped_letters_of_json_are_matched_as_they_read(tmp_path: Path, term: str) -> None:
    text = json.dumps({"a": "é \\u00e9 \n", "limit": f"{term} 5 秒"}, indent=1)
    answer = grepped(tmp_path, {"guide/a.json": text}, any=[term, "5秒"])
    assert (answer["total"], answer["complete"]) == (1, True)
    lines = {number: line for number, line, *_ in answer["groups"][0]["lines"]}
    assert lines[3].strip() == f'"limit": "{term} 5 秒"'


def test_escapes_are_searched_to_the_letter(tmp_path: Path) -> None:
    files = {"guide/a.json": '{"a": "\\u30bf"}\n'}
    assert grepped(tmp_path / "1", files, any=["\\u30bf"], exact=True)["total"] == 1
    assert grepped(tmp_path / "2", files, any=["タ"], exact=True)["total"] == 0


def test_a_hit_in_json_reads_as_letters(tmp_path: Path) -> None:
    text = json.dumps({"item": "ポンプの点検", "days": 30}, indent=1)
    with Fumishirube(write(tmp_path, {"guide/a.json": text})) as server:
        server.ok("manual_ls")
        found = server.ok("manual_find", query="点検", manual_id="guide", required_terms=["点検"])
        (hit,) = found["inline_hits"]["items"]
        assert [2, ' "item": "ポンプの点検",'] in hit["lines"]


@given(st.dictionaries(st.text(), st.text()), st.booleans())
def test_json_without_escaped_letters_means_the_same(value: dict[str, str], escaped: bool) -> None:
    text = json.dumps(value, indent=1, ensure_ascii=escaped)
    shown = unescaped("a.JSON", text)
    assert json.loads(shown) == value
    assert shown.count("\n") == text.count("\n")
    assert unescaped("a.md", text) == text


NUMBERS = """# N

fee 30,000 yen
fee 30 yen
fee 1,000,000
fee 1,000
ver 2.1.3
ver 2.1.3.4
ver 2.1
2.15
codes 401,403,404.
fee 100,000 to 2,147,483,648
fee 1,234,567,890,123 yen
fee 312,571,697,000,000 yen
"""
ROWS = "code,price,stock\n12,100,7\n17,404,200\n2026-11-30,250\n40,125\n"
WORDS = "# Access\n\nThe API of a group.\nA menu, an alias, a camera.\nTwo APIs, groups, menus.\n"
FILES = {"guide/a.md": NUMBERS, "rows/b.csv": ROWS, "words/c.md": WORDS}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fumishirube]:
    with Fumishirube(write(tmp_path_factory.mktemp("matches"), FILES)) as server:
        server.ok("manual_ls")
        yield server


def lines_of(server: Fumishirube, manual_id: str, text: str, **more: Any) -> list[int]:
    answer = server.ok("manual_grep", manual_id=manual_id, any=[text], context=0, **more)
    return [row[0] for group in answer.get("groups", ()) for row in group["lines"]]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("30", [4]),
        ("30,000", [3]),
        ("1,000", [6]),
        ("000", []),
        ("2.1", [7, 8, 9]),
        ("2", [7, 8]),
        ("1,000,000", [5]),
        ("100", []),
        ("147", []),
        ("648", []),
        ("2,147", []),
        ("123", []),
        ("312", []),
        ("571", []),
    ],
)
def test_numbers_are_whole(server: Fumishirube, text: str, lines: list[int]) -> None:
    assert lines_of(server, "guide", text) == lines


@pytest.mark.parametrize("text", ["401", "403", "404", "401,403"])
def test_numbers_of_a_list_are_found(server: Fumishirube, text: str) -> None:
    assert lines_of(server, "guide", text) == [11]


@pytest.mark.parametrize(
    ("text", "line"),
    [("12", 2), ("100", 2), ("17", 3), ("404", 3), ("200", 3), ("250", 4), ("40", 5), ("125", 5)],
)
def test_numbers_in_cells_of_a_row_are_found(server: Fumishirube, text: str, line: int) -> None:
    assert lines_of(server, "rows", text) == [line]


@pytest.mark.parametrize(
    ("text", "lines"),
    [("APIs", [3, 5]), ("API", [3, 5]), ("groups", [3, 5]), ("menus", [4, 5]), ("aliases", [4])],
)
def test_words_are_found_in_both_numbers(server: Fumishirube, text: str, lines: list[int]) -> None:
    assert lines_of(server, "words", text) == lines
    assert lines_of(server, "words", text, word=True) == lines
    found = server.ok("manual_find", query=text, manual_id="words", required_terms=[text])
    assert found["terms"] == [[text, "ranked", 1]]


NAMES = """# N

E-104 and e 104
page 104 of the bay
the tag of a digit hub
removeETag, e-tag
5 m away, top half
a USB connector
wifi phone, offset -5, USB c
`ISO`-8601 and **CVE**-2024
port --8080, index **-7**
このα helix
"""


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fumishirube]:
    files = {
        "guide/a.md": NAMES,
        "guide/b.csv": "番号,担当\n1,山田\n中央区,佐藤\n3,red\nblue,4\n",
        "guide/c.md": "# C\n\n```python\nif abort\nsignal(1)\n```\n\nan abort\nsignal\n",
    }
    with Fumishirube(write(tmp_path_factory.mktemp("n"), files)) as server:
        server.ok("manual_ls")
        yield server


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("E-104", [3]),
        ("ETag", [6]),
        ("e tag", [5, 6]),
        ("GitHub", []),
        ("eBay", []),
        ("mA", []),
        ("pH", [9]),
        ("USB-C", [9]),
        ("iPhone", []),
        ("offset 5", []),
        ("offset -5", [9]),
        ("index 7", []),
        ("ISO 8601", [10]),
        ("CVE 2024", [10]),
        ("port 8080", [11]),
        ("α-helix", [12]),
    ],
)
def test_a_part_of_a_name_is_no_part_of_a_longer_word(
    names: Fumishirube, text: str, lines: list[int]
) -> None:
    answer = names.ok("manual_grep", manual_id="guide", any=[text], context=0, path_prefix="a.md")
    assert [row[0] for group in answer["groups"] for row in group["lines"]] == lines


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"any": ["田中"]}, []),
        ({"any": ["red blue"]}, []),
        ({"regex": r"red\s+blue"}, []),
        ({"any": ["abort signal"]}, [8]),
        ({"regex": "abort signal"}, [8]),
    ],
)
def test_rows_and_lines_of_code_are_not_joined(
    names: Fumishirube, wanted: dict[str, Any], found: list[int]
) -> None:
    answer = names.ok("manual_grep", manual_id="guide", context=0, **wanted)
    assert [row[0] for group in answer["groups"] for row in group["lines"]] == found


def test_short_parts_of_a_name_are_not_joined(tmp_path: Path) -> None:
    files = {"guide/a.md": "# A\n\nabout\na_b\nset-up\nsetup\na b\n"}
    answer = grepped(tmp_path, files, any=["a_b", "set_up"], context=0)
    assert [row[0] for group in answer["groups"] for row in group["lines"]] == [4, 5, 6, 7]


@pytest.mark.many_cases
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("text", ["ハ゛ルブ", "ル゛", "ゥ゛", "は゜"])
def test_marks_of_sound_by_themselves_are_found(tmp_path: Path, text: str, exact: bool) -> None:
    files = {"guide/a.md": f"# K\n\n{text}の点検\n", "guide/b.md": "# L\n\n点検\n"}
    answer = grepped(tmp_path, files, any=[text], exact=exact)
    assert (answer["total"], answer["complete"]) == (1, True)


def test_a_blank_line_of_a_quotation_does_not_go_on_in_the_next(tmp_path: Path) -> None:
    files = {"guide/a.md": "# A\n\n> one\n>\n> > two\n> three\n"}
    answer = grepped(tmp_path, files, regex="^> .*")
    assert [row for group in answer["groups"] for row in group["lines"]] == [
        [3, "> one"],
        [5, "> > two"],
        [6, "> three"],
    ]


def test_a_match_in_a_heading_is_not_shown_again_as_the_heading(tmp_path: Path) -> None:
    text = "# IO\n\n### def read_nonblock(n)\n\nReads.\n\n### def write_nonblock\n\nWrites.\n"
    answer = grepped(tmp_path, {"guide/io.md": text}, regex=r"\w+_nonblock", matches_only=True)
    assert answer["matches"][0]["texts"] == [
        [3, 1, "read_nonblock", "IO: def read_nonblock(n)"],
        [7, 1, "write_nonblock", "IO: def write_nonblock"],
    ]
    whole = grepped(tmp_path, {"guide/io.md": text}, regex="def .+", matches_only=True)
    assert [row[3] for row in whole["matches"][0]["texts"]] == ["IO", "IO"]


def test_a_frequent_match_is_shown_between_other_characters_too(tmp_path: Path) -> None:
    files = {
        "guide/a.md": "# Old\n\n* `APP_ENV` is deprecated.\n* `APP_ENV` again.\n",
        "guide/b.md": '# New\n\nRead ENV["APP_ENV"] first.\n\n APP_ENV=test run\n\nAPP_ENV: x\n',
    }
    answer = grepped(tmp_path, files, regex="APP_[A-Z]+", matches_only=True)
    ((line, number, text, within),) = answer["matches"][0]["texts"]
    assert (line, number, text) == (3, 5, "APP_ENV")
    assert within.split(" | ") == [
        "Old: * `APP_ENV` is deprecated.",
        'b.md#L3: Read ENV["APP_ENV"] first.',
        "b.md#L5: APP_ENV=test run",
    ]
