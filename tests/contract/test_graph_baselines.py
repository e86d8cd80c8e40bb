"""Baselines of documents' sources are never lost or replaced without a word."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import stdio
from documents import call_named, docs, docs_json, documents, graph
from manuals import fumishirube

from fumishirube import ToolError

FILE = ".fumishirube/docs-baseline.json"
TEXT = "---\nsource_refs: [src.py]\n---\n# Page\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return a workspace with two documents, whose source has changed since."""
    documents(tmp_path, {"a.md": TEXT, "b.md": TEXT})
    (tmp_path / "src.py").write_text("a")
    docs("index", cwd=tmp_path)
    (tmp_path / "src.py").write_text("b")
    assert docs("stale", "--exit-code", cwd=tmp_path).code == 1
    return tmp_path


def codes(answer: Any) -> list[str]:
    return [warning["code"] for warning in answer["warnings"] if warning["filepath"] == FILE]


def conflict(text: str) -> str:
    return f"<<<<<<< HEAD\n{text}=======\n{text}>>>>>>> other\n"


def without_hash(text: str) -> str:
    rows = json.loads(text)
    del rows["documents"]["a.md"]["sources"]
    return json.dumps(rows)


@pytest.mark.slow
@pytest.mark.many_cases
@pytest.mark.parametrize(
    "damage",
    [
        conflict,
        without_hash,
        lambda text: text[:99],
        lambda text: text.replace('"version": 1', '"version": 2'),
        lambda _: "",
        lambda _: "[" * 100_000,
        lambda _: "{}",
    ],
    ids=["conflict", "row", "cut", "version", "empty", "nested", "nothing"],
)
def test_a_damaged_file_is_reported_and_stays(
    workspace: Path, damage: Callable[[str], str]
) -> None:
    file = workspace / FILE
    whole = file.read_text()
    file.write_text(damage(whole))
    for words in (("stale", "--exit-code"), ("stale", "--ack", "all")):
        refused = docs(*words, "--json", cwd=workspace)
        assert (refused.code, refused.json["details"]["reason"]) == (3, "baselines")
        assert FILE in refused.json["message"]
    for command in ("index", "reindex", "status"):
        assert codes(docs_json(command, cwd=workspace)) == ["baselines_damaged"]
    assert docs_json("status", cwd=workspace)["staleness"]["untracked"] == 2
    page = docs_json("get-page", "a.md", cwd=workspace)
    assert page["staleness"] == "untracked"
    assert FILE in page["warnings"][0]
    assert FILE in docs_json("search", "page", cwd=workspace)["warnings"][0]
    assert file.read_text() == damage(whole)
    file.write_text(whole)
    assert docs("stale", "--exit-code", cwd=workspace).code == 1
    assert not codes(docs_json("status", cwd=workspace))


def test_a_file_damaged_while_it_is_served_is_reported_and_stays(workspace: Path) -> None:
    (workspace / "fumishirube.yaml").write_text("surfaces: [{use: graph}]\n")
    with stdio.Wire(workspace) as server:
        assert server.ok("ubp_get_page", filepath="a.md")["staleness"] == "possibly_stale"
        (workspace / FILE).write_text("<<<<<<<")
        documents(workspace, {"c.md": TEXT})
        page = server.ok("ubp_get_page", filepath="a.md")
        assert FILE in page["warnings"][0]
    assert FILE in fumishirube("doctor", cwd=workspace).out
    assert (workspace / FILE).read_text() == "<<<<<<<"


def _locked(workspace: Path) -> None:
    """Put a link in the place of the baselines, through which nothing is read or written."""
    shutil.move(workspace / FILE, workspace / "elsewhere.json")
    (workspace / FILE).symlink_to(workspace / "elsewhere.json")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege")
def test_without_a_file_that_can_be_written_documents_are_read_all_the_same(
    workspace: Path,
) -> None:
    _locked(workspace)
    documents(workspace, {"c.md": TEXT})
    found = docs_json("search", "page", cwd=workspace)
    assert len(found["results"]) == 3
    assert FILE in found["warnings"][0]
    assert "cannot be written" in docs("get-page", "c.md", cwd=workspace).err
    assert docs("check", cwd=workspace).code == 0
    assert codes(docs_json("status", cwd=workspace)) == ["baselines_unwritable"]
    assert docs_json("suggest-links", cwd=workspace)["total"] == 3
    for words in (("index",), ("stale",)):
        refused = docs(*words, "--json", cwd=workspace)
        assert (refused.code, refused.json["details"]["reason"]) == (3, "baselines")
        assert refused.json["message"].startswith(f"{FILE}: ")
        assert "links are not followed" in refused.json["message"]
    (workspace / FILE).unlink()
    shutil.move(workspace / "elsewhere.json", workspace / FILE)
    assert "warnings" not in docs_json("search", "page", cwd=workspace)
    assert docs_json("stale", cwd=workspace)["total"] == 2


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege")
def test_baselines_that_cannot_be_written_cost_one_line_of_the_log(
    workspace: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _locked(workspace)
    application = graph(workspace)
    for number in range(3):
        documents(workspace, {f"new{number}.md": TEXT})
        with pytest.raises(ToolError, match="cannot be written"):
            call_named(application, "docs_index")
    page = call_named(application, "ubp_get_page", filepath="new2.md")
    assert FILE in page["warnings"][0]
    application.close()
    assert caplog.text.count("cannot be written") == 1


def test_baselines_that_are_new_are_reported(workspace: Path) -> None:
    assert not codes(docs_json("index", cwd=workspace))
    (workspace / FILE).unlink()
    done = docs("stale", cwd=workspace)
    assert done.code == 0
    assert FILE in done.err
    assert not docs("stale", cwd=workspace).err
    shutil.rmtree(workspace / ".fumishirube")
    assert codes(docs_json("index", cwd=workspace)) == ["baselines_new"]


@pytest.mark.parametrize("words", [("list-pages",), ("index",), ("search", "page")])
def test_baselines_that_another_command_made_are_reported_once(
    workspace: Path, words: tuple[str, ...]
) -> None:
    whole = (workspace / FILE).read_text()
    (workspace / FILE).unlink()
    docs(*words, cwd=workspace)
    done = docs("stale", "--exit-code", cwd=workspace)
    assert done.code == 0
    assert "so all sources count as unchanged" in done.err
    assert not docs("stale", "--exit-code", cwd=workspace).err
    assert json.loads((workspace / FILE).read_text()).keys() == json.loads(whole).keys()


def test_documents_without_sources_need_no_baselines(tmp_path: Path) -> None:
    documents(tmp_path, {"a.md": "# Page\n"})
    assert docs_json("index", cwd=tmp_path)["warnings"] == []
    assert not (tmp_path / FILE).exists()


def test_a_new_index_of_one_file_keeps_the_other_baselines(workspace: Path) -> None:
    shutil.rmtree(workspace / ".fumishirube" / "index")
    docs("index", "--file", "a.md", cwd=workspace)
    assert docs_json("stale", cwd=workspace)["total"] == 2


def test_a_document_that_cannot_be_read_for_a_while_keeps_its_baselines(workspace: Path) -> None:
    documents(workspace, {"a.md": "x" * (9 << 20)})
    assert docs_json("stale", cwd=workspace)["total"] == 1
    documents(workspace, {"a.md": TEXT})
    assert docs_json("stale", cwd=workspace)["total"] == 2
    (workspace / "docs" / "a.md").unlink()
    docs("index", cwd=workspace)
    documents(workspace, {"a.md": TEXT})
    assert docs_json("stale", cwd=workspace)["total"] == 1, "another document of the same name"
