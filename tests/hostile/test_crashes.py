"""A process that is killed while it indexes leaves what the next one can use, or make anew."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from manuals import fumishirube, opened, write
from torture import times

from fumishirube import Query
from fumishirube.testing.answers import answers

KILLS = times(10, 500)
FILES = 120
LATEST = 0.4
"""Seconds of indexing after which a process is killed at the latest."""

_INDEXER = """
import itertools, sys
from pathlib import Path
sys.path[:0] = {tests!r}
import test_crashes as crashes
crashes.index_for_ever(Path({workspace!r}), {first})
"""

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")


def text(number: int, generation: int) -> str:
    return f"# 第{number}条\n有給休暇 {number} password {generation}\n## 例外\n入院給付 {number}\n"


def index_for_ever(workspace: Path, first: int) -> None:
    """Change files and index them, again and again; what a killed process does."""
    application = opened(workspace)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    generation = first
    while True:
        generation += 1
        for number in range(generation % 7, FILES, 7):
            name = f"m/{number:03}.md"
            gone = (number + generation) % 11 == 0
            if gone:
                (workspace / "manuals" / name).unlink(missing_ok=True)
            else:
                write(workspace, {name: text(number, generation)})
        application.contexts["manual"].prepare("m", Query(""))


def said(workspace: Path, **environ: str) -> tuple[object, object, object]:
    """Return all that the index says after a process that has just started has updated it."""
    application = opened(workspace, **environ)
    state = application.contexts["manual"].prepare("m", Query(""))
    told = (answers(state.corpus), state.files, state.skipped)
    assert state.degraded is None, "no lock stays behind"
    application.close()
    return told


@pytest.mark.slow
@pytest.mark.timeout(times(300, 2 * 3600))
def test_no_kill_at_a_random_moment_breaks_the_index(tmp_path: Path) -> None:
    moments = random.Random(20_260)
    workspace = write(tmp_path / "ws", {f"m/{n:03}.md": text(n, 0) for n in range(FILES)})
    tests = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "support")]
    for kill in range(KILLS):
        if kill % 25 == 0:  # the first index of all is killed too
            shutil.rmtree(workspace / ".fumishirube", ignore_errors=True)
        code = _INDEXER.format(tests=tests, workspace=str(workspace), first=kill * 1000)
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(moments.uniform(0, LATEST))
            process.send_signal(signal.SIGKILL)
            assert process.wait(30) == -signal.SIGKILL
        if kill % 2:  # else the next process, which is killed as well, finds what this one left
            fresh = tmp_path / f"fresh-{kill}"
            assert said(workspace) == said(workspace, FUMISHIRUBE_STATE_ROOT=str(fresh)), kill
            shutil.rmtree(fresh)
    done = fumishirube("doctor", cwd=workspace)
    assert done.code == 0, done.out
