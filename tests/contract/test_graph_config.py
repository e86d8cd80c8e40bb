"""Settings of the surface, and those that an earlier program left in the workspace."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from documents import call_named, documents, graph

from fumishirube.errors import ConfigError, ToolError


def left(workspace: Path, content: Any) -> Path:
    (workspace / ".ubp").mkdir()
    text = content if isinstance(content, str) else json.dumps(content)
    (workspace / ".ubp" / "config.json").write_text(text)
    return workspace


def test_an_earlier_configuration_supplies_what_the_file_leaves_unset(tmp_path: Path) -> None:
    documents(tmp_path, {f"p{n}.md": "x" for n in range(5)})
    (tmp_path / "notes").mkdir()
    (tmp_path / "docs").rename(tmp_path / "notes" / "texts")
    (tmp_path / "notes" / "texts" / "p0.txt").write_text("x")
    left(
        tmp_path,
        {
            "docs_dir": "notes/texts",
            "source": {"include": ["*.md", "*.txt"], "exclude": ["p4.md"], "other": 1},
            "search": {"alpha": 0.5, "default_limit": 2, "max_depth": 3},
            "staleness": {"threshold_days": 3},
            "embedding": {"model": "any"},
        },
    )
    application = graph(tmp_path)
    pages = call_named(application, "ubp_list_pages", sort="filepath")["pages"]
    assert [page["filepath"] for page in pages] == ["p0.md", "p0.txt", "p1.md", "p2.md", "p3.md"]
    for name in ("notes/texts/p0.md", "texts/p0.md", "./notes/texts/p0", "p0.md"):
        assert call_named(application, "ubp_get_page", filepath=name)["filepath"] == "p0.md"
    assert call_named(application, "docs_index", file="notes/texts/p0.txt")["documents"] == 5
    assert len(call_named(application, "ubp_search", query="x")["results"]) == 2
    assert call_named(application, "docs_stale")["threshold_days"] == 3
    (surface,) = application.surfaces
    assert surface.stages["fusers"][0].stage.alpha == 0.5
    application.close()


def test_the_file_goes_before_an_earlier_configuration(tmp_path: Path) -> None:
    documents(tmp_path, {"a.md": "x"})
    left(tmp_path, {"docs_dir": "elsewhere", "search": {"default_limit": 2, "alpha": 0.1}})
    (tmp_path / "fumishirube.yaml").write_text(
        "roots: {docs: docs}\n"
        "pipelines: {docs: {fusers: [{use: weighted-sum, with: {alpha: 0.9}}]}}\n"
        "surfaces: [{use: graph, with: {pipeline: docs, default_limit: 7}}]\n"
    )
    application = graph(tmp_path)
    assert call_named(application, "ubp_list_pages")["total"] == 1
    (surface,) = application.surfaces
    assert surface.stages["fusers"][0].stage.alpha == 0.9
    assert surface.surface.model_dump()["default_limit"] == 7
    application.close()


def test_a_workspace_that_is_the_folder_is_named_as_one(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x", encoding="utf-8")
    (tmp_path / "fumishirube.yaml").write_text("roots: {docs: .}\nsurfaces: [{use: graph}]\n")
    application = graph(tmp_path)
    for name in (f"{tmp_path.name}/a.md", "./a"):
        assert call_named(application, "ubp_get_page", filepath=name)["filepath"] == "a.md"
    application.close()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "not valid JSON"),
        ("[]", "the file: must be a JSON object$"),
        ({"search": None}, "search: must be a JSON object$"),
        ({"search": {"alpha": 2}}, r"search\.alpha"),
        ({"docs_dir": "../out"}, "parent segments"),
        ({"source": {"include": ["{a"]}}, r"loaders\[0\]"),
    ],
)
def test_what_cannot_be_used_stops_the_start(tmp_path: Path, content: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        graph(left(documents(tmp_path, {}), content))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"default_limit": 21}, "default_limit"),
        ({"max_depth": 0}, "max_depth"),
        ({"threshold_days": 3651}, "threshold_days"),
        ({"max_nodes": 0}, "max_nodes"),
        ({"pages": 1}, "there is no such setting"),
    ],
)
def test_settings_have_bounds(tmp_path: Path, settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        graph(documents(tmp_path, {}), **settings)


def test_bounds_page_lists_and_graphs(tmp_path: Path) -> None:
    documents(tmp_path, {f"p{n}.md": f"[[p{n + 1}]] [[p0]]" for n in range(7)})
    application = graph(tmp_path, page_size=3, max_nodes=2)
    whole = graph(documents(tmp_path, {}))
    everything = call_named(whole, "ubp_get_graph")
    nodes: list[Any] = []
    edges: list[Any] = []
    cursor: dict[str, Any] = {}
    for _ in range(4):
        part = call_named(application, "ubp_get_graph", **cursor)
        assert part["truncated"]
        assert (part["total_nodes"], part["total_edges"]) == (7, len(everything["edges"]))
        nodes += part["nodes"]
        edges += part["edges"]
        cursor = {"cursor": part["next_cursor"]} if "next_cursor" in part else {}
    assert cursor == {}
    assert nodes == everything["nodes"]
    assert sorted(map(str, edges)) == sorted(map(str, everything["edges"]))
    pages: list[Any] = []
    for _ in range(3):
        listed = call_named(application, "ubp_list_pages", order="desc", **cursor)
        assert listed["total"] == 7
        pages += [page["filepath"] for page in listed["pages"]]
        cursor = {"cursor": listed["next_cursor"]} if "next_cursor" in listed else {}
    assert pages == [f"p{n}.md" for n in reversed(range(7))]
    near = call_named(application, "ubp_get_graph", center="p0.md", depth=1)
    assert (len(near["nodes"]), near["truncated"]) == (2, True)
    around = call_named(application, "ubp_get_context", filepath="p0.md", depth=1)
    assert (len(around["related"]), around["truncated_count"], around["truncated"]) == (2, 0, True)
    assert "warnings" not in around
    application.close()
    whole.close()


def test_the_defaults_that_the_guide_shows_are_those_in_force(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "documents.md").read_text(encoding="utf-8")
    shown, *_ = re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL)
    documents(tmp_path, {"a.md": "x"})
    default = graph(tmp_path)
    (tmp_path / "fumishirube.yaml").write_text(shown, encoding="utf-8")
    written = graph(tmp_path)
    for one in ("loaders", "tokenizers", "embedders", "indexes", "scorers", "fusers", "refiners"):
        assert written.surfaces[0].stages[one] == default.surfaces[0].stages[one]
    assert written.surfaces[0].surface == default.surfaces[0].surface
    default.close()
    written.close()


@pytest.mark.parametrize("file", ["../outside.json", "/tmp/outside.json", ".."])
def test_baselines_stay_in_the_workspace(tmp_path: Path, file: str) -> None:
    with pytest.raises(ConfigError, match=r"baseline_file.*below the workspace"):
        graph(documents(tmp_path, {}), baseline_file=file)


def test_baselines_that_cannot_be_written_are_told(tmp_path: Path) -> None:
    documents(tmp_path, {"a.md": "---\nsource_refs: [x.py]\n---\n# A\n"})
    (tmp_path / "taken").mkdir()
    application = graph(tmp_path, baseline_file="taken")
    with pytest.raises(ToolError, match="baseline_file") as raised:
        call_named(application, "docs_index")
    application.close()
    assert raised.value.payload()["details"] == {"reason": "baselines"}
    assert [*(tmp_path / "taken").parent.glob(".taken*")] == []
