"""What the six manual tools accept, answer and refuse, asked over a real connection."""

from __future__ import annotations

import base64
import json
import re
import unicodedata
from collections.abc import Iterator
from copy import deepcopy
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from stdio import Fumishirube, Wire
from torture import examples

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.filterwarnings("ignore:ping is removed"),
]

RULES = "# 総則\n対象です。\n## 例外\nこの場合は対象外です。\n### 参照\n別表を参照。\n"
TOOLS = {
    "manual_ls": ["id"],
    "manual_toc": [
        "manual_id",
        "path_prefix",
        "max_files",
        "cursor",
        "depth",
        "max_headings_per_file",
    ],
    "manual_find": [
        "query",
        "manual_id",
        "required_terms",
        "expand_scope",
        "only_unscanned_from_trace_id",
        "budget",
        "include_claim_graph",
        "use_cache",
        "inline_hits",
    ],
    "manual_hits": ["trace_id", "kind", "offset", "limit"],
    "manual_read": ["ref", "max_chars", "scope"],
    "manual_scan": ["manual_id", "path", "start_line", "cursor", "max_chars"],
}
KINDS = [
    "candidates",
    "unscanned",
    "conflicts",
    "gaps",
    "integrated_top",
    "claims",
    "evidences",
    "edges",
    "gate_runs",
    "fusion_debug",
]
CONTRACT = "coverage,cite"
"""The tools of the contract alone, and two keys that have always joined them."""
EXTRAS = {"coverage", "est_tokens", "degraded"}
ROW_EXTRAS = {"cite", "end_line", "refers_to", "addressed"}
GUIDE, PASSPORT = "がいど", "パス.md"
LONG = "長い名前" * 20
HUGE = 64 * 1024 * 1024 + 1
HEX = re.compile(r"[0-9a-f]{32}")
CITE = re.compile(r"@[0-9a-f]{6}")


def coded(path: str) -> str:
    return base64.urlsafe_b64encode(path.encode()).rstrip(b"=").decode()


def decomposed(text: str) -> str:
    found = unicodedata.normalize("NFD", text)
    assert found != text
    return found


def write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("contract")
    manuals = root / "manuals"
    write(manuals / "m1/rules.md", RULES)
    (manuals / "m1/sub").mkdir()
    write(manuals / "m2/other.md", "# 別の規程\nこちらも対象外です。\n")
    odd = manuals / "odd"
    write(odd / "policy.json", '{"対象": "全員"}\n')
    write(odd / "broken.md", b"\x81\xff\xfe\x80 \xff\xff")
    write(odd / "broken.json", b"\x81\xff\xfe\x80 \xff\xff")
    write(odd / "notes.txt", "対象外のメモ\n")
    write(odd / "UPPER.MD", "preamble\n\n# One\ntext\n")
    write(odd / "plain.md", "")
    write(odd / ".hidden.md", "# 隠し\n対象外\n")
    write(odd / ".hidden/deep/secret.md", "# 隠し\n対象外\n")
    write(odd / "sub/inner.md", RULES)
    write(odd / "sub/2/inner.md", RULES)
    write(odd / "subject.md", RULES)
    with (odd / "huge.md").open("wb") as huge:
        huge.truncate(HUGE)
    for number in range(201):
        path = f"{'ab'[number > 100]}/{LONG}/{number:03}-{LONG}.md"
        write(manuals / "wide" / path, f"# {number}\n対象\n")
    write(manuals / decomposed(GUIDE) / decomposed(PASSPORT), RULES)
    write(manuals / "root.md", RULES)
    for skipped in (".dot", "aa::b", "manuals"):
        write(manuals / skipped / "rules.md", RULES)
    links = {
        manuals / "linked": manuals / "m1",
        odd / "link.md": odd / "subject.md",
        odd / "linkdir": odd / "sub",
        odd / "dangling.md": odd / "nowhere.md",
    }
    for link, target in links.items():
        link.symlink_to(target)
    return root


@pytest.fixture(scope="module")
def server(workspace: Path) -> Iterator[Fumishirube]:
    """A connection that has listed the manuals."""
    with Fumishirube(workspace, FUMISHIRUBE_SURFACE_EXTRAS=CONTRACT) as connected:
        connected.ok("manual_ls")
        yield connected


