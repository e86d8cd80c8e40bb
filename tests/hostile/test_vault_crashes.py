"""Notes survive: writers that race, and writers that are killed at any moment.

``FUMISHIRUBE_KILLS`` says how many writers are killed; tox runs a longer form.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from manuals import RULES, fumishirube, write
from stdio import Wire
from vault_writer import BODY, OPERATIONS
from warm_start import warm_python

KILLS = int(os.environ.get("FUMISHIRUBE_KILLS", "40"))
WRITER = Path(__file__).parents[1] / "support" / "vault_writer.py"

pytestmark = pytest.mark.timeout(max(300, KILLS * 3))
slow = pytest.mark.slow
SHORTEST = "create"
"""The operation that a plain run of the tests kills at every step."""
LONGER = [pytest.param(name, marks=slow) for name in OPERATIONS if name != SHORTEST]

posix = pytest.mark.skipif(os.name == "nt", reason="the writers fork, and die by a signal")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    write(tmp_path, {"m1/rules.md": RULES})
    (tmp_path / "vault").mkdir()
    return tmp_path


def started(*words: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [*warm_python(WRITER), *words], stdin=pipe, stdout=pipe, stderr=pipe, text=True
    )


def finished(process: subprocess.Popen[str]) -> Any:
    """Wait for a writer, and return what it reported last."""
    out, errors = process.communicate()
    assert process.returncode == 0, errors
    return json.loads(out.splitlines()[-1])


def race(writers: list[subprocess.Popen[str]]) -> list[Any]:
    """Let all of them begin at once, and return what each reported."""
    with ExitStack() as ended:
        for writer in writers:
            ended.enter_context(writer)
            ended.callback(writer.kill)
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == '"ready"\n'
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.write("go\n")
            writer.stdin.flush()
        return [finished(writer) for writer in writers]


def left_over(workspace: Path) -> list[str]:
    names = [path.name for path in (workspace / "vault").rglob("*")]
    return [name for name in names if name.startswith("._") or name.endswith(".intent")]


# --- races -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("processes", "times"), [(2, 30), pytest.param(8, 6, marks=slow)])
def test_no_update_is_lost_and_no_read_is_torn(workspace: Path, processes: int, times: int) -> None:
    note = workspace / "vault" / "count.md"
    note.write_text(BODY.replace("{}", "0"))
    told = race([started("count", str(workspace), str(times)) for _ in range(processes)])
    assert [one["done"] for one in told] == [times] * processes
    assert note.read_text() == BODY.replace("{}", str(processes * times))
    assert not left_over(workspace)


@pytest.mark.parametrize(("processes", "times"), [(2, 20), pytest.param(8, 5, marks=slow)])
def test_writers_of_one_note_and_of_their_own_do_not_meet(
    workspace: Path, processes: int, times: int
) -> None:
    names = [f"p{number}" for number in range(processes)]
    note = workspace / "vault" / "marks.md"
    note.write_text("".join(f"{name}:0\n" for name in names))
    race([started("mark", str(workspace), name, str(times)) for name in names])
    assert note.read_text() == "".join(f"{name}:{times}\n" for name in names)
    for name in names:
        own = [(workspace / "vault" / name / f"{n}.md").read_text() for n in range(times)]
        assert own == [name] * times
    history = fumishirube("vault", "log", "--json", "--limit", "200", cwd=workspace).json
    assert history["total"] == 2 * processes * times


@pytest.mark.parametrize(("processes", "times"), [(2, 20), pytest.param(8, 10, marks=slow)])
def test_of_those_who_create_a_note_one_wins(workspace: Path, processes: int, times: int) -> None:
    names = [chr(ord("a") + number) for number in range(processes)]
    told = race([started("create", str(workspace), name, str(times)) for name in names])
    won = {number: name for name, one in zip(names, told, strict=True) for number in one["won"]}
    assert sum(len(one["won"]) for one in told) == len(won) == times
    for number, name in won.items():
        held = (workspace / "vault" / "same" / f"{number}.md").read_text()
        assert held == name * 1000
    assert not left_over(workspace)


# --- kills -----------------------------------------------------------------------------------


@pytest.mark.slow
@posix
@pytest.mark.parametrize("operation", [SHORTEST, *LONGER])
def test_a_kill_at_any_step_leaves_the_old_note_or_the_new(workspace: Path, operation: str) -> None:
    done = finished(started("points", str(workspace), operation))
    assert done["killed"] > 10


@pytest.mark.slow
@posix
def test_writers_that_are_killed_lose_nothing_that_was_confirmed(workspace: Path) -> None:
    seed = os.environ.get("FUMISHIRUBE_SEED", str(random.randrange(10**6)))
    sys.stdout.write(f"{KILLS} kills, seed {seed}: ")
    done = finished(started("kills", str(workspace), str(KILLS), seed))
    sys.stdout.write(f"{done}\n")
    assert done["confirmed"] > KILLS
    assert done["unconfirmed"] > 0
    doctor = fumishirube("doctor", cwd=workspace)
    assert doctor.code == 0, doctor.out


@pytest.mark.slow
@posix
def test_a_server_that_is_killed_has_written_what_it_answered(workspace: Path) -> None:
    for number in range(3):
        with Wire(workspace) as wire:
            for note in range(1 + 3 * number):
                wire.ok("vault_create", path=f"{number}/{note}.md", content=f"{note}\n" * 5000)
            asked = {"path": f"{number}/last.md", "content": "x" * 5_000_000}
            params = {"name": "vault_create", "arguments": asked}
            wire._send({"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": params})
            wire.kill()
        for note in range(1 + 3 * number):
            held = (workspace / "vault" / str(number) / f"{note}.md").read_text()
            assert held == f"{note}\n" * 5000
        last = workspace / "vault" / str(number) / "last.md"
        assert not last.exists() or last.read_text() == asked["content"]
    fumishirube("vault", "log", cwd=workspace)
    assert not left_over(workspace)
    assert fumishirube("doctor", cwd=workspace).code == 0
