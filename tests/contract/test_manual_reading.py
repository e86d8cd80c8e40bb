"""Where ``manual_read`` and ``manual_scan`` begin, how much they return, and where they go on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from manual_tools import CONTRACT, found
from manuals import RULES, write
from stdio import Fumishirube

pytest_plugins = ["manual_servers"]


@pytest.fixture(scope="module")
def server(contract_server: Fumishirube) -> Fumishirube:
    return contract_server


@pytest.fixture
def newcomer(contract_workspace: Path) -> Iterator[Fumishirube]:
    """A connection of its own, that has read nothing yet."""
    with Fumishirube(contract_workspace, FUMISHIRUBE_SURFACE_EXTRAS=CONTRACT) as connected:
        connected.ok("manual_ls")
        yield connected


# --- manual_read ----------------------------------------------------------------------------


def read(server: Fumishirube, line: int | None = None, **more: Any) -> dict[str, Any]:
    ref = {"manual_id": "m1", "path": "rules.md", "start_line": line}
    return server.ok("manual_read", ref=ref, **more)


def test_a_section_is_read_in_this_shape(newcomer: Fumishirube) -> None:
    assert read(newcomer, 5) == {
        "text": "### 参照\n別表を参照。\n",
        "truncated": False,
        "applied": {"scope": "section", "max_sections": None, "max_chars": 12_000, "mode": "read"},
        "applied_range": {"start_line": 5, "end_line": 6},
        "next_cursor": {"char_offset": None},
        "eof": True,
    }


def test_json_is_refused_in_these_words(server: Fumishirube) -> None:
    error = server.refused("manual_read", ref={"manual_id": "odd", "path": "policy.json"})
    assert error == {
        "code": "invalid_scope",
        "message": "manual_read serves markdown sections; use manual_scan for JSON",
        "details": {"path": "policy.json"},
    }


def test_a_section_comes_with_its_children_and_the_first_is_the_default(
    newcomer: Fumishirube,
) -> None:
    assert read(newcomer)["text"] == RULES
    assert read(newcomer, 3, scope="section")["text"] == RULES[RULES.index("## 例外") :]
    assert read(newcomer, 1, scope=None, max_chars=None)["text"] == RULES


def test_a_hits_ref_can_be_read_as_it_is(newcomer: Fumishirube) -> None:
    (hit, *_) = found(newcomer)["inline_hits"]["items"]
    answer = newcomer.ok("manual_read", ref=hit["ref"] | {"title": "例外", "target": "manual"})
    assert answer["text"].startswith("## 例外\n")
    assert answer["applied"]["mode"] == "read"


@pytest.mark.parametrize("most", [256, 50_000])
def test_the_ends_of_the_range_of_max_chars_are_within(newcomer: Fumishirube, most: int) -> None:
    assert read(newcomer, 1, max_chars=most)["applied"]["max_chars"] == most
    scanned = newcomer.ok("manual_scan", manual_id="m1", path="rules.md", max_chars=most)
    assert scanned["applied"] == {"max_chars": most}


def test_the_same_section_of_another_text_is_read_from_its_beginning(
    newcomer: Fumishirube,
) -> None:
    ref = {"manual_id": "m2", "path": "changing.md", "start_line": 1}
    for title in ("# 一", "# 二"):
        text = f"{title}\n{'本文です。' * 200}\n"
        write(newcomer.workspace, {"m2/changing.md": text})
        assert newcomer.ok("manual_read", ref=ref, max_chars=300)["text"] == text[:300]


def test_the_same_section_again_goes_on_after_it(newcomer: Fumishirube) -> None:
    body = "".join(f"第{number}行の本文です。\n" for number in range(60))
    text = f"# 一\n{body}## 二\n{body}# 三\n{body}"
    write(newcomer.workspace, {"m2/long.md": text})
    second = text.index("## 二")
    third = text.index("# 三")
    ref = {"manual_id": "m2", "path": "long.md", "start_line": 62}

    first = newcomer.ok("manual_read", ref=ref, max_chars=300)
    assert first["text"] == text[second : second + 300]
    assert (first["truncated"], first["applied"]["mode"], first["eof"]) == (True, "read", False)
    assert first["next_cursor"] == {"char_offset": second + 300}

    again = newcomer.ok("manual_read", ref=ref, max_chars=400)
    assert again["text"] == text[second + 300 : second + 700]
    assert (again["applied"]["mode"], again["applied"]["scope"]) == ("scan_fallback", "section")
    rest = newcomer.ok("manual_read", ref=ref)
    assert rest["text"] == text[second + 700 :]
    assert (rest["eof"], rest["next_cursor"]) == (True, {"char_offset": None})
    assert rest["applied_range"]["end_line"] == text.count("\n")

    afresh = newcomer.ok("manual_read", ref=ref)
    assert (afresh["text"], afresh["applied"]["mode"]) == (text[second:third], "read")
    assert afresh["truncated"] is False
    assert afresh["next_cursor"] == {"char_offset": third}

    other = newcomer.ok("manual_read", ref=ref | {"start_line": 1}, max_chars=256)
    assert other["applied"]["mode"] == "read"
    back = newcomer.ok("manual_read", ref=ref, max_chars=256)
    assert (back["text"], back["applied"]["mode"]) == (text[second : second + 256], "read")


def test_a_cut_section_is_continued_by_a_scan(newcomer: Fumishirube) -> None:
    text = "# 一\n" + "本文です。\n" * 100 + "# 二\n終わり。\n"
    write(newcomer.workspace, {"m2/cut.md": text})
    cut = newcomer.ok("manual_read", ref={"manual_id": "m2", "path": "cut.md"}, max_chars=256)
    assert cut["truncated"] is True
    rest = newcomer.ok(
        "manual_scan", manual_id="m2", path="cut.md", cursor=cut["next_cursor"], max_chars=50_000
    )
    assert cut["text"] + rest["text"] == text


# --- manual_scan ----------------------------------------------------------------------------

TAIL = "### 参照\n別表を参照。\n"


@pytest.mark.parametrize(
    "where",
    [
        {"cursor": 29},
        {"cursor": "29"},
        {"cursor": "0" * 30 + "29"},
        {"cursor": {"char_offset": 29}},
        {"cursor": {"char_offset": 29, "start_line": None}},
        {"cursor": {"char_offset": 29, "start_line": 1}},
        {"cursor": {"char_offset": None, "start_line": 5}},
        {"cursor": {"start_line": 5}},
        {"start_line": 5},
        {"start_line": 5, "cursor": {"char_offset": 0, "start_line": 1}},
        {"start_line": 5, "cursor": 0},
    ],
    ids=repr,
)
def test_a_scan_starts_where_a_line_or_a_cursor_says(
    server: Fumishirube, where: dict[str, Any]
) -> None:
    assert server.ok("manual_scan", manual_id=" m1 ", path=" ./rules.md ", **where) == {
        "manual_id": "m1",
        "path": "rules.md",
        "text": TAIL,
        "applied_range": {"start_line": 5, "end_line": 6},
        "next_cursor": {"char_offset": None},
        "eof": True,
        "truncated": False,
        "truncated_reason": "none",
        "applied": {"max_chars": 12_000},
    }


def test_a_cursor_takes_strings_so_that_none_is_taken_for_json(server: Fumishirube) -> None:
    where = {"manual_id": "m1", "path": "rules.md", "cursor": '{"start_line": 5}'}
    assert server.refused("manual_scan", **where)["code"] == "invalid_parameter"


@pytest.mark.parametrize("cursor", [None, {}, 0, "0", {"char_offset": 0}, {"start_line": 1}])
def test_a_scan_starts_at_the_beginning_otherwise(server: Fumishirube, cursor: Any) -> None:
    answer = server.ok("manual_scan", manual_id="m1", path="rules.md", cursor=cursor)
    assert answer["text"] == RULES
    assert answer["applied_range"] == {"start_line": 1, "end_line": 6}


def test_a_line_beyond_the_last_is_refused_in_these_words(server: Fumishirube) -> None:
    assert server.refused("manual_scan", manual_id="m1", path="rules.md", start_line=7) == {
        "code": "invalid_parameter",
        "message": "start_line must be within 1..6",
        "details": {"parameter": "start_line", "min": 1, "max": 6},
    }


def test_the_offset_after_the_last_character_gives_an_empty_page(server: Fumishirube) -> None:
    answer = server.ok("manual_scan", manual_id="m1", path="rules.md", cursor=len(RULES))
    assert (answer["text"], answer["eof"], answer["next_cursor"]) == (
        "",
        True,
        {"char_offset": None},
    )


def test_an_empty_file_has_one_line(server: Fumishirube) -> None:
    answer = server.ok("manual_scan", manual_id="odd", path="plain.md", start_line=1)
    assert (answer["text"], answer["eof"]) == ("", True)
    assert answer["applied_range"] == {"start_line": 1, "end_line": 1}


def test_a_page_holds_exactly_max_chars(server: Fumishirube) -> None:
    text = "# 長い\n" + "0123456789\n" * 60
    write(server.workspace, {"m2/page.md": text})
    page = server.ok("manual_scan", manual_id="m2", path="page.md", max_chars=256)
    assert page["text"] == text[:256]
    assert (page["eof"], page["truncated"], page["truncated_reason"]) == (False, True, "max_chars")
    assert page["next_cursor"] == {"char_offset": 256}
    assert page["applied_range"] == {"start_line": 1, "end_line": 1 + text[:255].count("\n")}


def test_the_default_page_of_a_scan_can_be_configured(contract_workspace: Path) -> None:
    with Fumishirube(contract_workspace, SCAN_MAX_CHARS="300") as server:
        server.ok("manual_ls")
        answer = server.ok("manual_scan", manual_id="odd", path="sub/inner.md")
        assert answer["applied"] == {"max_chars": 300}
