"""The process between an agent and its tools: what it relays and logs, and how commands end."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import manuals
import pytest
from warm_start import installed_script

from fumishirube_eval import recording
from fumishirube_eval.recording import run_command

SCRIPT = Path(recording.__file__)
SECONDS = 60
ECHO = """
import json, sys
for line in sys.stdin:
    result = {"content": [{"type": "text", "text": line.strip()}]}
    print(json.dumps({"id": json.loads(line)["id"], "result": result}), flush=True)
"""

ASKING = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "method" in message:
        print(json.dumps({"id": message["id"], "method": "ping"}), flush=True)
        result = {"content": [{"type": "text", "text": "an answer"}]}
        print(json.dumps({"id": message["id"], "result": result}), flush=True)
"""

posix = pytest.mark.skipif(os.name == "nt", reason="there is no POSIX shell")


def recorded(log: Path, *words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-I", str(SCRIPT), str(log), *words]
    return subprocess.run(command, input=given, capture_output=True, timeout=60, check=False)


def rows(log: Path) -> Sequence[Any]:
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def ended(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").split()[2] == "Z"
    except FileNotFoundError:  # it ended meanwhile, or nothing is told there
        return False


def eventually_ended(file: Path) -> None:
    """Wait until the process whose number is in a file is gone."""
    deadline = time.monotonic() + SECONDS
    while not ended(int(file.read_text(encoding="utf-8"))):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def written(file: Path) -> None:
    """Wait until a line is in a file."""
    deadline = time.monotonic() + SECONDS
    while not (file.exists() and file.read_bytes().endswith(b"\n")):
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize(
    "odd",
    [
        {"method": "tools/call", "params": {"name": "t", "arguments": {"query": "\ud800"}}},
        {"method": "tools/call", "params": None},
        {"method": "tools/call", "params": [1]},
        {"method": "tools/call"},
    ],
)
def test_an_odd_call_is_logged_and_the_next_ones_are_answered(tmp_path: Path, odd: Any) -> None:
    log = tmp_path / "log"
    sent = [{**odd, "id": ["a"]}, {"id": 2, "method": "tools/call", "params": {"name": "u"}}]
    given = "".join(f"{json.dumps(row)}\n" for row in sent).encode()
    done = recorded(log, "mcp", sys.executable, "-c", ECHO, given=given)
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [["a"], 2]
    assert [row["tool"] for row in rows(log)][1:] == ["u"]
    assert json.loads(rows(log)[0]["shown"]) == sent[0]


def test_a_call_is_logged_though_the_server_asks_something_under_its_id(tmp_path: Path) -> None:
    log = tmp_path / "log"
    calls = [{"id": n, "method": "tools/call", "params": {"name": f"t{n}"}} for n in range(3)]
    given = "".join(f"{json.dumps(row)}\n" for row in calls).encode()
    done = recorded(log, "mcp", sys.executable, "-c", ASKING, given=given)
    assert done.returncode == 0, done.stderr
    assert [(row["tool"], row["shown"]) for row in rows(log)] == [
        (f"t{n}", "an answer") for n in range(3)
    ]


@posix
def test_a_command_that_is_not_utf_8_is_run_and_logged(tmp_path: Path) -> None:
    log = tmp_path / "log"
    done = recorded(log, "shell", str(tmp_path), os.fsdecode(b"printf 'a\xff'"))
    assert (done.returncode, done.stdout) == (0, "a\ufffd".encode())
    assert [row["shown"] for row in rows(log)] == ["a\ufffd"]


@pytest.mark.slow
@posix
def test_a_command_that_takes_too_long_ends_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(recording, "SHELL_SECONDS", 1)
    command = "echo partial; sleep 600 & echo $! > child; wait"
    # Its second begins when it has got so far.
    code = recording.run_shell(
        tmp_path / "log", tmp_path, command, partial(written, tmp_path / "child")
    )
    assert code == 124
    assert [row["shown"] for row in rows(tmp_path / "log")] == [
        "partial\nstopped after 1 seconds\n"
    ]
    eventually_ended(tmp_path / "child")


@posix
def test_a_command_ends_with_the_process_that_records_it(tmp_path: Path) -> None:
    """Its session is another one, so that a signal for that of the agent does not reach it."""
    child = tmp_path / "child"
    words = ["shell", str(tmp_path), "sleep 600 & echo $! > child; wait"]
    with subprocess.Popen(
        [sys.executable, "-I", str(SCRIPT), str(tmp_path / "log"), *words]
    ) as run:
        written(child)
        run.terminate()
    eventually_ended(child)


@posix
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_an_agent_ends_with_the_process_that_measures_it(tmp_path: Path, name: str) -> None:
    """Its session is another one, too."""
    number = getattr(signal, name)
    manuals.write(tmp_path, {"m/a.md": "# A\ntext\n"})
    questions, gold = tmp_path / "q.jsonl", tmp_path / "g.jsonl"
    questions.write_text('{"id": "q", "manual": "m", "question": "What?"}\n', encoding="utf-8")
    gold.write_text('{"id": "q", "must_have": ["text"]}\n', encoding="utf-8")
    child = tmp_path / "child"
    agent = shlex.join(["sh", "-c", f"echo $$ > {shlex.quote(str(child))}; exec sleep 600"])
    files = ["--questions", str(questions), "--gold", str(gold)]
    words = ["eval", "agents", "--agent", agent, "--tools", "shell", *files]
    with subprocess.Popen([installed_script(), *words], cwd=tmp_path) as run:
        written(child)
        run.send_signal(number)
    assert run.returncode == 128 + number
    eventually_ended(child)


SLOWLY_STARTING = """
import subprocess, sys, time
from fumishirube_eval import recording

class SlowlyStarting(subprocess.Popen):
    def __init__(self, *words, **options):
        super().__init__(*words, **options)
        time.sleep(1)

subprocess.Popen = SlowlyStarting
sys.exit(recording.main(sys.argv[1:]))
"""


@posix
def test_a_command_ends_though_the_signal_comes_while_it_starts(tmp_path: Path) -> None:
    words = ["shell", str(tmp_path), "echo $$ > child; kill -TERM $PPID; sleep 600"]
    command = [sys.executable, "-c", SLOWLY_STARTING, str(tmp_path / "log"), *words]
    assert subprocess.run(command, timeout=60, check=False).returncode == 143
    eventually_ended(tmp_path / "child")


@pytest.mark.slow
@posix
def test_output_is_kept_of_a_command_whose_child_has_left_its_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "_SECONDS_TO_END", 1)
    monkeypatch.setattr(recording, "_SECONDS_TO_PRINT", 1)
    code = (
        "import os, pathlib, time\nprint('so far', flush=True)\n"
        "if os.fork() == 0:\n    os.setsid()\n"
        "    pathlib.Path('left').write_text('it has\\n')\ntime.sleep(8)"
    )
    done = run_command(
        [sys.executable, "-c", code], "", 1, partial(written, tmp_path / "left"), cwd=tmp_path
    )
    assert (done.printed, done.errors, done.code) == ("so far\n", "", None)


@posix
def test_a_command_that_has_ended_did_not_take_too_long(tmp_path: Path) -> None:
    """What it left holds its streams, and is ended."""
    done = run_command(["sh", "-c", "sleep 600 & echo $! > child; echo done"], "", 60, cwd=tmp_path)
    assert (done.printed, done.errors, done.code) == ("done\n", "", 0)
    eventually_ended(tmp_path / "child")


@posix
def test_a_command_may_print_more_than_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "MOST_BYTES", 100_000)
    code = "import sys\nsys.stdout.write('ab' * 1_000_000)\nsys.stderr.write('read to the end')"
    done = run_command([sys.executable, "-c", code], "", 60, cwd=tmp_path)
    assert done == ("ab" * 50_000, "read to the end", 0)


def test_a_command_need_not_read_its_input(tmp_path: Path) -> None:
    done = run_command([sys.executable, "-c", "print('done')"], "x" * 1_000_000, 60, cwd=tmp_path)
    assert (done.printed, done.code) == ("done\n", 0)


def test_a_command_gets_its_whole_input(tmp_path: Path) -> None:
    code = "import sys\nprint(len(sys.stdin.buffer.read()))"
    done = run_command([sys.executable, "-c", code], "あ" * 500_000, 60, cwd=tmp_path)
    assert (done.printed, done.code) == ("1500000\n", 0)
