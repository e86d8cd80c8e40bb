"""Where nothing more can be written, the answer says so and comes from what there is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from documents import documents
from manuals import write
from warm_start import installed_script, warm_script

resource = pytest.importorskip("resource")

BYTES = 60_000
ARGUMENTS: dict[str, Any] = {
    "manual_find": {"query": "leave", "manual_id": "m", "required_terms": ["leave"]},
    "manual_grep": {"any": ["leave"], "manual_id": "m"},
    "vault_create": {"path": "a.md", "content": "x" * 2_000},
}


def call(
    workspace: Path, *, bounded: bool, tool: str = "manual_find", size: int = BYTES
) -> tuple[int, Any, str]:
    words = ["call", "--json", tool, json.dumps(ARGUMENTS[tool])]
    done = run(workspace, words, bounded=bounded, size=size)
    return done.returncode, json.loads(done.stdout or "null"), done.stderr


def run(
    workspace: Path, words: list[str], *, bounded: bool, size: int = BYTES
) -> subprocess.CompletedProcess[str]:
    """Run a process whose files may not grow over a limit, as on a full disk."""
    script = installed_script() if bounded else warm_script()

    def limit() -> None:
        if bounded:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return subprocess.run(
        [script, *words],
        cwd=workspace,
        capture_output=True,
        encoding="utf-8",
        preexec_fn=limit,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},  # a part of one would be left behind
        timeout=100,
        check=False,
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize(
    "words",
    [
        *(["ls"], ["ls", "--json"], ["read", "m/a.md"], ["plugins", "--json"]),
        *(["call", "none", "{}"], ["--help"], ["--version"]),
    ],
    ids=" ".join,
)
def test_output_for_which_there_is_no_room_is_one_line_of_error(
    tmp_path: Path, words: list[str]
) -> None:
    write(tmp_path, {"m/a.md": "# Leave\n" + "leave is granted\n" * 5_000})
    environment = {**os.environ, "PYTHONUNBUFFERED": ""}
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [warm_script(), *words],
            cwd=tmp_path,
            env=environment,
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            timeout=100,
            check=False,
        )
    assert done.returncode == 1, done.stderr
    said = "error: standard output cannot be written: the disk is full; make room and try again\n"
    assert done.stderr == said


@pytest.mark.slow
def test_a_limit_to_files_leaves_what_was_indexed(tmp_path: Path) -> None:
    write(tmp_path, {"m/a.md": "# Leave\nleave is granted\n"})
    code, before, errors = call(tmp_path, bounded=False)
    assert code == 0, errors
    words = " ".join(f"word{number}" for number in range(30_000))
    write(
        tmp_path,
        {f"m/b{number}.md": f"# B{number}\nleave {words}{number}\n" for number in range(9)},
    )
    code, full, errors = call(tmp_path, bounded=True)
    assert code == 0, errors
    assert "internal_error" not in errors
    assert "the disk is full" in json.dumps(full)
    assert full["candidates" if "candidates" in full else "summary"]
    code, after, errors = call(tmp_path, bounded=False)
    assert code == 0, errors
    assert "the disk is full" not in json.dumps(after)
    assert len(json.dumps(after)) > len(json.dumps(before))


@pytest.mark.slow
def test_a_first_index_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    words = " ".join(f"word{number}" for number in range(30_000))
    write(tmp_path, {"m/a.md": f"# A\nleave {words}\n"})
    code, full, errors = call(tmp_path, bounded=True)
    assert code == 0, errors
    assert "the disk is full" in json.dumps(full)
    code, after, errors = call(tmp_path, bounded=False)
    assert code == 0, errors
    assert "the disk is full" not in json.dumps(after)


@pytest.mark.slow
@pytest.mark.parametrize("tool", ARGUMENTS)
def test_what_cannot_be_written_at_all_is_refused(tmp_path: Path, tool: str) -> None:
    write(tmp_path, {"m/a.md": "# Leave\nleave is granted\n"})
    code, refusal, errors = call(tmp_path, bounded=True, tool=tool, size=1_000)
    assert code == 1, errors
    assert refusal["code"] == "forbidden"
    assert refusal["message"].startswith("the disk is full")
    assert not (tmp_path / "vault/a.md").exists()
    code, _, errors = call(tmp_path, bounded=False, tool=tool)
    assert code == 0, errors


def test_a_note_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    write(tmp_path, {"m/a.md": "# Leave\nleave is granted\n"})
    note = tmp_path / "vault/plan.md"
    note.parent.mkdir()
    note.write_text("draft\n" + "x" * 2_000, encoding="utf-8")  # its journal entry does not fit
    replacing = json.dumps({"path": "plan.md", "find": "draft", "replace": "final"})
    words = ["call", "--json", "vault_replace", replacing]
    done = run(tmp_path, words, bounded=True, size=1_000)
    refusal = json.loads(done.stdout)
    assert refusal["message"].startswith("the disk is full")
    assert refusal["details"]["path"] == "plan.md"
    assert note.read_text(encoding="utf-8").startswith("draft\n")


@pytest.mark.slow
def test_the_doctor_says_of_a_full_disk_to_make_room(tmp_path: Path) -> None:
    words = " ".join(f"word{number}" for number in range(30_000))
    write(tmp_path, {"m/a.md": f"# A\nleave {words}\n"})
    done = run(tmp_path, ["doctor"], bounded=True)
    assert "the disk is full" in done.stdout
    said = "skipped 1 file, it was not reached yet: a.md; run 'fumishirube index' again later"
    assert said in done.stdout
    assert "there was no time" not in done.stdout
    assert "says why" not in done.stdout


@pytest.mark.slow
def test_a_full_disk_is_no_fault_of_the_arguments(tmp_path: Path) -> None:
    documents(tmp_path, {"a.md": "# Leave\n"})
    for words in (["index"], ["search", "leave"]):
        done = run(tmp_path, ["docs", *words, "--json"], bounded=True, size=1_000)
        assert done.returncode == 3, done.stderr
        refused = json.loads(done.stdout)
        assert refused["code"] == -32603
        assert "make room" in refused["message"]


LOCKING = """
import resource
from pathlib import Path
from fumishirube import ConfigError, Root
from fumishirube_graph.lock import ServeLock

lock = ServeLock(Root(Path(".")))
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
for _ in range(2):
    try:
        lock.take()
    except ConfigError as error:
        print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
lock.take()
lock.release()
"""


def test_a_lock_for_which_there_is_no_room_is_taken_later(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOCKING],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(".ubp/serve.lock: it cannot be written") == 2