@pytest.fixture(scope="module")
def wire(workspace: Path) -> Iterator[Wire]:
    """The same, with a client that sends any JSON."""
    with Wire(workspace, FUMISHIRUBE_SURFACE_EXTRAS=CONTRACT) as connected:
        connected.ok("manual_ls")
        yield connected


@pytest.fixture(scope="module")
def stranger(workspace: Path) -> Iterator[Fumishirube]:
    """A connection that never lists the manuals."""
    with Fumishirube(workspace, FUMISHIRUBE_SURFACE_EXTRAS=CONTRACT) as connected:
        yield connected


@pytest.fixture
def newcomer(workspace: Path) -> Iterator[Fumishirube]:
    """A connection of its own, that has read nothing yet."""
    with Fumishirube(workspace, FUMISHIRUBE_SURFACE_EXTRAS=CONTRACT) as connected:
        connected.ok("manual_ls")
        yield connected


FIND: dict[str, Any] = {"query": "対象外", "manual_id": "m1", "required_terms": ["対象外"]}


def found(server: Fumishirube, **changes: Any) -> dict[str, Any]:
    return server.ok("manual_find", **(FIND | changes))


@pytest.fixture(scope="module")
def traces(server: Fumishirube) -> dict[str, str]:
    """Traces of two manuals, by the words that stand for them in the table below."""
    return {"<m1>": found(server)["trace_id"], "<m2>": found(server, manual_id="m2")["trace_id"]}


# --- the catalogue --------------------------------------------------------------------------


def test_the_six_tools_are_listed_with_the_arguments_of_the_contract(server: Fumishirube) -> None:
    tools = server.tools()
    manual_tools = [name for name in tools if name.startswith("manual_")]
    assert [name for name in manual_tools if name != "manual_grep"] == list(TOOLS)
    for name, arguments in TOOLS.items():
        schema = tools[name].input_schema
        assert list(schema["properties"]) == arguments
        assert schema["additionalProperties"] is False
        assert tools[name].description
        assert tools[name].title
        assert tools[name].output_schema["type"] == "object"
        assert tools[name].annotations.read_only_hint is True
        assert tools[name].annotations.open_world_hint is False


def test_the_required_arguments_are_those_of_the_contract(server: Fumishirube) -> None:
    required = {
        name: tool.input_schema.get("required", []) for name, tool in server.tools().items()
    }
    assert {name: required[name] for name in TOOLS} == {
        "manual_ls": [],
        "manual_toc": ["manual_id"],
        "manual_find": ["query", "manual_id", "required_terms"],
        "manual_hits": ["trace_id"],
        "manual_read": ["ref"],
        "manual_scan": ["manual_id", "path"],
    }


# --- discovery first ------------------------------------------------------------------------

AFTER_DISCOVERY: dict[str, dict[str, Any]] = {
    "manual_toc": {"manual_id": "m1"},
    "manual_find": FIND,
    "manual_read": {"ref": {"manual_id": "m1", "path": "rules.md"}},
    "manual_scan": {"manual_id": "m1", "path": "rules.md"},
}


@pytest.mark.parametrize("tool", AFTER_DISCOVERY)
@pytest.mark.parametrize("good", [True, False])
def test_before_manual_ls_a_tool_asks_for_it_whatever_else_is_wrong(
    stranger: Fumishirube, tool: str, good: bool
) -> None:
    error = stranger.refused(tool, **(AFTER_DISCOVERY[tool] if good else {"nope": "../.."}))
    assert error["code"] == "invalid_parameter"
    assert error["details"] == {"required_first_call": "manual_ls"}


@pytest.mark.parametrize("arguments", [{"id": "nope"}, {"id": ".."}, {"nope": 1}])
def test_a_failed_manual_ls_opens_nothing(stranger: Fumishirube, arguments: dict[str, Any]) -> None:
    stranger.refused("manual_ls", **arguments)
    error = stranger.refused("manual_toc", manual_id="m1")
    assert error["details"] == {"required_first_call": "manual_ls"}


