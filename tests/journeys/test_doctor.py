"""``fumishirube doctor`` names what really goes wrong, with a remedy."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import requires
from pathlib import Path
from threading import Event, Thread

import manuals
import pytest
from strangers import stranger
from warm_start import installed_script, warm_script

from fumishirube.faces.cli.checks import installation, leftovers

ONE = {"a/a.md": "# 給付\n日額。\n"}
ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
POWERLESS = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")


def doctor(workspace: Path, before: tuple[str, ...] = (), **environ: str) -> manuals.Done:
    """Run it in a process of its own."""
    script = installed_script() if before else warm_script()
    done = subprocess.run(
        [*before, script, "doctor", "--workspace", str(workspace)],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, **environ},
        timeout=60,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return manuals.Done(done.returncode, done.stdout, done.stderr)


def findings(done: manuals.Done, status: str) -> list[str]:
    """Return the lines of one status."""
    return [line for line in done.out.splitlines() if line.startswith(status)]


@pytest.fixture
def powerless() -> tuple[str, ...]:
    """What comes before a command so that permissions count for it."""
    if not ROOT:
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("root may read everything here, and there is no setpriv to give that up")
    return POWERLESS


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A file system with next to no room."""
    place = tmp_path / "tiny"
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    if not ROOT or shutil.which("mount") is None or subprocess.run(words, check=False).returncode:
        pytest.skip("only root may mount a small file system, where it may")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_documents_alone_are_a_workspace(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n")
    done = doctor(tmp_path)
    assert (done.code, findings(done, "FAIL"), findings(done, "warn")) == (0, [], [])
    assert "ubp_search" in done.out


def test_an_empty_folder_is_no_workspace(tmp_path: Path) -> None:
    done = doctor(tmp_path)
    assert done.code == 2
    assert "neither a 'manuals' folder nor a fumishirube.yaml" in findings(done, "FAIL")[0]


def test_manuals_without_a_manual_are_named(tmp_path: Path) -> None:
    (tmp_path / "manuals").mkdir()
    assert "make a folder in it for each manual" in findings(doctor(tmp_path), "warn")[0]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_name_that_is_no_text_is_shown_by_its_bytes(tmp_path: Path) -> None:
    manuals.write(tmp_path, ONE)
    folder = tmp_path / "manuals"
    (folder / os.fsdecode(b"\xe9t\xe9")).mkdir()
    for name in (b"a/caf\xe9.md", b"a/\x82\xa0.md"):
        (folder / os.fsdecode(name)).write_text("# Page\n")
    done = doctor(tmp_path)
    assert done.code == 0
    warned = "\n".join(findings(done, "warn"))
    assert r"no path can contain such a name: \x82\xa0.md, caf\xe9.md; rename it" in warned
    assert r"manuals/\xe9t\xe9: no manual: no path can begin with its name" in warned


@pytest.mark.skipif(sys.platform == "win32", reason="Windows refuses such names")
def test_a_file_that_no_path_can_name_is_to_be_renamed(tmp_path: Path) -> None:
    names = ("back\\slash.md", "c:colon.md", " lead.md")
    manuals.write(tmp_path, {**ONE, **{f"a/{name}": "# 給付\n日額。\n" for name in names}})
    done = doctor(tmp_path)
    assert (done.code, findings(done, "FAIL")) == (0, [])
    (line,) = findings(done, "warn")
    assert line.startswith("warn  manual a")
    assert all(name in line for name in names)
    assert "; rename it" in line
    assert manuals.fumishirube("toc", "a", cwd=tmp_path).out.splitlines()[:1] == ["a.md"]
    assert "skipped" not in manuals.fumishirube("index", cwd=tmp_path).out
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "back\\slash.md").write_text("note\n")
    assert "slash" not in manuals.fumishirube("vault", cwd=tmp_path).out


def test_nothing_offered_is_named(tmp_path: Path) -> None:
    manuals.write(tmp_path, ONE)
    (tmp_path / "fumishirube.yaml").write_text("surfaces: []\n")
    assert "nothing is offered" in findings(doctor(tmp_path), "warn")[0]


def test_another_release_of_the_sdk_is_named(tmp_path: Path) -> None:
    info = tmp_path / "old" / "mcp-1.9.4.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mcp\nVersion: 1.9.4\n")
    manuals.write(tmp_path, ONE)
    done = doctor(tmp_path, PYTHONPATH=str(tmp_path / "old"))
    assert done.code == 1
    (line,) = findings(done, "FAIL")
    assert "mcp 1.9.4 is installed" in line
    assert "python -m pip install 'mcp<3,>=2.3'" in line


def test_the_packages_here_fit() -> None:
    assert {check.status for check in installation()} == {"ok"}


def test_the_requirements_are_of_the_form_that_is_checked() -> None:
    own = [line for line in requires("fumishirube") or () if "extra ==" not in line]
    form = re.compile(r"[\w.-]+((>=|<)[0-9.]+,?)+(; sys_platform == ['\"]\w+['\"])?")
    assert len(own) > 10
    assert [line for line in own if not form.fullmatch(line)] == []


def test_a_package_of_another_system_is_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "another")
    assert not any("inotify-simple" in check.finding for check in installation())


