"""What distinguishes the manuals of one workspace from those of others in a cluster."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from fumishirube import Root

pytest.importorskip("fumishirube_opensearch", reason="fumishirube-opensearch is not installed")
from fumishirube_opensearch.names import origin_of

NAME = "opensearch-origin"
CODE = """
import sys
from pathlib import Path
from fumishirube import Root
from fumishirube_opensearch.names import origin_of
sys.stdin.read()
print(origin_of(Root(Path(sys.argv[1]))))
"""


def origin(state: Path) -> str:
    return origin_of(Root(state))


@pytest.mark.parametrize("left", ["", "0123"], ids=["empty", "cut"])
def test_a_name_that_was_not_written_to_its_end_is_made_anew(tmp_path: Path, left: str) -> None:
    """Else two workspaces on full disks had the same, and deleted the manuals of each other."""
    names = []
    for workspace in ("a", "b"):
        state = tmp_path / workspace
        state.mkdir()
        (state / NAME).write_text(left, encoding="ascii")
        names += [origin(state), origin(state)]
    assert names[0] == names[1] != names[2] == names[3]
    assert all(len(name) == 32 for name in names)


def test_a_name_stays(tmp_path: Path) -> None:
    first = origin(tmp_path)
    assert origin_of(Root(tmp_path).folder_below("index/m/print")) == first


def test_a_link_in_its_place_is_refused(tmp_path: Path) -> None:
    """What it leads to would be changed, and sent to the cluster as a name."""
    (tmp_path / "state").mkdir()
    outside = tmp_path / "outside"
    outside.write_text("x" * 40)
    (tmp_path / "state" / NAME).symlink_to(outside)
    with pytest.raises(OSError, match="symbolic links are not followed"):
        origin(tmp_path / "state")
    assert outside.read_text() == "x" * 40


def test_processes_that_start_at_once_agree(tmp_path: Path) -> None:
    with ExitStack() as stack:
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        command = [sys.executable, "-c", CODE, str(tmp_path)]
        started = [stack.enter_context(subprocess.Popen(command, **pipes)) for _ in range(4)]
        for process in started:
            process.stdin.close()
        names = {process.stdout.read() for process in started}
    assert [process.returncode for process in started] == [0] * 4
    assert len(names) == 1