def test_manual_hits_needs_no_discovery(stranger: Fumishirube) -> None:
    assert stranger.refused("manual_hits", trace_id="nope")["code"] == "not_found"


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_any_successful_manual_ls_opens_the_other_tools(workspace: Path, era: str) -> None:
    with Fumishirube(workspace, era) as server:
        server.refused("manual_toc", manual_id="m1")
        server.ok("manual_ls", id=f"dir::m1::{coded('sub')}")
        for tool, arguments in AFTER_DISCOVERY.items():
            server.ok(tool, **arguments)


# --- the table of bad input -----------------------------------------------------------------

GOOD: dict[str, dict[str, Any]] = {
    "manual_ls": {},
    **AFTER_DISCOVERY,
    "manual_hits": {"trace_id": "<m1>"},
}
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
    *(("manual_scan", {"manual_id": manual, "path": path}, code) for manual, path, code in FILES),
]


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
    server.ping()


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("arguments", [[], "x", 5, True, 1.5, ["manual_id"]])
def test_arguments_that_are_no_object_are_refused(wire: Wire, tool: str, arguments: Any) -> None:
    answer = wire.call(tool, arguments)
    assert answer.is_error
    assert answer.payload["code"] == "invalid_parameter"
    wire.ping()


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
def test_unpaired_surrogates_are_refused(wire: Wire, tool: str, name: str, code: str) -> None:
    answer = wire.call(tool, changed(tool, {name: "a\ud800b"}, {}))
    assert answer.is_error
    assert answer.payload["code"] == code
    wire.ping()


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
        ("manual_scan", {"max_chars": 1}, "max_chars"),
    ]:
        error = server.refused(tool, **changed(tool, changes, {}))
        assert error["details"]["parameter"] == parameter


def test_bounds_are_told(server: Fumishirube) -> None:
    error = server.refused("manual_scan", manual_id="m1", path="rules.md", max_chars=255)
    assert (error["details"]["min"], error["details"]["max"]) == (256, 50_000)


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
        write(server.workspace / "manuals/m2" / path, headings)
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


# --- manual_find ----------------------------------------------------------------------------


def test_a_search_answers_in_the_compact_form(server: Fumishirube) -> None:
    answer = server.ok(
        "manual_find",
        query="対象外になる場合は？",
        manual_id="m1",
        required_terms=["対象外"],
        inline_hits={"limit": 1},
    )
    assert HEX.fullmatch(answer["trace_id"])
    inline = answer["inline_hits"]
    (item,) = inline["items"]
    assert CITE.fullmatch(item["cite"])
    assert item["score"] > 0
    assert round(item["score"], 4) == item["score"]
    shape = {name: value for name, value in answer.items() if name not in EXTRAS}
    row = {name: value for name, value in item.items() if name not in ROW_EXTRAS}
    assert shape == {
        "trace_id": answer["trace_id"],
        "candidates": 2,
        "status": "required_effective",
        "failure_reason": None,
        "next_actions": [],
        "inline_hits": {
            "trace_id": answer["trace_id"],
            "kind": "integrated_top",
            "offset": 0,
            "limit": 1,
            "total": 2,
            "items": [item],
        },
    }
    assert row == {
        "ref": {"manual_id": "m1", "path": "rules.md", "start_line": 3},
        "title": "例外",
        "score": item["score"],
        "matched_tokens": ["対象外", "場合"],
    }


def test_the_account_is_there_unless_it_is_turned_off(server: Fumishirube) -> None:
    coverage = found(server, query="対象外になる場合は？")["coverage"]
    assert coverage == {
        "scope": {"files": 1, "sections": 3},
        "scanned": {"files": 1, "sections": 3},
        "matched": 2,
        "returned": 2,
        "cutoff_reason": "stage_cap",
        "skipped": [],
        "terms": [{"term": "対象外", "sections": 1}],
    }
    odd = found(server, manual_id="odd", required_terms=["対象外", "対照外"])["coverage"]
    assert {(row["reason"], row["unit"]) for row in odd["skipped"]} == {
        ("undecodable", "file"),
        ("too_large", "file"),
        ("symlink", "file"),
        ("ignored", "file"),
        ("heading_only", "section"),
        ("dynamic_cutoff", "section"),
    }
    absent = odd["terms"][1]
    assert (absent["term"], absent["sections"]) == ("対照外", 0)
    assert "対象外" in absent["near"]


