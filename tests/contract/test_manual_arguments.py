"""Which arguments the manual tools refuse, and with which code."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from itertools import product
from typing import Any

import pytest
from manual_tools import GOOD, TOOLS, coded, found
from stdio import Fumishirube, Wire

pytest_plugins = ["manual_servers"]

pytestmark = pytest.mark.filterwarnings("ignore:ping is removed")


@pytest.fixture(scope="module")
def server(contract_server: Fumishirube) -> Iterator[Fumishirube]:
    """A server that each call shows to have survived the one before, and a ping the last one."""
    yield contract_server
    contract_server.ping()


IP, PA, NF, FB, IS = (
    "invalid_parameter",
    "invalid_path",
    "not_found",
    "forbidden",
    "invalid_scope",
)
MISSING = "<missing>"

NO_INTEGERS: list[Any] = [True, False, 1.0, 1.5, "1", "", [1], {"a": 1}]
INTEGERS = [
    ("manual_toc", "max_files"),
    ("manual_toc", "max_headings_per_file"),
    ("manual_toc", "cursor.offset"),
    ("manual_find", "budget.max_candidates"),
    ("manual_find", "budget.time_ms"),
    ("manual_find", "inline_hits.limit"),
    ("manual_hits", "offset"),
    ("manual_hits", "limit"),
    ("manual_read", "ref.start_line"),
    ("manual_read", "max_chars"),
    ("manual_scan", "start_line"),
    ("manual_scan", "max_chars"),
    ("manual_scan", "cursor.start_line"),
    ("manual_scan", "cursor.char_offset"),
]
BOOLEANS = ["expand_scope", "include_claim_graph", "use_cache"]
NO_BOOLEANS: list[Any] = [0, 1, 1.0, "true", "", [], {}]
PATHS = [("manual_toc", "path_prefix"), ("manual_read", "ref.path"), ("manual_scan", "path")]
NO_PATHS: list[Any] = [
    5,
    True,
    ["rules.md"],
    {"path": "rules.md"},
    "/etc/passwd",
    "//host/share",
    "C:\\x.md",
    "c:rules.md",
    "\\\\host\\share",
    "..",
    "../m2/other.md",
    "sub/../rules.md",
    "sub\\..\\rules.md",
    "a\0b.md",
    "a\nb.md",
    "a\x7fb.md",
    "x" * 256,
    "あ" * 86,
    "abcdefg/" * 129,
]
NO_PATH_AT_ALL: list[Any] = [MISSING, None, "", "  ", ".", "./", "/"]
MANUAL_IDS = [
    ("manual_toc", "manual_id"),
    ("manual_find", "manual_id"),
    ("manual_read", "ref.manual_id"),
    ("manual_scan", "manual_id"),
]
NO_MANUAL_IDS: list[tuple[Any, str]] = [
    *((value, IP) for value in (MISSING, None, "", " ", 5, True, [], {})),
    *((value, IP) for value in ("m1/sub", "m1\\sub", "..", "m1/..", "/m1", ".", "a\0b")),
    *((value, IP) for value in ("manuals", " manuals ", "x" * 256)),
    *((value, NF) for value in ("nope", ".dot", "root.md", "aa::b", "M1")),
    ("linked", FB),
]
FILES: list[tuple[str, str, str]] = [
    ("odd", "gone.md", NF),
    ("odd", "gone/inner.md", NF),
    ("odd", "subject.md/inner.md", NF),
    ("odd", "sub", NF),
    ("odd", "notes.txt", NF),
    ("odd", ".hidden.md", NF),
    ("odd", ".hidden/deep/secret.md", NF),
    ("odd", "SUBJECT.md", NF),
    ("odd", "link.md", FB),
    ("odd", "dangling.md", FB),
    ("odd", "linkdir/inner.md", FB),
    ("odd", "broken.md", IS),
    ("odd", "broken.json", IS),
    ("odd", "huge.md", IS),
]
NO_CURSORS: list[Any] = [-1, "-1", "x", "1.5", " ", "", "٣", [], [0], True, 0.0, 1.5]
BAD: list[tuple[str, dict[str, Any], str]] = [
    *((tool, {"nope": 1}, IP) for tool in GOOD),
    *((tool, {name: value}, IP) for (tool, name), value in product(INTEGERS, NO_INTEGERS)),
    *(("manual_find", {name: v}, IP) for name, v in product(BOOLEANS, NO_BOOLEANS)),
    *((tool, {name: value}, PA) for (tool, name), value in product(PATHS, NO_PATHS)),
    *((tool, {name: value}, PA) for (tool, name), value in product(PATHS[1:], NO_PATH_AT_ALL)),
    *((tool, {name: v}, code) for (tool, name), (v, code) in product(MANUAL_IDS, NO_MANUAL_IDS)),
    # ls
    *(
        ("manual_ls", {"id": value}, IP)
        for value in (5, True, [], {}, " ", "\t", "m1/sub", "..", "/m1", "a\0b", "foo::bar")
    ),
    *(
        ("manual_ls", {"id": value}, IP)
        for value in (
            f"file::m1::{coded('rules.md')}",
            "file::nope::eA",
            "dir::",
            "dir::m1",
            "dir::m1::",
            "dir::::c3Vi",
            "dir::m1::!!!",
            "dir::m1::c3Vib",
            "dir::m1::c3Vi::c3Vi",
            "dir::m1::_w",
            "dir::m1/sub::c3Vi",
            *(f"dir::m1::{other}" for other in ("c3Vi=", coded("./sub"), coded("sub/"))),
        )
    ),
    *(
        ("manual_ls", {"id": f"dir::m1::{coded(path)}"}, PA)
        for path in ("..", "../m2", "/etc", "C:\\", "a\0b")
    ),
    *(
        ("manual_ls", {"id": value}, NF)
        for value in (
            "nope",
            "root.md",
            ".dot",
            "dir::nope::c3Vi",
            "dir::manuals::c3Vi",
            f"dir::m1::{coded('gone')}",
            f"dir::m1::{coded('rules.md')}",
            f"dir::odd::{coded('.hidden')}",
            f"dir::odd::{coded('.hidden/deep')}",
        )
    ),
    ("manual_ls", {"id": "linked"}, FB),
    ("manual_ls", {"id": "dir::linked::c3Vi"}, FB),
    ("manual_ls", {"id": f"dir::odd::{coded('linkdir')}"}, FB),
    # toc
    *(("manual_toc", {"depth": value}, IP) for value in ("deepest", "", 1, True, [], {})),
    *(
        ("manual_toc", {"depth": "deep", "path_prefix": value}, IP)
        for value in (MISSING, None, "", "  ")
    ),
    *(("manual_toc", {"path_prefix": "sub", "max_files": v}, IP) for v in (0, -1, 201)),
    ("manual_toc", {"max_files": 51}, IP),
    ("manual_toc", {"path_prefix": " ", "max_files": 51}, IP),
    ("manual_toc", {"path_prefix": "sub", "max_files": 51, "depth": "deep"}, IP),
    ("manual_toc", {"path_prefix": "..", "max_files": 51, "depth": "deep"}, IP),
    ("manual_toc", {"path_prefix": "..", "max_files": 0}, IP),
    *(("manual_toc", {"max_headings_per_file": v}, IP) for v in (0, -1, 201)),
    *(("manual_toc", {"cursor": value}, IP) for value in NO_CURSORS),
    *(("manual_toc", {"cursor": v}, IP) for v in (2, "2", {"offset": 2}, 10**30, "9" * 5000)),
    *(("manual_toc", {"cursor": v}, IP) for v in ({"offset": -1}, {"offset": 0, "x": 1}, {"x": 1})),
    ("manual_toc", {"include_headings": True}, IP),
    ("manual_toc", {"include_headings": False}, IP),
    ("manual_toc", {"manual_id": "wide"}, "needs_narrow_scope"),
    ("manual_toc", {"manual_id": "manuals", "path_prefix": ".."}, IP),
    # find
    *((tool, {name: ["m1"]}, IP) for tool, name in MANUAL_IDS if tool != "manual_find"),
    *(("manual_find", {"query": v}, IP) for v in (MISSING, None, "", " \n", "\u3000", 5, ["a"])),
    ("manual_find", {"query": "あ" * 100_001}, IP),
    *(
        ("manual_find", {"required_terms": value}, IP)
        for value in (
            *(MISSING, None, "対象外", {}, 5, [], [""], ["対象外", "\u3000"], [5], [None]),
            *(["対象", True], ["a", "b", "c"], [["対象"]], ["あ" * 201]),
        )
    ),
    *(("manual_find", {"budget": value}, IP) for value in (5, True, [], "x", {"nope": 1})),
    *(("manual_find", {"inline_hits": value}, IP) for value in (5, True, [], "x", {"offset": 0})),
    *(
        ("manual_find", {name: value}, IP)
        for name, value in product(
            ["budget.max_candidates", "budget.time_ms", "inline_hits.limit"], [0, -1, -(10**30)]
        )
    ),
    ("manual_find", {"compact": True}, IP),
    ("manual_find", {"compact": False}, IP),
    *(("manual_find", {"only_unscanned_from_trace_id": v}, IP) for v in ("", " ", 5, "<m2>")),
    ("manual_find", {"only_unscanned_from_trace_id": " ", "manual_id": "nope"}, IP),
    *(("manual_find", {"only_unscanned_from_trace_id": v}, NF) for v in ("nope", "0" * 32)),
    # hits
    *(("manual_hits", {"trace_id": value}, IP) for value in (MISSING, None, "", " ", 5, [])),
    *(("manual_hits", {"trace_id": value}, NF) for value in ("nope", "0" * 32, "a/../b")),
    *(("manual_hits", {"kind": v}, IP) for v in ("", " ", "all", "Candidates", 5, [], {})),
    ("manual_hits", {"offset": -1}, IP),
    *(("manual_hits", {"limit": value}, IP) for value in (0, -1)),
    # read
    *(("manual_read", {"ref": value}, IP) for value in (MISSING, None, 5, True, [], "rules.md")),
    *(("manual_read", {"ref.start_line": value}, IP) for value in (0, -1)),
    *(("manual_read", {"max_chars": value}, IP) for value in (0, 255, 50_001, 10**30)),
    *(("manual_read", {"scope": value}, IP) for value in ("file", "", "Section", 5, [])),
    *(
        ("manual_read", {name: value}, IP)
        for name, value in product(["allow_file", "expand"], [True, False])
    ),
    *(("manual_read", {"ref.start_line": value}, NF) for value in (2, 6, 7, 10**30)),
    *(
        ("manual_read", {"ref.path": "..", name: value}, IP)
        for name, value in (("scope", "file"), ("ref.start_line", 0), ("ref.manual_id", "manuals"))
    ),
    ("manual_read", {"ref.manual_id": "odd", "ref.path": "policy.json"}, IS),
    *(
        ("manual_read", {"ref.manual_id": manual, "ref.path": path}, code)
        for manual, path, code in FILES
    ),
    # scan
    *(("manual_scan", {"start_line": value}, IP) for value in (0, -1, 7, 10**30)),
    *(("manual_scan", {"cursor": value}, IP) for value in NO_CURSORS),
    *(("manual_scan", {"cursor": value}, IP) for value in (44, "44", 10**30, "9" * 5000)),
    *(("manual_scan", {"cursor.char_offset": value}, IP) for value in (-1, 44)),
    *(("manual_scan", {"cursor.start_line": value}, IP) for value in (0, -1, 7)),
    ("manual_scan", {"cursor": {"offset": 0}}, IP),
    *(("manual_scan", {"max_chars": value}, IP) for value in (0, 255, 50_001)),
    ("manual_scan", {"manual_id": "manuals", "path": ".."}, IP),
    *(("manual_scan", {"manual_id": manual, "path": path}, code) for manual, path, code in FILES),
]


@pytest.fixture(scope="module")
def traces(server: Fumishirube) -> dict[str, str]:
    """Traces of two manuals, by the words that stand for them in the table below."""
    return {"<m1>": found(server)["trace_id"], "<m2>": found(server, manual_id="m2")["trace_id"]}


def changed(tool: str, changes: dict[str, Any], traces: dict[str, str]) -> dict[str, Any]:
    arguments = deepcopy(GOOD[tool])
    for name, value in changes.items():
        *parents, last = name.split(".")
        holder = arguments
        for parent in parents:
            holder = holder.setdefault(parent, {})
        if value == MISSING:
            holder.pop(last, None)
        else:
            holder[last] = value
    return {
        name: traces.get(value, value) if isinstance(value, str) else value
        for name, value in arguments.items()
    }


def case(row: tuple[str, dict[str, Any], str]) -> str:
    tool, changes, code = row
    shown = repr(changes) if len(repr(changes)) < 60 else repr(changes)[:56] + "..."
    return f"{tool.removeprefix('manual_')}-{shown}-{code}".encode("ascii", "replace").decode()


@pytest.mark.parametrize("row", BAD, ids=case)
def test_bad_input_is_refused_with_its_code(
    server: Fumishirube, traces: dict[str, str], row: tuple[str, dict[str, Any], str]
) -> None:
    tool, changes, code = row
    error = server.refused(tool, **changed(tool, changes, traces))
    assert error["code"] == code, error


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("arguments", [[], "x", 5, True, 1.5, ["manual_id"]])
def test_arguments_that_are_no_object_are_refused(
    contract_wire: Wire, tool: str, arguments: Any
) -> None:
    answer = contract_wire.call(tool, arguments)
    assert answer.is_error
    assert answer.payload["code"] == "invalid_parameter"
    contract_wire.ping()


@pytest.mark.parametrize(
    ("tool", "name", "code"),
    [
        ("manual_ls", "id", IP),
        ("manual_toc", "path_prefix", PA),
        ("manual_toc", "depth", IP),
        ("manual_find", "query", IP),
        ("manual_hits", "trace_id", IP),
        ("manual_read", "ref.path", PA),
        ("manual_read", "ref.manual_id", IP),
        ("manual_scan", "path", PA),
    ],
)
def test_unpaired_surrogates_are_refused(
    contract_wire: Wire, tool: str, name: str, code: str
) -> None:
    answer = contract_wire.call(tool, changed(tool, {name: "a\ud800b"}, {}))
    assert answer.is_error
    assert answer.payload["code"] == code
    contract_wire.ping()


@pytest.mark.parametrize(
    ("tool", "changes", "parameter"),
    [
        ("manual_scan", {"path": "\ud800", "max_chars": 5}, "max_chars"),
        ("manual_read", {"ref.path": "\ud800", "ref.start_line": 0}, "ref.start_line"),
        ("manual_read", {"ref.path": "\ud800", "scope": "\ud800"}, "scope"),
    ],
)
def test_wrong_shapes_come_before_an_unpaired_surrogate_in_a_path(
    contract_wire: Wire, tool: str, changes: dict[str, Any], parameter: str
) -> None:
    refused = contract_wire.call(tool, changed(tool, changes, {})).payload
    assert (refused["code"], refused["details"]["parameter"]) == (IP, parameter)


@pytest.mark.parametrize("tool", ["manual_toc", "manual_find", "manual_scan"])
def test_the_roots_own_id_is_refused_with_ids_that_would_do(server: Fumishirube, tool: str) -> None:
    error = server.refused(tool, **(GOOD[tool] | {"manual_id": "manuals"}))
    assert "manual_ls(id='manuals').items[].id" in error["message"]
    ids = [item["id"] for item in server.ok("manual_ls")["items"]]
    assert error["details"]["candidate_ids"] == ids[:20]


def test_numbers_that_no_float_holds_are_taken(server: Fumishirube) -> None:
    answer = found(server, budget={"time_ms": 10**400, "max_candidates": 10**400})
    assert answer["candidates"] == 2


def test_a_refused_argument_is_named(server: Fumishirube) -> None:
    for tool, changes, parameter in [
        ("manual_toc", {"max_files": True}, "max_files"),
        ("manual_toc", {"path_prefix": ".."}, "path_prefix"),
        ("manual_find", {"budget.time_ms": 0}, "budget.time_ms"),
        ("manual_find", {"compact": True}, "compact"),
        ("manual_read", {"ref.path": MISSING}, "ref.path"),
        ("manual_read", {"ref.path": ".."}, "ref.path"),
        ("manual_scan", {"max_chars": 1}, "max_chars"),
    ]:
        error = server.refused(tool, **changed(tool, changes, {}))
        assert error["details"]["parameter"] == parameter


def test_bounds_are_told(server: Fumishirube) -> None:
    error = server.refused("manual_scan", manual_id="m1", path="rules.md", max_chars=255)
    assert (error["details"]["min"], error["details"]["max"]) == (256, 50_000)


@pytest.mark.parametrize("digits", [4_000, 4_300, 4_301, 5_000, 100_000])
@pytest.mark.parametrize("sign", ["", "-"])
def test_a_number_that_is_too_long_is_refused_and_its_request_answered(
    contract_wire: Wire, digits: int, sign: str
) -> None:
    place = '"manual_id": "m1", "path": "rules.md"'
    given = f'{{{place}, "start_line": {sign}{"9" * digits}}}'
    refused = contract_wire.call_text("manual_scan", given)
    assert refused.payload["code"] == IP
    assert contract_wire.call_text("manual_scan", f"{{{place}}}").payload["eof"]
