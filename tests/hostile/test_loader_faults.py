"""A loader that begins to fail after everything was indexed costs the files it fails on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import stdio
from chapter_manuals import NAME, SURFACE, entry, made
from documents import documents
from manuals import fumishirube, stranger, write

LOADER = """
from pathlib import Path
from typing import ClassVar

from fumishirube import Document, Link, Section, Source, Stage, hook

class Late(Stage):
    # Reads .late files, and fails as the file beside them says.

    def sources(self, root):
        if self._mode(root) == "sources":
            raise RuntimeError("the loader has no list today")
        if self._mode(root) == "absent":
            root.read_bytes("absent.json")
        if self._mode(root) == "outside":
            outside = [Source("../n/x.late"), Source("/etc/hosts"), Source("")]
            return [*outside, Source("./a.late"), Source("a.late"), Source("b.late")]
        if self._mode(root) == "ungoverned":
            return [Source("a.late", None)]
        return [Source(e.path) for e in root.files() if e.path.endswith(".late")]

    def load(self, root, source):
        mode = self._mode(root)
        if mode == "raise":
            raise RuntimeError("the loader cannot read any more")
        if mode == "exit":
            raise SystemExit(3)
        if mode == "nothing":
            return None
        text = root.read_bytes(source.path).decode()
        lines = text.count("\\n") + 1
        section = Section("late", 1, lines, 0, len(text), len(text), 0)
        document = Document(source.path, "late", text, (section,))
        return eval(mode) if mode.startswith("document") else document

    load_with_links = load

    def _mode(self, root):
        mode = root.path / "mode"
        return mode.read_text().strip() if mode.exists() else ""

@hook
def register_loaders(register):
    register("late", Late)
"""

CONFIG = """\
version: 1
surfaces: [{use: manual}, {use: graph}]
pipelines:
  manual: {loaders: [{use: markdown}, {use: late}]}
  docs: {loaders: [{use: late}]}
"""
FILES = {"a.late": "旅費の規程", "b.late": "旅費の例外", "c.md": "# 旅費\n出張の旅費。\n"}
FAULTS = ("raise", "exit", "nothing")
CHANGED = (
    "path='a.late'",
    "path='../../x.md'",
    "path=None",
    "file_type=None",
    "text=None",
    "text='\\ud800 旅費'",
    "sections=None",
    "sections=()",
    "sections=(section for section in document.sections)",
    "sections=('旅費',)",
    "links=(1,)",
    "links=(Link('c.md', '', 1, '', 'mentions'),)",
    "places=(1,)",
    "facts=None",
    "facts={'title': ['\\ud800']}",
    "content=None",
)
CHANGED_SECTIONS = (
    "title=None",
    "title='\\ud800'",
    "start_line=0",
    "start_line=-3, end_line=-5",
    "end_line=10**9",
    "start_line=1.0",
    "start=-1",
    "extent=10**6",
    "level=None",
    "ancestors=None",
    "ancestors=(1,)",
    "searched=3",
)
UNUSABLE = (
    *(f"document._replace({change})" for change in CHANGED),
    *(f"document._replace(sections=(section._replace({change}),))" for change in CHANGED_SECTIONS),
)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    workspace = write(tmp_path / "ws", {f"m/{name}": text for name, text in FILES.items()})
    documents(workspace, FILES)
    (workspace / "fumishirube.yaml").write_text(CONFIG)
    return workspace


@pytest.fixture
def path(tmp_path: Path) -> str:
    return stranger(tmp_path, LOADER)


def find(server: stdio.Wire) -> tuple[set[str], list[tuple[str, int]]]:
    """Return the files that a search finds, and how many it says were skipped, and why."""
    answer = server.ok("manual_find", manual_id="m", query="旅費", required_terms=["旅費"])
    hits = answer["inline_hits"]["items"]
    skipped = [(row["reason"], row["count"]) for row in answer["coverage"]["skipped"]]
    return {hit["ref"]["path"] for hit in hits}, sorted(skipped)


@contextmanager
def served(workspace: Path, path: str) -> Iterator[stdio.Wire]:
    """Yield a server that has found all files."""
    with stdio.Wire(workspace, PYTHONPATH=path, FUMISHIRUBE_SURFACE_EXTRAS="coverage") as server:
        server.ok("manual_ls")
        assert find(server) == ({*FILES}, [])
        yield server


@pytest.mark.many_cases
@pytest.mark.parametrize("fault", FAULTS)
def test_a_loader_that_begins_to_fail_costs_the_changed_files_alone(
    workspace: Path, path: str, fault: str
) -> None:
    with served(workspace, path) as server:
        (workspace / "manuals/m/mode").write_text(fault)
        (workspace / "manuals/m/b.late").write_text("旅費の例外を改める")
        found, skipped = find(server)
        assert found == {"a.late", "c.md"}
        assert ("undecodable", 1) in skipped  # as this surface calls what nothing could be read of
        refused = server.refused("manual_read", ref={"manual_id": "m", "path": "b.late"})
        assert refused["details"]["reason"] == "loader_failed"
        (workspace / "manuals/m/mode").unlink()
        (workspace / "manuals/m/b.late").write_text("旅費の例外をまた改める")
        assert find(server) == ({*FILES}, [])
        said = server.hang_up()
        assert "m/b.late" in said
        assert "damaged" not in said


@pytest.mark.parametrize("remembered", [False, True])
def test_an_answer_names_the_loader_that_failed(
    workspace: Path, tmp_path: Path, remembered: bool
) -> None:
    head = "class Late(Stage):"
    loader = LOADER.replace(head, f"{head}\n    remembered: ClassVar[bool] = {remembered}")
    path = stranger(tmp_path, loader)
    with served(workspace, path) as server:
        (workspace / "manuals/m/mode").write_text("raise")
        (workspace / "manuals/m/b.late").write_text("旅費の例外を改める")
        answer = server.ok("manual_find", manual_id="m", query="旅費", required_terms=["旅費"])
    failed = "loader 'late' of plugin stranger failed on b.late: not searched"
    assert failed in answer["degraded"]


@pytest.mark.slow
def test_a_file_with_an_unusable_document_is_skipped_and_named(workspace: Path, path: str) -> None:
    with served(workspace, path) as server:
        for number, change in enumerate(UNUSABLE):
            (workspace / "manuals/m/mode").write_text(change)
            (workspace / "manuals/m/b.late").write_text(f"旅費の例外を改める{number}")
            found, skipped = find(server)
            assert found == {"a.late", "c.md"}, change
            assert ("undecodable", 1) in skipped, change
            refused = server.refused("manual_read", ref={"manual_id": "m", "path": "b.late"})
            assert refused["message"] == "loader 'late' of plugin stranger failed on the file"
        said = server.hang_up()
        assert "plugin stranger: loader 'late' failed on m/b.late: TypeError" in said
        assert "damaged" not in said


def _set_times(workspace: Path) -> None:
    """Give all files a time at which none is young."""
    for file in (workspace / "manuals/m").iterdir():
        os.utime(file, (1_700_000_000, 1_700_000_000))


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["sources", "absent", "ungoverned"])
def test_a_loader_that_has_no_list_any_more_keeps_its_files(
    workspace: Path, path: str, fault: str
) -> None:
    with served(workspace, path) as server:
        (workspace / "manuals/m/mode").write_text(fault)
        (workspace / "manuals/m/d.late").write_text("旅費の追加")
        _set_times(workspace)
        at_first, _ = find(server)
        assert at_first == {*FILES}
        (workspace / "manuals/m/mode").write_text(" " * len(fault))  # nothing else says so
        _set_times(workspace)
        assert find(server)[0] == {*FILES, "d.late"}
        assert "plugin stranger: loader 'late' failed on m: " in server.hang_up()


def test_paths_outside_the_manual_are_dropped_and_that_is_said(workspace: Path, path: str) -> None:
    with served(workspace, path) as server:
        (workspace / "manuals/m/mode").write_text("outside")
        asked = {"query": "旅費", "manual_id": "m", "required_terms": ["旅費"], "use_cache": False}
        answer = server.ok("manual_find", **asked)
        assert answer["candidates"] == len(FILES)
        assert "loader 'late' of plugin stranger failed" in answer["degraded"]
        problem = "paths that no file of the manual has: 4"
        assert f"plugin stranger: loader 'late' failed on m: {problem}" in server.hang_up()


@pytest.mark.parametrize("fault", FAULTS)
def test_documents_are_served_without_those_their_loader_fails_on(
    workspace: Path, path: str, fault: str
) -> None:
    with stdio.Wire(workspace, PYTHONPATH=path, FUMISHIRUBE_SURFACE_EXTRAS="coverage") as server:
        assert server.ok("ubp_list_pages")["total"] == 2
        (workspace / "docs/mode").write_text(fault)
        (workspace / "docs/b.late").write_text("旅費の例外を改める")
        answer = server.ok("ubp_search", query="旅費")
        assert [row["filepath"] for row in answer["results"]] == ["a.late"]
        assert any("b.late" in warning for warning in answer["warnings"])
        assert "damaged" not in server.hang_up()


CHAPTERS = """
from fumishirube import Chapter, Contents, Document, Section, Source, Stage, hook