def test_without_extras_the_shape_is_the_contracts_alone(workspace: Path) -> None:
    with Fumishirube(workspace, FUMISHIRUBE_SURFACE_EXTRAS="none") as server:
        server.ok("manual_ls")
        answer = found(server)
        assert answer.keys() == {
            "trace_id",
            "candidates",
            "status",
            "failure_reason",
            "next_actions",
            "inline_hits",
        }
        row = answer["inline_hits"]["items"][0]
        assert row.keys() == {"ref", "title", "score", "matched_tokens"}
        (row, *_) = server.ok("manual_hits", trace_id=answer["trace_id"])["items"]
        assert row.keys() == {"ref", "score", "matched_tokens"}


@pytest.mark.parametrize(
    ("asked", "limit"),
    [
        (None, 5),
        ({}, 5),
        ({"limit": None}, 5),
        *(({"limit": number}, number) for number in range(1, 6)),
        ({"limit": 6}, 5),
        ({"limit": 10**30}, 5),
        ('{"limit": 2}', 2),
    ],
)
def test_inline_hits_are_one_to_five(server: Fumishirube, asked: Any, limit: int) -> None:
    answer = found(server, manual_id="wide", query="対象", inline_hits=asked)
    assert answer["inline_hits"]["limit"] == limit
    assert len(answer["inline_hits"]["items"]) == limit
    assert answer["inline_hits"]["total"] == answer["candidates"] == 50


def test_inline_hits_are_the_first_page_of_integrated_top(server: Fumishirube) -> None:
    answer = found(server, manual_id="odd")
    page = server.ok("manual_hits", trace_id=answer["trace_id"], kind="integrated_top", limit=5)
    assert page == answer["inline_hits"]


@pytest.mark.parametrize(
    ("terms", "status", "reason"),
    [
        (["対象外"], "required_effective", None),
        ([" 対象外 ", "対象外", "例外"], "required_effective", None),
        (
            ["海外旅行"],
            "required_none_matched",
            "required_terms_not_found_in_manual_scope:海外旅行",
        ),
        (
            ["対象外", "海外旅行"],
            "term_dropped_or_weakened",
            "some_required_terms_not_found_in_manual_scope:海外旅行",
        ),
    ],
)
def test_the_status_says_what_the_required_terms_did(
    server: Fumishirube, terms: list[str], status: str, reason: str | None
) -> None:
    answer = found(server, required_terms=terms)
    assert (answer["status"], answer["failure_reason"]) == (status, reason)
    assert answer["inline_hits"]["items"][0]["ref"]["start_line"] == 3


def test_a_search_without_a_match_says_so_and_leaves_a_gap(server: Fumishirube) -> None:
    answer = found(server, query="zebra", required_terms=["zebra"])
    assert answer["candidates"] == 0
    assert answer["inline_hits"]["items"] == []
    gaps = server.ok("manual_hits", trace_id=answer["trace_id"], kind="gaps")
    assert gaps["total"] == len(gaps["items"]) >= 1
    assert all(gap["gap_hint"] for gap in gaps["items"])


def test_a_search_stays_in_its_manual(server: Fumishirube) -> None:
    for expand in (None, True, False):
        answer = found(server, query="別の規程", expand_scope=expand)
        page = server.ok("manual_hits", trace_id=answer["trace_id"], kind="integrated_top")
        assert {item["ref"]["manual_id"] for item in page["items"]} <= {"m1"}


def test_options_that_change_nothing_here_change_nothing(server: Fumishirube) -> None:
    plain = found(server)["inline_hits"]["items"]
    for options in (
        {"include_claim_graph": True},
        {"use_cache": False},
        {"use_cache": True},
        {"budget": {"max_candidates": None, "time_ms": None}},
        {"only_unscanned_from_trace_id": None},
    ):
        answer = found(server, **options)
        assert answer["inline_hits"]["items"] == plain
        assert "claim_graph" not in answer
        assert answer["next_actions"] == []


