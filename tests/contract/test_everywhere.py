"""One search over several manuals, or all, and over a part of one: asked over a connection."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from manuals import write
from stdio import Fumishirube

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.filterwarnings("ignore:ping is removed"),
]

FILES = {
    "leave/rules.md": "# 休暇\n有給休暇は20日です。\n## 特例\n育児のときは在宅勤務を認めます。\n",
    "leave/old/rules.md": "# 旧規程\n有給休暇は年に10日でした。\n",
    "pay/rates.md": "# 手当\n在宅勤務には手当を出します。\n",
    "travel/trips.md": "# 出張\n出張の精算は月末です。\n",
}
IDS = ["leave", "pay", "travel"]


def found(answer: dict[str, Any]) -> list[tuple[str, str, int]]:
    refs = [item["ref"] for item in answer["inline_hits"]["items"]]
    return [(ref["manual_id"], ref["path"], ref["start_line"]) for ref in refs]


def search_arguments(manual_id: Any, query: str = "在宅勤務の手当", **more: Any) -> dict[str, Any]:
    terms = more.pop("required_terms", ["在宅勤務"])
    return {"query": query, "manual_id": manual_id, "required_terms": terms, **more}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("everywhere"), FILES)


@pytest.fixture
def server(workspace: Path) -> Iterator[Fumishirube]:
    with Fumishirube(workspace) as client:
        yield client


def test_the_first_call_may_search_everywhere_and_then_ids_may_be_used(
    server: Fumishirube,
) -> None:
    refused = server.refused("manual_find", **search_arguments("leave"))
    assert refused["details"] == {"required_first_call": "manual_ls"}
    answer = server.ok("manual_find", **search_arguments("*"))
    assert answer["manuals"] == IDS
    assert found(answer) == [("pay", "rates.md", 1), ("leave", "rules.md", 3)]
    ref = answer["inline_hits"]["items"][0]["ref"]
    assert "在宅勤務には手当" in server.ok("manual_read", ref=ref)["text"]
    assert server.ok("manual_find", **search_arguments("leave"))["candidates"] == 1


def test_a_search_that_fails_discovers_nothing(server: Fumishirube) -> None:
    server.refused("manual_find", **search_arguments("*", query=" "))
    server.refused("manual_find", **search_arguments("*", path_prefix="absent"))
    refused = server.refused("manual_read", ref={"manual_id": "leave", "path": "rules.md"})
    assert refused["details"] == {"required_first_call": "manual_ls"}


@pytest.mark.parametrize("tool", ["manual_toc", "manual_scan", "manual_read"])
def test_other_tools_take_one_manual(server: Fumishirube, tool: str) -> None:
    server.ok("manual_ls")
    place = {"manual_id": "*", "path": "rules.md"}
    arguments = {
        "manual_toc": {"manual_id": "*"},
        "manual_scan": place,
        "manual_read": {"ref": place},
    }[tool]
    assert server.refused(tool, **arguments)["code"] == "not_found"


def test_several_ids_search_those_and_a_manual_named_twice_counts_once(
    server: Fumishirube,
) -> None:
    server.ok("manual_ls")
    answer = server.ok("manual_find", **search_arguments(["leave", "travel", "leave"]))
    assert answer["manuals"] == ["leave", "travel"]
    assert found(answer) == [("leave", "rules.md", 3)]
    alone = server.ok("manual_find", **search_arguments(["leave", "leave"]))
    assert "manuals" not in alone
    assert found(alone) == [("leave", "rules.md", 3)]


def test_an_unknown_id_is_named_with_those_that_there_are(server: Fumishirube) -> None:
    server.ok("manual_ls")
    refused = server.refused("manual_find", **search_arguments(["leave", "absent"]))
    assert refused["code"] == "not_found"
    assert "absent" in refused["message"]
    assert refused["details"] == {"manual_id": "absent", "candidate_ids": IDS}


@pytest.mark.parametrize("manual_id", [[], [""], ["a/b"], [5], {"id": "leave"}, ["leave", ".."]])
def test_what_names_no_manual_is_refused(server: Fumishirube, manual_id: Any) -> None:
    server.ok("manual_ls")
    refused = server.refused("manual_find", **search_arguments(manual_id))
    assert refused["code"] == "invalid_parameter"
    assert refused["details"]["parameter"].startswith("manual_id")


def test_every_kind_of_row_says_which_manual_it_is_of(server: Fumishirube) -> None:
    trace_id = server.ok("manual_find", **search_arguments("*", include_claim_graph=True))[
        "trace_id"
    ]
    page = server.ok("manual_hits", trace_id=trace_id)
    assert "manual_id" not in page
    places = [("pay", "rates.md"), ("leave", "rules.md")]
    assert [(item["ref"]["manual_id"], item["ref"]["path"]) for item in page["items"]] == places
    for kind in ("integrated_top", "fusion_debug", "evidences"):
        rows = server.ok("manual_hits", trace_id=trace_id, kind=kind)["items"]
        assert {(row["ref"]["manual_id"], row["ref"]["path"]) for row in rows} == {*places}, kind


def test_what_was_not_returned_says_which_manual_it_is_of(server: Fumishirube) -> None:
    answer = server.ok("manual_find", **search_arguments("*", budget={"max_candidates": 1}))
    rows = server.ok("manual_hits", trace_id=answer["trace_id"], kind="unscanned")["items"]
    assert rows == [
        {
            "manual_id": "leave",
            "path": "rules.md",
            "start_line": 3,
            "reason": "candidate_cap",
        }
    ]


def test_a_follow_up_leaves_out_what_was_returned_and_read_in_each_manual(
    server: Fumishirube,
) -> None:
    first = server.ok("manual_find", **search_arguments("*", budget={"max_candidates": 1}))
    assert found(first) == [("pay", "rates.md", 1)]
    again = search_arguments("*", only_unscanned_from_trace_id=first["trace_id"])
    assert found(server.ok("manual_find", **again)) == [("leave", "rules.md", 3)]
    server.ok("manual_read", ref={"manual_id": "leave", "path": "rules.md", "start_line": 3})
    assert found(server.ok("manual_find", **again)) == []


def test_a_follow_up_is_of_the_same_manuals(server: Fumishirube) -> None:
    def follow_up(manual_id: Any, trace_id: str) -> str:
        more = {"only_unscanned_from_trace_id": trace_id}
        refused = server.refused("manual_find", **search_arguments(manual_id, **more))
        assert refused["code"] == "invalid_parameter"
        assert refused["details"]["parameter"] == "only_unscanned_from_trace_id"
        return str(refused["message"])

    everywhere = server.ok("manual_find", **search_arguments("*"))["trace_id"]
    assert '"*" again' in follow_up("leave", everywhere)
    assert '"*" again' in follow_up(IDS, everywhere)
    several = server.ok("manual_find", **search_arguments(["pay", "leave"]))["trace_id"]
    assert "leave, pay" in follow_up("*", several)
    assert "leave, pay" in follow_up(["leave", "travel"], several)
    one = server.ok("manual_find", **search_arguments("pay"))["trace_id"]
    assert "of another manual: pay" in follow_up("*", one)
    same = search_arguments(["leave", "pay"], only_unscanned_from_trace_id=several)
    assert found(server.ok("manual_find", **same)) == []


def test_a_kept_answer_is_given_for_the_same_manuals_only(server: Fumishirube) -> None:
    for manual_id in ("*", ["leave", "pay"], ["leave", "travel"], "leave"):
        first, second = (
            server.ok("manual_find", **search_arguments(manual_id, "休暇の特例", use_cache=True))
            for _ in range(2)
        )
        assert found(first) == found(second)
        assert first.get("manuals") == second.get("manuals")
    others = found(server.ok("manual_find", **search_arguments(["pay", "travel"], "休暇の特例")))
    assert others == [("pay", "rates.md", 1)]


def test_a_manual_whose_index_cannot_be_opened_is_named_and_the_others_answer(
    tmp_path: Path,
) -> None:
    write(tmp_path, FILES)
    blocked = tmp_path / ".fumishirube" / "index"
    blocked.mkdir(parents=True)
    (blocked / "leave").write_text("no folder")
    _others_answer(tmp_path)


def _others_answer(workspace: Path) -> None:
    with Fumishirube(workspace) as server:
        answer = server.ok("manual_find", **search_arguments("*"))
        assert answer["manuals"] == ["pay", "travel"]
        assert found(answer) == [("pay", "rates.md", 1)]
        assert answer["degraded"].startswith("leave: not searched: ")
        assert str(workspace) not in answer["degraded"]


# --- below a path ---------------------------------------------------------------------------


@pytest.fixture
def accounting(workspace: Path) -> Iterator[Fumishirube]:
    """A server whose answers tell how far they went."""
    extras = "everywhere,path_prefix,coverage"
    with Fumishirube(workspace, FUMISHIRUBE_SURFACE_EXTRAS=extras) as client:
        yield client


def test_only_files_below_the_path_are_searched(accounting: Fumishirube) -> None:
    server = accounting
    server.ok("manual_ls")
    leave = search_arguments("leave", "有給休暇の日数", required_terms=["有給休暇"])
    whole = server.ok("manual_find", **leave)
    assert {("leave", "old/rules.md", 1), ("leave", "rules.md", 1)} <= {*found(whole)}
    part = server.ok("manual_find", **leave, path_prefix="old")
    assert found(part) == [("leave", "old/rules.md", 1)]
    assert part["coverage"]["scope"] == {"files": 1, "sections": 1}
    assert part["coverage"]["matched"] == 1
    assert part["coverage"]["terms"] == [{"term": "有給休暇", "sections": 1}]
    file = server.ok("manual_find", **leave, path_prefix="rules.md")
    assert {path for _, path, _ in found(file)} == {"rules.md"}
    assert found(server.ok("manual_find", **leave, path_prefix="  ")) == found(whole)


def test_a_path_is_looked_for_in_each_manual(accounting: Fumishirube) -> None:
    answer = accounting.ok("manual_find", **search_arguments("*", path_prefix="rules.md"))
    assert found(answer) == [("leave", "rules.md", 3)]
    assert answer["coverage"]["scope"]["files"] == 1


@pytest.mark.many_cases
@pytest.mark.parametrize(
    ("prefix", "files"),
    [
        ("ol*", ["old/rules.md"]),
        ("old/*", ["old/rules.md"]),
        ("old/ru*", ["old/rules.md"]),
        ("r*", ["rules.md"]),
        ("r", ["rules.md"]),
        ("old/r", ["old/rules.md"]),
        ("*", ["old/rules.md", "rules.md"]),
    ],
)
def test_a_path_of_no_file_or_one_with_a_star_means_every_path_that_begins_so(
    server: Fumishirube, prefix: str, files: list[str]
) -> None:
    server.ok("manual_ls")
    asked = search_arguments(
        "leave", "有給休暇の日数", required_terms=["有給休暇"], path_prefix=prefix
    )
    assert sorted({path for _, path, _ in found(server.ok("manual_find", **asked))}) == files
    lines = {"manual_id": "leave", "any": ["有給休暇"], "path_prefix": prefix, "count_only": True}
    counts = server.ok("manual_grep", **lines)["counts"]
    assert sorted(row["path"] for row in counts) == files
    if "*" in prefix:
        listed = server.ok("manual_toc", manual_id="leave", path_prefix=prefix)["items"]
        assert [row["path"] for row in listed] == files


def test_a_path_without_files_is_not_found(server: Fumishirube) -> None:
    server.ok("manual_ls")
    refused = server.refused("manual_find", **search_arguments("leave", path_prefix="odl"))
    assert refused["code"] == "not_found"
    assert refused["details"]["path"] == "odl"
    assert refused["message"].endswith("path_prefix; did you mean 'old'?")
    for tool, arguments in (
        ("manual_find", search_arguments("leave")),
        ("manual_grep", {"regex": "."}),
    ):
        arguments |= {"manual_id": "leave", "path_prefix": "old/ruels.md"}
        assert "did you mean 'old/rules.md'?" in server.refused(tool, **arguments)["message"]
        arguments["path_prefix"] = "elsewhere"
        assert "manual_ls and manual_toc" in server.refused(tool, **arguments)["message"]
    for path in ("../pay", "/etc", 5):
        code = server.refused("manual_find", **search_arguments("leave", path_prefix=path))["code"]
        assert code == "invalid_path"


def test_a_path_of_no_file_is_sought_in_every_folder(tmp_path: Path) -> None:
    texts = {"docs/a/api/x.md": 1, "docs/a/api/y.md": 2, "docs/b/api/x.md": 3, "docs/b/z.md": 4}
    write(tmp_path, {f"m/{path}": f"# Tap\n\nTap {n} drips.\n" for path, n in texts.items()})
    with Fumishirube(tmp_path) as server:
        server.ok("manual_ls")
        for prefix, files in (
            ("a/api", ["docs/a/api/x.md", "docs/a/api/y.md"]),
            ("api", ["docs/a/api/x.md", "docs/a/api/y.md", "docs/b/api/x.md"]),
            ("api/x", ["docs/a/api/x.md", "docs/b/api/x.md"]),
            ("api/x*", ["docs/a/api/x.md", "docs/b/api/x.md"]),
            ("z.md", ["docs/b/z.md"]),
            ("b", ["docs/b/api/x.md", "docs/b/z.md"]),
            ("!docs/a", ["docs/b/api/x.md", "docs/b/z.md"]),
            ("!api", ["docs/b/z.md"]),
            ("! api/x.md", ["docs/a/api/y.md", "docs/b/z.md"]),
            ("docs/*/x.md", ["docs/a/api/x.md", "docs/b/api/x.md"]),
            ("docs/*api", ["docs/a/api/x.md", "docs/a/api/y.md", "docs/b/api/x.md"]),
            ("*y.md", ["docs/a/api/y.md"]),
            ("d*b/*z", ["docs/b/z.md"]),
            ("!docs/*/api", ["docs/b/z.md"]),
        ):
            lines = {"manual_id": "m", "any": ["drips"], "path_prefix": prefix, "count_only": True}
            assert [row["path"] for row in server.ok("manual_grep", **lines)["counts"]] == files
            asked = search_arguments("m", "tap", required_terms=["drips"], path_prefix=prefix)
            paths = {path for _, path, _ in found(server.ok("manual_find", **asked))}
            assert sorted(paths) == files
        for prefix in ("pi", "api/x.", "docs/a/z.md", "docs/*/q*", "!pi", "!docs", "!*"):
            refused = server.refused("manual_grep", **lines | {"path_prefix": prefix})
            assert refused["code"] == "not_found"
        refused = server.refused("manual_grep", **lines | {"path_prefix": "!../m"})
        assert refused["code"] == "invalid_path"
        listed = server.ok("manual_toc", manual_id="m", path_prefix="!docs/a")["items"]
        assert [item["path"] for item in listed] == ["docs/b/api/x.md", "docs/b/z.md"]


def test_a_name_that_begins_with_the_mark_of_others_is_a_name(tmp_path: Path) -> None:
    paths = ["!Inbox/b.md", "Inbox/a.md", "c.md"]
    write(tmp_path, {f"m/{path}": f"# Tap\n\nTap {path} drips.\n" for path in paths})
    with Fumishirube(tmp_path) as server:
        server.ok("manual_ls")
        for prefix, files in (("!Inbox", paths[:1]), ("!!Inbox", paths[1:]), ("!c.md", paths[:2])):
            lines = {"manual_id": "m", "any": ["drips"], "path_prefix": prefix, "count_only": True}
            assert [row["path"] for row in server.ok("manual_grep", **lines)["counts"]] == files
            asked = search_arguments("m", "tap", required_terms=["drips"], path_prefix=prefix)
            assert {path for _, path, _ in found(server.ok("manual_find", **asked))} == {*files}


def test_a_path_without_a_suffix_is_a_page_and_the_folder_of_its_name(tmp_path: Path) -> None:
    paths = ["a/tap.md", "a/tap/parts.md", "a/taps.md", "a/tap-old.md", "a/tap.d/b.md"]
    write(tmp_path, {f"m/{path}": f"# Tap\n\nTap {path} drips.\n" for path in paths})
    with Fumishirube(tmp_path) as server:
        server.ok("manual_ls")
        lines = {"manual_id": "m", "any": ["drips"], "path_prefix": "a/tap", "count_only": True}
        counts = server.ok("manual_grep", **lines)["counts"]
        assert [row["path"] for row in counts] == ["a/tap.md", "a/tap/parts.md"]
        asked = search_arguments("m", "tap", required_terms=["drips"], path_prefix="a/tap")
        paths = {path for _, path, _ in found(server.ok("manual_find", **asked))}
        assert paths == {"a/tap.md", "a/tap/parts.md"}


# --- without the extras ---------------------------------------------------------------------


def test_without_extras_a_search_is_of_one_manual(workspace: Path) -> None:
    with Fumishirube(workspace, FUMISHIRUBE_SURFACE_EXTRAS="none") as server:
        properties = server.tools()["manual_find"].input_schema["properties"]
        assert properties["manual_id"]["type"] == "string"
        assert "path_prefix" not in properties
        first = server.refused("manual_find", **search_arguments("*"))
        assert first["details"] == {"required_first_call": "manual_ls"}
        server.ok("manual_ls")
        assert server.refused("manual_find", **search_arguments("*"))["code"] == "not_found"
        assert (
            server.refused("manual_find", **search_arguments(["leave"]))["code"]
            == "invalid_parameter"
        )
        prefixed = server.refused("manual_find", **search_arguments("leave", path_prefix="old"))
        assert prefixed["code"] == "invalid_parameter"