@pytest.mark.slow
def test_what_may_not_be_read_is_named(tmp_path: Path, powerless: tuple[str, ...]) -> None:
    manuals.write(tmp_path, {**ONE, "a/b.md": "# 秘密\n", "b/b.md": "# 給付\n"})
    (tmp_path / "manuals" / "a" / "b.md").chmod(0)
    (tmp_path / "manuals" / "b").chmod(0)
    try:
        done = doctor(tmp_path, before=powerless)
    finally:
        (tmp_path / "manuals" / "b").chmod(0o755)
    assert done.code == 1
    lines = findings(done, "FAIL")
    assert any("manual a" in line and "b.md" in line and "permissions" in line for line in lines)
    assert any("manual b" in line and "let this user read" in line for line in lines)


@pytest.mark.slow
def test_a_state_folder_that_may_not_be_written_is_named(
    tmp_path: Path, powerless: tuple[str, ...]
) -> None:
    manuals.write(tmp_path, ONE)
    (tmp_path / ".fumishirube").mkdir()
    (tmp_path / ".fumishirube").chmod(0o555)
    done = doctor(tmp_path, before=powerless)
    assert done.code == 1
    (line, *_) = findings(done, "FAIL")
    assert "state folder" in line
    assert "FUMISHIRUBE_STATE_ROOT" in line


def test_a_disk_without_room_is_named(tmp_path: Path, tiny: Path) -> None:
    manuals.write(tmp_path, {f"a/{n}.md": f"# 第{n}条\n" + "給付の条件。" * 999 for n in range(20)})
    done = doctor(tmp_path, FUMISHIRUBE_STATE_ROOT=str(tiny))
    assert done.code == 1
    lines = findings(done, "FAIL")
    assert "there is no space left" in lines[0]
    assert all("--rebuild" not in line for line in lines), "that would not help"


def test_an_index_of_another_version_is_named_and_can_be_removed(tmp_path: Path) -> None:
    manuals.write(tmp_path, ONE)
    assert doctor(tmp_path).code == 0
    (kept,) = (tmp_path / ".fumishirube" / "index" / "a").iterdir()
    shutil.copytree(kept, kept.with_name("0" * 8))
    (line,) = findings(doctor(tmp_path), "warn")
    assert "another version" in line
    assert "fumishirube index a --rebuild" in line
    assert manuals.fumishirube("index", "a", "--rebuild", cwd=tmp_path).code == 0
    assert findings(doctor(tmp_path), "warn") == []


def test_doctor_reports_an_old_index_whose_files_a_server_is_deleting(tmp_path: Path) -> None:
    old = tmp_path / "index" / "m" / "old"
    old.mkdir(parents=True)
    (old / "segment").write_bytes(b"x" * 300_000)
    files, ended = [old / f"{number}.idx" for number in range(50)], Event()

    def merge() -> None:
        while not ended.is_set():
            for file in files:
                file.touch()
            for file in files:
                file.unlink()

    server = Thread(target=merge)
    server.start()
    try:
        findings = {
            check.finding for _ in range(300) for check in leftovers([old], "manual m", "rebuild")
        }
    finally:
        ended.set()
        server.join()
    assert findings == {"1 folder with an index of other settings, or of another version, 0.3 MB"}


STRICT = """
from fumishirube import Stage, Source, Unreadable, hook

class Strict(Stage):
    def sources(self, root):
        return [Source(file.path) for file in root.files() if file.path.endswith(".ini")]

    def load(self, root, source):
        raise Unreadable("line 1: a bracket is not closed", "ini-syntax")

@hook
def register_loaders(register):
    register("strict", Strict)
"""


def test_a_reason_of_a_loaders_own_comes_with_the_command_that_shows_its_message(
    tmp_path: Path,
) -> None:
    site = stranger(tmp_path / "site", "strict", STRICT)
    manuals.write(tmp_path, ONE | {"a/b.ini": "[b"})
    own = "pipelines: {manual: {loaders: [defaults, strict]}}\n"
    (tmp_path / "fumishirube.yaml").write_text(own, encoding="utf-8")
    done = doctor(tmp_path, PYTHONPATH=str(site))
    (said,) = findings(done, "FAIL")
    command = re.search(r"ini-syntax: b.ini; '(fumishirube read \S+)' says why", said)
    assert command, said
    shown = subprocess.run(
        [warm_script(), *command[1].split()[1:], "--workspace", str(tmp_path)],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(site)},
        check=False,
    )
    assert "line 1: a bracket is not closed" in shown.stderr


def test_an_index_that_cannot_be_opened_is_made_anew(tmp_path: Path) -> None:
    manuals.write(tmp_path, ONE)
    assert doctor(tmp_path).code == 0
    (kept,) = (tmp_path / ".fumishirube" / "index" / "a").iterdir()
    for file in kept.glob("*.store"):
        file.write_bytes(file.read_bytes()[:-1])
    assert doctor(tmp_path).code == 0


@pytest.mark.slow
def test_a_writer_that_does_not_let_go_is_named(tmp_path: Path) -> None:
    manuals.write(tmp_path, ONE)
    soon = "pipelines: {manual: {index: {use: tantivy, with: {writer_wait_ms: 100}}}}\n"
    (tmp_path / "fumishirube.yaml").write_text(soon, encoding="utf-8")
    assert doctor(tmp_path).code == 0
    (kept,) = (tmp_path / ".fumishirube" / "index" / "a").iterdir()
    hold = (
        "import sys, time, tantivy; index = tantivy.Index.open(sys.argv[1]); "
        "writer = index.writer(); print('held', flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", hold, str(kept)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        manuals.write(tmp_path, {"a/b.md": "# 新しい\n"})
        done = doctor(tmp_path)
        holder.kill()
    assert done.code == 1
    assert "another process is updating the index" in findings(done, "FAIL")[0]
    assert doctor(tmp_path).code == 0