def test_fewer_candidates_are_the_first_of_more(server: Fumishirube) -> None:
    def rows(most: int) -> list[Any]:
        answer = found(server, manual_id="odd", budget={"max_candidates": most})
        hits: dict[str, Any] = server.ok("manual_hits", trace_id=answer["trace_id"])
        assert hits["total"] == answer["candidates"] <= most
        return list(hits["items"])

    everything = rows(200)
    assert len(everything) > 2
    assert rows(2) == everything[:2]
    assert rows(1) == everything[:1]


def test_a_follow_up_leaves_out_what_was_returned(server: Fumishirube) -> None:
    asked: dict[str, Any] = {"query": "対象", "required_terms": ["対象"]}
    first = found(server, **asked, budget={"max_candidates": 1})
    second = found(server, **asked, only_unscanned_from_trace_id=f" {first['trace_id']} ")
    third = found(server, **asked, only_unscanned_from_trace_id=second["trace_id"])
    lines = [
        [item["ref"]["start_line"] for item in answer["inline_hits"]["items"]]
        for answer in (first, second, third)
    ]
    assert lines == [[1], [3], []]
    assert third["candidates"] == 0


# --- manual_hits ----------------------------------------------------------------------------


def test_candidates_are_the_default_and_name_the_manual_once(server: Fumishirube) -> None:
    trace_id = found(server)["trace_id"]
    answer = server.ok("manual_hits", trace_id=f" {trace_id} ", limit=1)
    (item,) = answer["items"]
    assert CITE.fullmatch(item["cite"])
    assert answer == {
        "trace_id": trace_id,
        "kind": "candidates",
        "offset": 0,
        "limit": 1,
        "total": 2,
        "manual_id": "m1",
        "items": [item],
    }
    assert {name: value for name, value in item.items() if name not in ROW_EXTRAS} == {
        "ref": {"path": "rules.md", "start_line": 3},
        "score": item["score"],
        "matched_tokens": ["対象外"],
    }


def test_an_unknown_trace_is_named(server: Fumishirube) -> None:
    assert server.refused("manual_hits", trace_id="nope") == {
        "code": "not_found",
        "message": "trace is unknown or expired",
        "details": {"trace_id": "nope"},
    }


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_paged(server: Fumishirube, kind: str) -> None:
    trace_id = found(server, manual_id="odd", required_terms=["対象外", "zebra"])["trace_id"]
    whole = server.ok("manual_hits", trace_id=trace_id, kind=kind)
    assert (whole["kind"], whole["offset"], whole["limit"]) == (kind, 0, 50)
    assert whole["total"] == len(whole["items"])
    assert ("manual_id" in whole) == (kind == "candidates")
    single: list[Any] = []
    for offset in range(whole["total"]):
        page = server.ok("manual_hits", trace_id=trace_id, kind=kind, offset=offset, limit=1)
        assert (page["offset"], page["limit"], page["total"]) == (offset, 1, whole["total"])
        single += page["items"]
    assert single == whole["items"]
    past = server.ok("manual_hits", trace_id=trace_id, kind=kind, offset=whole["total"] + 7)
    assert (past["items"], past["total"]) == ([], whole["total"])


def test_claims_and_conflicts_are_empty_here(server: Fumishirube) -> None:
    trace_id = found(server)["trace_id"]
    for kind in ("claims", "evidences", "edges", "conflicts"):
        page = server.ok("manual_hits", trace_id=trace_id, kind=kind)
        assert (page["items"], page["total"]) == ([], 0)


def test_files_that_cannot_be_searched_are_told_as_unscanned(server: Fumishirube) -> None:
    trace_id = found(server, manual_id="odd")["trace_id"]
    items = server.ok("manual_hits", trace_id=trace_id, kind="unscanned")["items"]
    whole = {(i["path"], i["reason"]) for i in items if i["start_line"] is None}
    assert whole == {
        ("broken.json", "undecodable"),
        ("broken.md", "undecodable"),
        ("huge.md", "too_large"),
    }
    assert {item["manual_id"] for item in items} == {"odd"}


def test_both_gates_are_told_with_one_selected(server: Fumishirube) -> None:
    items = server.ok("manual_hits", trace_id=found(server)["trace_id"], kind="gate_runs")["items"]
    assert [item["gate"] for item in items] == ["g0", "g_req"]
    assert [item["selected"] for item in items] == [False, True]
    assert [item["required_terms"] for item in items] == [[], ["対象外"]]


