"""Temporary folders of killed processes are removed by the next process that needs one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fumishirube.disk import ScratchFolder

HOLD = "import sys, time; from fumishirube.disk import ScratchFolder; s = ScratchFolder()\n"
HOLD += "(s.path / 'x').write_text('x'); print(s.path, flush=True); time.sleep(60)"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def holder() -> tuple[subprocess.Popen[str], Path]:
    """Start a process that holds a temporary folder."""
    process = subprocess.Popen([sys.executable, "-c", HOLD], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


@pytest.mark.usefixtures("place")
def test_a_killed_process_leaves_nothing_for_long() -> None:
    living, of_living = holder()
    killed, of_killed = holder()
    end(killed)
    assert of_killed.is_dir()
    with ScratchFolder() as folder:
        assert not of_killed.exists()
        assert (of_living / "x").read_text() == "x"
        assert folder.path.is_dir()
    assert not folder.path.exists()
    end(living)


def test_what_is_not_ours_stays(place: Path) -> None:
    other = place / "fumishirube-other"
    other.mkdir()
    elsewhere = place / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / ".owner").write_bytes(b"")
    (place / "fumishirube-link").symlink_to(elsewhere)
    linked = place / "fumishirube-locklink"
    linked.mkdir()
    (linked / ".owner").symlink_to(elsewhere / ".owner")
    with ScratchFolder():
        assert other.is_dir()
        assert (elsewhere / ".owner").is_file()
        assert (linked / ".owner").is_symlink()


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_ended_process_removes_its_own(place: Path) -> None:
    process, folder = holder()
    os.kill(process.pid, signal.SIGINT)
    process.wait()
    end(process)
    assert not folder.exists()
    assert not [*place.glob("fumishirube-*")]
