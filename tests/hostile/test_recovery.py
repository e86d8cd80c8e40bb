"""An index that is removed, emptied or damaged while it is served is built anew, and that is said.

What a plugin does wrong is never called damage.
"""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import stdio
from documents import documents
from manuals import opened, write

from fumishirube import Query
from fumishirube.engine.recoverable_index import REBUILT

FILES = 12
MANUAL = {f"m/{n:02}.md": f"# 規程 {n}\n休暇 {n} password\n" for n in range(FILES)} | {
    "m/travel.md": "# 旅費規程\n出張の旅費を支給する。\n## 例外\n自家用車の旅費は支給しない。\n"
}
PAGES = {f"p{n}.md": f"# Page {n}\n\nvacation {n} [[p{n + 1}]]\n" for n in range(FILES)}
SEGMENT = ("fast", "fieldnorm", "idx", "pos", "store", "term")
OWN = ("meta.json", ".managed.json", ".tantivy-writer.lock", ".tantivy-meta.lock")

Harm = Callable[[Path], None]


def remove(folder: Path) -> None:
    """Remove a folder into which the server may be writing."""
    while folder.exists():
        shutil.rmtree(folder, ignore_errors=True)


def empty(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()


def forget_segments(folder: Path) -> None:
    """Leave a commit without any document, as if it were the first."""
    file = folder / "meta.json"
    file.write_text(json.dumps({**json.loads(file.read_bytes()), "segments": []}))


def remove_state(folder: Path) -> None:
    remove(folder.parents[2])


def unlink(file: Path) -> None:
    file.unlink()


def cut_short(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def overwrite(file: Path) -> None:
    file.write_bytes(os.urandom(max(64, file.stat().st_size)))


def overwrite_unseen(file: Path) -> None:
    """Change the content, and neither size nor time of change.

    The engine panics over these bytes; others it may read as those of an index without terms.
    """
    status = file.stat()
    with file.open("r+b") as stream:
        stream.write(random.Random(1).randbytes(status.st_size))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def index_of(workspace: Path, name: str) -> Path:
    (folder,) = (workspace / ".fumishirube" / "index" / name).iterdir()
    return folder


def files_of(folder: Path, kind: str) -> list[Path]:
    files = [f for f in folder.iterdir() if kind in (f.name, f.name.rpartition(".")[2])]
    assert files, f"there is no file of the kind {kind}"
    return files


class ServedManual(stdio.Wire):
    """A server of one manual, and what it finds there."""

    def __init__(self, workspace: Path) -> None:
        super().__init__(write(workspace, MANUAL))
        self.ok("manual_ls")
        self.before = self.rows(self.find())
        assert self.before[0][0] == "travel.md"

    @property
    def index(self) -> Path:
        return index_of(self.workspace, "m")

    def find(self, *, use_cache: bool = False) -> dict[str, Any]:
        return self.ok(
            "manual_find",
            manual_id="m",
            query="旅費の例外",
            required_terms=["旅費"],
            use_cache=use_cache,
        )

    @staticmethod
    def rows(answer: dict[str, Any]) -> list[tuple[str, int]]:
        refs = [item["ref"] for item in answer["inline_hits"]["items"]]
        return [(ref["path"], ref["start_line"]) for ref in refs]

    def recovers(self) -> list[str | None]:
        """Find twice: both times the same as at first; return what the answers say of it."""
        answers = [self.find(), self.find()]
        assert [self.rows(answer) for answer in answers] == [self.before, self.before]
        return [answer.get("degraded") for answer in answers]


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedManual]:
    with ServedManual(tmp_path_factory.mktemp("manual")) as server:
        yield server


@pytest.mark.parametrize("harm", [remove, empty, forget_segments, remove_state])
def test_an_index_that_is_gone_is_built_anew_and_that_is_said_once(
    manual: ServedManual, harm: Harm
) -> None:
    harm(manual.index)
    assert manual.recovers() == [REBUILT, None]


def test_lines_of_several_manuals_say_whose_index_was_built_anew(tmp_path: Path) -> None:
    write(tmp_path, {"m/a.md": "# 旅費\n旅費。\n", "n/a.md": "# 旅費\n旅費。\n"})
    with stdio.Wire(tmp_path) as server:
        asked = {"any": ["旅費"], "manual_id": "*"}
        total = server.ok("manual_grep", **asked)["total"]
        shutil.rmtree(tmp_path / ".fumishirube")
        answer = server.ok("manual_grep", **asked)
        assert answer["total"] == total
        assert answer["degraded"] == f"m: {REBUILT}; n: {REBUILT}"


def test_a_file_in_the_place_of_an_index_is_named_until_it_is_removed(manual: ServedManual) -> None:
    folder = manual.index
    remove(folder)
    folder.write_text("not an index")
    asked = {
        "manual_id": "m",
        "query": "旅費の例外",
        "required_terms": ["旅費"],
        "use_cache": False,
    }
    for _ in range(2):
        assert manual.refused("manual_find", **asked)["code"] == "forbidden"
    folder.unlink()
    assert manual.recovers() == [REBUILT, None]


@pytest.mark.many_cases
@pytest.mark.parametrize("harm", [unlink, cut_short, overwrite])
@pytest.mark.parametrize("kind", [*SEGMENT, "meta.json"])
def test_a_damaged_file_of_an_index_is_noticed_before_it_is_searched(
    manual: ServedManual, kind: str, harm: Harm
) -> None:
    for file in files_of(manual.index, kind):
        harm(file)
    assert manual.recovers() == [REBUILT, None]


@pytest.mark.parametrize("harm", [cut_short, overwrite, unlink])
@pytest.mark.parametrize("kind", OWN[1:])
def test_a_file_that_no_search_needs_costs_nothing(
    manual: ServedManual, kind: str, harm: Harm
) -> None:
    harm(manual.index / kind)
    assert manual.recovers() == [None, None]


@pytest.mark.parametrize("kind", ["idx", "term"])
def test_a_panic_of_the_engine_over_damaged_files_is_damage(
    manual: ServedManual, kind: str
) -> None:
    for file in files_of(manual.index, kind):
        overwrite_unseen(file)
    assert manual.recovers() == [REBUILT, None]


def test_a_file_that_was_only_touched_is_no_damage(manual: ServedManual) -> None:
    for file in manual.index.iterdir():
        if file.name not in OWN:
            os.utime(file)
    assert manual.recovers() == [None, None]


def test_deletions_that_a_killed_writer_has_not_committed_are_no_damage(tmp_path: Path) -> None:
    workspace = write(tmp_path, {"m/a.md": "# A\nalpha\n"})
    with closing(opened(workspace)) as application:
        application.contexts["manual"].prepare("m", Query(""))
    (meta,) = (workspace / ".fumishirube").rglob("meta.json")
    segment = json.loads(meta.read_text())["segments"][0]["segment_id"].replace("-", "")
    left = meta.with_name(f"{segment}.99.del")
    left.write_bytes(b"unfinished")
    managed = meta.with_name(".managed.json")
    managed.write_text(json.dumps([*json.loads(managed.read_text()), left.name]))
    write(workspace, {"m/b.md": "# B\nbeta\n"})
    with closing(opened(workspace)) as application:
        state = application.contexts["manual"].prepare("m", Query(""))
        assert state.degraded is None
        assert [*state.pages] == ["a.md", "b.md"]
    assert not left.exists()


def test_files_that_a_writer_cannot_remove_are_named_like_those_it_cannot_write(
    tmp_path: Path,
) -> None:
    workspace = write(tmp_path, {"m/a.md": "# A\nalpha\n"})
    with closing(opened(workspace)) as application:
        context = application.contexts["manual"]
        context.prepare("m", Query(""))
        (managed,) = (workspace / ".fumishirube").rglob(".managed.json")
        managed.unlink()
        managed.mkdir()
        write(workspace, {"m/b.md": "# B\nbeta\n"})
        for _ in range(2):  # the second writer begins with what the first one left
            state = context.prepare("m", Query(""))
            assert "the index cannot be written" in (state.degraded or "")
            assert [*state.pages] == ["a.md"]


def test_a_changed_file_is_found_after_a_recovery(manual: ServedManual) -> None:
    path = manual.workspace / "manuals" / "m" / "late.md"
    remove(manual.index)
    path.write_text("# 旅費の例外\n旅費の例外を後から定める。\n", encoding="utf-8")
    assert ("late.md", 1) in manual.rows(manual.find())
    path.unlink()
    assert manual.recovers() == [None, None]


def test_a_cached_answer_outlives_its_index(manual: ServedManual) -> None:
    assert manual.rows(manual.find(use_cache=True)) == manual.before
    remove(manual.index)
    assert [manual.rows(manual.find(use_cache=True)) for _ in range(2)] == [manual.before] * 2


def test_two_servers_of_one_index_both_recover(manual: ServedManual) -> None:
    with ServedManual(manual.workspace) as other:
        for file in files_of(manual.index, "idx"):
            cut_short(file)
        said = [*manual.recovers(), *other.recovers(), *manual.recovers()]
    assert said.count(REBUILT) >= 1
    assert said[-1] is None


class ServedDocuments(stdio.Wire):
    """A server of linked documents, and what it finds there."""

    def __init__(self, workspace: Path) -> None:
        documents(workspace, PAGES)
        (workspace / "fumishirube.yaml").write_text("version: 1\nsurfaces: [{use: graph}]\n")
        super().__init__(workspace)
        self.before = self.search()
        assert self.before["results"]

    @property
    def index(self) -> Path:
        return index_of(self.workspace, "graph/docs")

    def search(self) -> dict[str, Any]:
        return self.ok("ubp_search", query="vacation 7")

    def recovers(self) -> None:
        """Search twice; the second answer at the latest is as before, and one of them says why."""
        answers = [self.search(), self.search()]
        assert [REBUILT in answer.pop("warnings", ()) for answer in answers].count(True) == 1
        assert answers[-1] == self.before
        assert self.search() == self.before


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedDocuments]:
    with ServedDocuments(tmp_path_factory.mktemp("graph")) as server:
        yield server


@pytest.mark.parametrize("harm", [remove, empty, forget_segments])
def test_the_index_of_documents_is_built_anew_too(graph: ServedDocuments, harm: Harm) -> None:
    harm(graph.index)
    graph.recovers()


@pytest.mark.many_cases
@pytest.mark.parametrize("harm", [unlink, cut_short, overwrite])
@pytest.mark.parametrize("kind", [*SEGMENT, "meta.json"])
def test_a_damaged_file_of_the_documents_index_is_noticed(
    graph: ServedDocuments, kind: str, harm: Harm
) -> None:
    for file in files_of(graph.index, kind):
        harm(file)
    graph.recovers()