@pytest.mark.parametrize(("term", "kept"), [("zebra", ["zebra"]), ("対象", [])])
def test_both_gates_are_told_even_when_one_brought_nothing(
    server: Fumishirube, term: str, kept: list[str]
) -> None:
    manual = "wide" if not kept else "m1"
    trace_id = found(server, manual_id=manual, query="対象", required_terms=[term])["trace_id"]
    free, required = server.ok("manual_hits", trace_id=trace_id, kind="gate_runs")["items"]
    assert (free["gate"], free["selected"]) == ("g0", True)
    assert required == {
        **required,
        "gate": "g_req",
        "required_terms": kept,
        "candidates_count": 0,
        "file_bias_ratio": 0.0,
        "top_score": 0.0,
        "selected": False,
    }


def test_matched_tokens_are_the_longest_and_each_once(server: Fumishirube) -> None:
    asked = {"query": "対象外者と被対象者と対象外の違い", "required_terms": ["対象外"]}
    for item in found(server, **asked)["inline_hits"]["items"]:
        spans = item["matched_tokens"]
        assert spans
        assert len(spans) == len(set(spans))
        assert not any(one in other for one in spans for other in spans if one != other)


def test_a_long_page_of_hits_ends_early_and_says_how_many_it_holds(server: Fumishirube) -> None:
    rows: list[Any] = []
    asked = {"trace_id": found(server, manual_id="wide", query="対象")["trace_id"]}
    while True:
        page = server.ok("manual_hits", **asked, kind="fusion_debug", offset=len(rows), limit=1000)
        assert len(json.dumps(page, ensure_ascii=False)) < 50_000
        rows += page["items"]
        if len(rows) == page["total"]:
            break
        assert page["limit"] == len(page["items"]) < 1000
    assert [row["rank"] for row in rows] == list(range(1, 51))


@pytest.mark.parametrize(("asked", "applied"), [(1000, 1000), (1001, 1000), (10**30, 1000)])
def test_a_limit_is_applied_up_to_a_thousand(server: Fumishirube, asked: int, applied: int) -> None:
    assert server.ok("manual_hits", trace_id=found(server)["trace_id"], limit=asked)["limit"] == (
        applied
    )


def test_an_offset_that_no_number_holds_gives_an_empty_page(server: Fumishirube) -> None:
    page = server.ok("manual_hits", trace_id=found(server)["trace_id"], offset=10**30)
    assert (page["items"], page["total"]) == ([], 2)


def test_traces_are_shared_by_nobody_who_cannot_name_them(server: Fumishirube) -> None:
    assert found(server)["trace_id"] != found(server)["trace_id"]


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


def test_the_same_section_again_goes_on_after_it(newcomer: Fumishirube) -> None:
    body = "".join(f"第{number}行の本文です。\n" for number in range(60))
    text = f"# 一\n{body}## 二\n{body}# 三\n{body}"
    write(newcomer.workspace / "manuals/m2/long.md", text)
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
    write(newcomer.workspace / "manuals/m2/cut.md", text)
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
    write(server.workspace / "manuals/m2/page.md", text)
    page = server.ok("manual_scan", manual_id="m2", path="page.md", max_chars=256)
    assert page["text"] == text[:256]
    assert (page["eof"], page["truncated"], page["truncated_reason"]) == (False, True, "max_chars")
    assert page["next_cursor"] == {"char_offset": 256}
    assert page["applied_range"] == {"start_line": 1, "end_line": 1 + text[:255].count("\n")}


def test_the_default_page_of_a_scan_can_be_configured(workspace: Path) -> None:
    with Fumishirube(workspace, SCAN_MAX_CHARS="300") as server:
        server.ok("manual_ls")
        answer = server.ok("manual_scan", manual_id="odd", path="sub/inner.md")
        assert answer["applied"] == {"max_chars": 300}


# --- any arguments at all -------------------------------------------------------------------