class Books(Stage):
    def sources(self, root):
        return []

    def load(self, root, source):
        raise NotImplementedError

    def contents(self, root, path):
        contents = Contents((Chapter("01", "Rules", "01.txt", None, "01.txt"),))
        return {contents}

    def chapter(self, root, path):
        chapter = Document(path, "txt", "Paid leave", (Section("Rules", 1, 1, 0, 10, 10, 0),))
        return {chapter}

@hook
def register_loaders(register):
    register("books", Books)
"""


@pytest.mark.parametrize(
    ("contents", "chapter", "problem"),
    [
        ("1 / 0", "chapter", "ZeroDivisionError"),
        ("None", "chapter", "TypeError"),
        ("contents._replace(chapters=[1])", "chapter", "TypeError"),
        ("contents._replace(warnings=(3,))", "chapter", "TypeError"),
        ("contents", "1 / 0", "ZeroDivisionError"),
        ("contents", "chapter._replace(sections=(1,))", "TypeError"),
    ],
)
def test_a_loader_that_fails_on_contents_or_a_chapter_is_named(
    tmp_path: Path, contents: str, chapter: str, problem: str
) -> None:
    code = CHAPTERS.replace("{contents}", contents).replace("{chapter}", chapter)
    environ = {"PYTHONPATH": stranger(tmp_path, code)}
    settings = f"{SURFACE}pipelines: {{chapters: {{loaders: [books]}}}}\n"
    workspace = made(tmp_path / "work", [entry("01", "Rules")], settings, **{"01": "Paid leave"})
    arguments = json.dumps({"manual_name": NAME, "query": "leave", "mode": "plain"})
    done = fumishirube("call", "search_text", arguments, cwd=workspace, environ=environ)
    named = f"loader 'books' of plugin stranger failed: {problem}"
    assert done.json["message"].startswith(named)
    checks = fumishirube("doctor", "--json", cwd=workspace, environ=environ).json
    (finding,) = (check["finding"] for check in checks if check["subject"] == "surface chapters")
    assert finding == named
