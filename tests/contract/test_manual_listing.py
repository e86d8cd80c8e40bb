"""What ``manual_ls`` and ``manual_toc`` list: manuals, folders, files and headings."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest
from manual_tools import GUIDE, PASSPORT, coded, found
from manuals import RULES, write
from stdio import Fumishirube

pytest_plugins = ["manual_servers"]


@pytest.fixture(scope="module")
def server(contract_server: Fumishirube) -> Fumishirube:
    return contract_server


# --- manual_ls ------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [{}, {"id": None}, {"id": ""}, {"id": "manuals"}])
def test_the_root_lists_the_manuals(server: Fumishirube, arguments: dict[str, Any]) -> None:
    answer = server.ok("manual_ls", **arguments)
    names = ["m1", "m2", "odd", "wide", GUIDE]
    assert answer == {
        "id": "manuals",
        "items": [{"id": name, "name": name, "kind": "dir"} for name in names],
    }


def test_a_manual_lists_its_children_one_level_deep(server: Fumishirube) -> None:
    assert server.ok("manual_ls", id=" m1 ") == {
        "id": "m1",
        "items": [
            {
                "id": "file::m1::cnVsZXMubWQ",
                "name": "rules.md",
                "kind": "file",
                "path": "rules.md",
                "file_type": "md",
            },
            {"id": "dir::m1::c3Vi", "name": "sub", "kind": "dir"},
        ],
    }


def test_children_are_sorted_by_name_and_only_what_loaders_read_is_listed(
    server: Fumishirube,
) -> None:
    items = server.ok("manual_ls", id="odd")["items"]
    assert [(item["name"], item["kind"], item.get("file_type")) for item in items] == [
        ("UPPER.MD", "file", "md"),
        ("broken.json", "file", "json"),
        ("broken.md", "file", "md"),
        ("huge.md", "file", "md"),
        ("plain.md", "file", "md"),
        ("policy.json", "file", "json"),
        ("sub", "dir", None),
        ("subject.md", "file", "md"),
    ]


def test_folders_are_walked_by_the_ids_of_their_parents(server: Fumishirube) -> None:
    sub = f"dir::odd::{coded('sub')}"
    answer = server.ok("manual_ls", id=sub)
    assert answer["id"] == sub
    assert [(item["name"], item.get("path")) for item in answer["items"]] == [
        ("2", None),
        ("inner.md", "sub/inner.md"),
    ]
    below = server.ok("manual_ls", id=answer["items"][0]["id"])
    assert [item["path"] for item in below["items"]] == ["sub/2/inner.md"]


def test_an_unknown_manual_is_named(server: Fumishirube) -> None:
    assert server.refused("manual_ls", id="nope") == {
        "code": "not_found",
        "message": "manual not found",
        "details": {"manual_id": "nope"},
    }


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_names_are_found_in_either_unicode_form_and_answered_composed(
    server: Fumishirube, form: str
) -> None:
    manual, path = (unicodedata.normalize(form, name) for name in (GUIDE, PASSPORT))
    listed = server.ok("manual_ls", id=manual)
    assert listed["id"] == GUIDE
    (item,) = listed["items"]
    assert (item["name"], item["path"]) == (PASSPORT, PASSPORT)
    assert item["id"] == f"file::{GUIDE}::{coded(PASSPORT)}"
    toc = server.ok("manual_toc", manual_id=manual, path_prefix=path, depth="deep")
    assert (toc["applied"]["manual_id"], toc["applied"]["path_prefix"]) == (GUIDE, PASSPORT)
    assert [entry["path"] for entry in toc["items"]] == [PASSPORT]
    hits = found(server, manual_id=manual)["inline_hits"]["items"]
    assert hits[0]["ref"] == {"manual_id": GUIDE, "path": PASSPORT, "start_line": 3}
    scanned = server.ok("manual_scan", manual_id=manual, path=path)
    assert (scanned["manual_id"], scanned["path"], scanned["text"]) == (GUIDE, PASSPORT, RULES)
    assert server.ok("manual_read", ref={"manual_id": manual, "path": path})["text"] == RULES
    # The next reading of this connection shall be the first again.
    server.ok("manual_read", ref={"manual_id": manual, "path": path, "start_line": 5})


# --- manual_toc -----------------------------------------------------------------------------


def test_a_shallow_toc_lists_paths(server: Fumishirube) -> None:
    answer = server.ok("manual_toc", manual_id="m1")
    assert answer == {
        "applied": {
            "manual_id": "m1",
            "path_prefix": "",
            "depth": "shallow",
            "max_files": 20,
            "include_headings": False,
            "max_headings_per_file": 20,
            "offset": 0,
        },
        "total_files": 1,
        "next_cursor": None,
        "items": [{"path": "rules.md", "headings": []}],
    }


def test_a_deep_toc_lists_headings_and_says_what_it_cut(server: Fumishirube) -> None:
    answer = server.ok(
        "manual_toc", manual_id="m1", path_prefix="rules.md", depth="deep", max_headings_per_file=1
    )
    assert answer == {
        "applied": {
            "manual_id": "m1",
            "path_prefix": "rules.md",
            "depth": "deep",
            "max_files": 20,
            "include_headings": True,
            "max_headings_per_file": 1,
            "offset": 0,
        },
        "total_files": 1,
        "next_cursor": None,
        "items": [
            {
                "path": "rules.md",
                "headings": [{"title": "総則", "line_start": 1, "level": 1}],
                "headings_total": 3,
            }
        ],
    }


def test_a_deep_toc_without_a_prefix_is_refused_in_these_words(server: Fumishirube) -> None:
    assert server.refused("manual_toc", manual_id="m1", depth="deep") == {
        "code": "invalid_parameter",
        "message": "path_prefix is required when depth is deep",
        "details": {"parameter": "path_prefix"},
    }


@pytest.mark.parametrize(
    ("prefix", "paths"),
    [
        ("sub", ["sub/2/inner.md", "sub/inner.md"]),
        (" sub/ ", ["sub/2/inner.md", "sub/inner.md"]),
        ("./sub\\2", ["sub/2/inner.md"]),
        ("sub/inner.md", ["sub/inner.md"]),
        ("su", []),
        ("subject", []),
        ("nowhere/at/all", []),
        ("su*r.md", []),
        ("!sub", []),
    ],
)
def test_a_prefix_is_a_file_or_whole_leading_folders(
    server: Fumishirube, prefix: str, paths: list[str]
) -> None:
    answer = server.ok("manual_toc", manual_id="odd", path_prefix=prefix)
    assert [item["path"] for item in answer["items"]] == paths
    assert answer["total_files"] == len(paths)


@pytest.mark.parametrize(
    ("path", "headings"),
    [
        ("UPPER.MD", [("UPPER", 1), ("One", 3)]),
        ("plain.md", [("plain", 1)]),
        ("policy.json", [("policy.json", 1)]),
    ],
)
def test_text_without_a_heading_goes_by_the_files_name(
    server: Fumishirube, path: str, headings: list[tuple[str, int]]
) -> None:
    answer = server.ok("manual_toc", manual_id="odd", path_prefix=path, depth=" DEEP ")
    (item,) = answer["items"]
    assert [(one["title"], one["line_start"]) for one in item["headings"]] == headings


def test_toc_pages_hold_every_file_once_in_order(server: Fumishirube) -> None:
    paths: list[str] = []
    cursor: Any = None
    while True:
        page = server.ok("manual_toc", manual_id="odd", max_files=3, cursor=cursor)
        paths += [item["path"] for item in page["items"]]
        assert page["total_files"] == 9
        if page["next_cursor"] is None:
            break
        assert len(page["items"]) == 3
        cursor = page["next_cursor"]
    assert len(paths) == 9
    assert sorted(set(paths)) == paths


@pytest.mark.parametrize("cursor", [2, "2", "0002", "0" * 30 + "2", {"offset": 2}])
def test_a_toc_cursor_may_be_an_object_a_number_or_digits(server: Fumishirube, cursor: Any) -> None:
    answer = server.ok("manual_toc", manual_id="odd", cursor=cursor, max_files=1)
    assert answer["applied"]["offset"] == 2
    assert [item["path"] for item in answer["items"]] == ["broken.md"]
    assert answer["next_cursor"] == {"offset": 3}


def test_a_toc_cursor_at_the_end_gives_an_empty_page(server: Fumishirube) -> None:
    answer = server.ok("manual_toc", manual_id="m1", cursor={"offset": 1})
    assert (answer["items"], answer["next_cursor"]) == ([], None)


def test_as_many_files_as_allowed_are_listed(server: Fumishirube) -> None:
    narrow = server.ok("manual_toc", manual_id="wide", path_prefix="a", max_files=200)
    assert len(narrow["items"]) == narrow["total_files"] == 101
    deep = server.ok(
        "manual_toc", manual_id="wide", path_prefix="b", max_files=50, depth="deep", cursor=80
    )
    assert [item["headings"][0]["title"] for item in deep["items"]] == [
        str(number) for number in range(181, 201)
    ]
    assert len(server.ok("manual_toc", manual_id="odd", max_files=50)["items"]) == 9


def test_a_long_toc_ends_early_and_goes_on_where_its_cursor_says(server: Fumishirube) -> None:
    files = [f"many/{number:02}.md" for number in range(20)]
    for path in files:
        headings = "".join(f"# {path}の見出しその{number}\n本文。\n" for number in range(100))
        write(server.workspace, {f"m2/{path}": headings})
    asked = {"manual_id": "m2", "path_prefix": "many", "depth": "deep"}
    paths: list[str] = []
    page: dict[str, Any] = {"next_cursor": {"offset": 0}}
    while page["next_cursor"] is not None:
        offset = page["next_cursor"]["offset"]
        assert offset == len(paths)
        page = server.ok("manual_toc", **asked, max_headings_per_file=200, cursor=offset)
        assert page["total_files"] == 20
        assert len(json.dumps(page, ensure_ascii=False)) < 50_000
        assert all(len(item["headings"]) == 100 for item in page["items"])
        paths += [item["path"] for item in page["items"]]
    assert paths == files


def test_too_many_files_are_refused_with_a_way_out(server: Fumishirube) -> None:
    error = server.refused("manual_toc", manual_id="wide", max_files=1)
    assert error["code"] == "needs_narrow_scope"
    assert "path_prefix" in error["message"]
    assert "manual_ls" in error["message"]
