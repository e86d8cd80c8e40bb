"""What happens to a large manual between a server's start and its first call, the call sees."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import manuals
import pytest
import stdio

from fumishirube.engine.manual_folder import SWEPT_FILES
from fumishirube.engine.recoverable_index import REBUILT

FILES = {
    f"m/part{n % 3}/{n:02}.md": f"# 第{n}条\n給付 {n} abacus\n" for n in range(SWEPT_FILES + 5)
}
MOMENTS = {"at once": 0.0, "while it begins": 0.06, "before the watch is over": 0.1, "later": 1.5}


def edit(workspace: Path) -> list[str]:
    (workspace / "manuals/m/part1/01.md").write_text("# x\nbanjos\n")
    return ["part1/01.md"]


def put_back_in_time(workspace: Path) -> list[str]:
    file = workspace / "manuals/m/part1/01.md"
    at = file.stat()
    file.write_text("# x\nbanjos, and more of them\n")
    os.utime(file, ns=(at.st_atime_ns, at.st_mtime_ns))
    return ["part1/01.md"]


def add_folders(workspace: Path) -> list[str]:
    inner = workspace / "manuals/m/part2/inner/most"
    inner.mkdir(parents=True)
    (inner / "new.md").write_text("# x\nbanjos\n")
    return ["part2/inner/most/new.md"]


def replace_manual(workspace: Path) -> list[str]:
    manual, other = workspace / "manuals/m", workspace / "other"
    shutil.copytree(manual, other)
    shutil.rmtree(other / "part0")
    (other / "part1/01.md").write_text("# x\nbanjos\n")
    manual.rename(workspace / "former")
    other.rename(manual)
    return ["part1/01.md"]


def damage_index(workspace: Path) -> list[str]:
    (folder,) = (workspace / ".fumishirube/index/m").iterdir()
    for file in folder.iterdir():
        if file.suffix in (".store", ".idx", ".term"):
            os.truncate(file, file.stat().st_size // 2)
    return edit(workspace)


def remove_index(workspace: Path) -> list[str]:
    while (workspace / ".fumishirube/index").exists():  # the server may be writing there
        shutil.rmtree(workspace / ".fumishirube/index", ignore_errors=True)
    return edit(workspace)


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = manuals.write(tmp_path_factory.mktemp("indexed"), FILES)
    for file in workspace.rglob("*.md"):
        os.utime(file, (1e9, 1e9))
    with stdio.Wire(workspace) as server:
        server.ok("manual_ls")
        assert found(server, "banjos") == []
    return workspace


def found(server: stdio.Wire, term: str) -> list[str]:
    answer = server.ok("manual_find", query=term, manual_id="m", required_terms=[term])
    assert answer.get("degraded") in (None, REBUILT)
    return sorted(item["ref"]["path"] for item in answer["inline_hits"]["items"])


@pytest.mark.many_cases
@pytest.mark.parametrize("seconds", MOMENTS.values(), ids=MOMENTS)
@pytest.mark.parametrize(
    "happening",
    [edit, put_back_in_time, add_folders, replace_manual, damage_index, remove_index],
)
def test_the_first_call_sees_it(
    indexed: Path, tmp_path: Path, happening: Callable[[Path], list[str]], seconds: float
) -> None:
    workspace = tmp_path / "workspace"
    shutil.copytree(indexed, workspace)
    with stdio.Wire(workspace) as server:
        server.request("tools/list", {})
        server.ok("manual_ls")
        time.sleep(seconds)
        expected = happening(workspace)
        assert found(server, "banjos") == expected
        (workspace / "manuals/m/part2/02.md").write_text("# x\ncellos\n")
        assert found(server, "cellos") == ["part2/02.md"]
        assert found(server, "banjos") == expected