TEXTS = st.text(st.characters(), max_size=12)
NUMBERS = st.integers(-3, 300) | st.integers() | st.sampled_from([2**53, 10**30, 10**400])
JUNK = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
IDS = st.sampled_from(["m1", "m2", "odd", "wide", GUIDE, decomposed(GUIDE), "manuals", "linked"])
NAMES = ["rules.md", "sub", "sub/inner.md", "policy.json", "UPPER.MD", "broken.md", "plain.md"]
SOME_PATHS = st.sampled_from([*NAMES, "huge.md", "link.md", "../m1/rules.md", ".hidden.md"])
WORDS = st.sampled_from(
    ["対象外", "対象", "例外", "参照", "別表", "外", "text", "E-104", "・", "違い"]
)
QUERIES = st.lists(WORDS | TEXTS, max_size=4).map("".join) | st.just("対象と例外の違い")
CURSORS = (
    NUMBERS
    | NUMBERS.map(str)
    | st.fixed_dictionaries({}, optional={"offset": NUMBERS})
    | st.fixed_dictionaries({}, optional={"start_line": NUMBERS, "char_offset": NUMBERS})
)
LIKELY: dict[str, st.SearchStrategy[Any]] = {
    "id": IDS | st.sampled_from([f"dir::odd::{coded('sub')}", "dir::odd::eA", "file::m1::eA"]),
    "manual_id": IDS,
    "path": SOME_PATHS,
    "path_prefix": SOME_PATHS,
    "ref": st.fixed_dictionaries(
        {"manual_id": IDS, "path": SOME_PATHS}, optional={"start_line": NUMBERS, "x": JUNK}
    ),
    "max_files": NUMBERS,
    "max_headings_per_file": NUMBERS,
    "cursor": CURSORS,
    "depth": st.sampled_from(["shallow", "deep"]),
    "query": QUERIES,
    "required_terms": st.lists(WORDS | TEXTS, max_size=3),
    "expand_scope": st.booleans(),
    "include_claim_graph": st.booleans(),
    "use_cache": st.booleans(),
    "budget": st.fixed_dictionaries({}, optional={"max_candidates": NUMBERS, "time_ms": NUMBERS}),
    "inline_hits": st.fixed_dictionaries({}, optional={"limit": NUMBERS}),
    "only_unscanned_from_trace_id": st.sampled_from(["<m1>", "<m2>", "0" * 32]),
    "trace_id": st.sampled_from(["<m1>", "<m2>", "0" * 32]),
    "kind": st.sampled_from(KINDS),
    "offset": NUMBERS,
    "limit": NUMBERS,
    "scope": st.just("section"),
    "max_chars": st.integers(200, 51_000),
    "start_line": NUMBERS,
}


@st.composite
def any_arguments(draw: st.DrawFn, tool: str) -> Any:
    """Draw arguments that are mostly right, so that what is wrong with them is met deep inside."""
    arguments = {
        name: draw(LIKELY[name])
        for name in TOOLS[tool]
        if name in GOOD[tool] or draw(st.integers(0, 3)) == 0
    }
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        arguments[draw(st.sampled_from(TOOLS[tool]) | TEXTS)] = draw(JUNK)
    return arguments


@pytest.fixture(scope="module")
def fuzzed(wire: Wire) -> tuple[Wire, dict[str, Draft202012Validator], dict[str, str]]:
    listed = wire.request("tools/list", {})["result"]["tools"]
    validators = {tool["name"]: Draft202012Validator(tool["outputSchema"]) for tool in listed}
    traces = {
        f"<{manual}>": wire.ok("manual_find", **(FIND | {"manual_id": manual}))["trace_id"]
        for manual in ("m1", "m2")
    }
    return wire, validators, traces


@pytest.mark.parametrize("tool", TOOLS)
def test_any_arguments_get_a_valid_answer_or_a_coded_refusal(
    fuzzed: tuple[Wire, dict[str, Draft202012Validator], dict[str, str]], tool: str
) -> None:
    wire, validators, traces = fuzzed

    @settings(max_examples=examples(80), deadline=None, suppress_health_check=list(HealthCheck))
    @given(any_arguments(tool))
    def holds(arguments: dict[str, Any]) -> None:
        for name in ("trace_id", "only_unscanned_from_trace_id"):
            if isinstance(arguments.get(name), str):
                arguments[name] = traces.get(arguments[name], arguments[name])
        answer = wire.call(tool, arguments)
        if not answer.is_error:
            validators[tool].validate(answer.payload)
        wire.ping()

    holds()
