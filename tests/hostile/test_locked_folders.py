"""A folder that may not be entered is named, with what to do; nothing is unexpected about it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from manuals import write
from warm_start import warm_words

from fumishirube import Root
from fumishirube.disk.survey import UnlistedEntry

POWERS = "-dac_override,-dac_read_search"
"""What lets the root user enter any folder."""
COMMANDS = (("ls",), ("find", "alpha"), ("grep", "alpha"), ("serve",), ("doctor",), ("vault", "ls"))

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="permissions of POSIX, and setpriv")


def weakened() -> list[str]:
    """Return what makes a command subject to permissions."""
    if os.geteuid():
        return []
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("root enters every folder, and there is no setpriv to prevent it")
    return [setpriv, f"--bounding-set={POWERS}", f"--inh-caps={POWERS}"]


def run(*words: str, workspace: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as somebody who is subject to permissions."""
    return subprocess.run(
        [*warm_words("fumishirube", *weakened()), *words, "--workspace", str(workspace)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


@pytest.fixture(
    params=["the folder itself", pytest.param("a folder above", marks=pytest.mark.slow)]
)
def locked(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    workspace = write(tmp_path / "above" / "inner", {"m/a.md": "# A\nalpha\n"})
    folder = workspace if request.param == "the folder itself" else workspace.parent
    folder.chmod(0o000)
    yield workspace
    folder.chmod(0o755)


@pytest.mark.slow
@pytest.mark.many_cases
@pytest.mark.parametrize("words", COMMANDS)
def test_a_workspace_that_may_not_be_entered_is_named(locked: Path, words: tuple[str, ...]) -> None:
    done = run(*words, workspace=locked)
    said = done.stdout + done.stderr
    assert done.returncode != 0
    assert "'inner' may not be entered" in said
    assert "permissions" in said
    assert "unexpected" not in said
    assert str(locked.parent) not in said


@pytest.mark.parametrize(
    ("setting", "words", "problem"),
    [
        ("roots: {manuals: locked/m}", (), "roots.manuals: it may not be entered"),
        ("roots: {vault: locked/v}", (), "roots.vault: it may not be entered"),
        (
            "strict: false",
            ("--config", "{}/locked/c.yaml"),
            "--config: the folder of 'c.yaml' may not",
        ),
        ("strict: false", ("--config", "x" * 999), "--config: there is no file 'xxx"),
    ],
)
def test_what_is_in_a_locked_folder_is_not_said_to_be_missing(
    tmp_path: Path, setting: str, words: tuple[str, ...], problem: str
) -> None:
    workspace = write(tmp_path, {"m/a.md": "# A\nalpha\n"})
    (workspace / "fumishirube.yaml").write_text(f"version: 1\n{setting}\n")
    (workspace / "locked" / "m").mkdir(parents=True)
    (workspace / "locked" / "c.yaml").write_text("version: 1\n")
    (workspace / "locked").chmod(0o000)
    try:
        done = run("ls", *(word.format(workspace) for word in words), workspace=workspace)
    finally:
        (workspace / "locked").chmod(0o755)
    assert done.returncode != 0
    assert problem in done.stderr
    assert "unexpected" not in done.stderr


def test_an_index_that_may_not_be_written_is_searched(tmp_path: Path) -> None:
    """What is indexed then is not kept; what was there before stays as it is."""
    workspace = write(tmp_path, {"m/a.md": "# A\nalpha\n"})
    assert "A" in run("find", "alpha", workspace=workspace).stdout
    state = workspace / ".fumishirube"
    index = {file: file.read_bytes() for file in (state / "index").rglob("*") if file.is_file()}
    write(tmp_path, {"m/b.md": "# B\nalpha too\n"})
    folders = [state, *(folder for folder in state.rglob("*") if folder.is_dir())]
    for file in [*index, *folders]:
        file.chmod(0o555)
    try:
        done = run("find", "alpha", workspace=workspace)
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert done.returncode == 0, done.stderr
    assert {"1. ", "2. "} <= {line[:3] for line in done.stdout.splitlines()}
    assert index == {file: file.read_bytes() for file in index}


@pytest.mark.many_cases
@pytest.mark.parametrize("state", ["", ".fumishirube", ".fumishirube/index"])
@pytest.mark.parametrize(
    "words", [("find", "alpha"), ("grep", "alpha"), ("vault", "ls"), ("serve",)]
)
def test_a_workspace_that_may_not_be_written_is_searched(
    tmp_path: Path, state: str, words: tuple[str, ...]
) -> None:
    """Without an index too: one is made in a temporary folder, and removed."""
    workspace = write(tmp_path / "workspace", {"m/a.md": "# A\nalpha\n"})
    (workspace / state).mkdir(parents=True, exist_ok=True)
    folders = [workspace, *(folder for folder in workspace.rglob("*") if folder.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    try:
        done = run(*words, workspace=workspace)
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert done.returncode == 0, done.stderr
    assert words[0] not in ("find", "grep") or "alpha" in done.stdout
    assert "denies permission" not in done.stdout + done.stderr


def test_a_file_that_may_be_read_again_is_found(tmp_path: Path) -> None:
    """A change of permissions changes neither the size nor the time of a file."""
    workspace = write(tmp_path, {"m/a.md": "# A\nalpha\n", "m/b.md": "# B\nalpha\n"})
    file = workspace / "manuals" / "m" / "b.md"
    os.utime(file, (1_700_000_000, 1_700_000_000))
    file.chmod(0o000)
    try:
        before = [run(*words, workspace=workspace) for words in (("index",), ("grep", "alpha"))]
    finally:
        file.chmod(0o644)
    assert "b.md" in before[-1].stdout + before[-1].stderr
    assert "b.md:" not in before[-1].stdout
    after = run("find", "alpha", workspace=workspace)
    assert {"1. ", "2. "} <= {line[:3] for line in after.stdout.splitlines()}, after.stdout
    assert "2 lines" in run("grep", "alpha", workspace=workspace).stderr


def test_a_folder_that_the_system_does_not_open_hides_no_other() -> None:
    """Such as one on a disk that is gone; here the network of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        folder = Path("/proc", str(process.pid))
        with pytest.raises(OSError, match="net") as caught:
            next((folder / "net").iterdir())
        assert not isinstance(caught.value, PermissionError | FileNotFoundError)
        survey = Root(folder).survey()
    assert UnlistedEntry("net", "forbidden", "folder") in survey.unlisted
    assert "status" in [file.path for file in survey.files]


FEW_FILES = """
import resource, sys
from pathlib import Path
from fumishirube import Forbidden, Root

root = Root(Path(sys.argv[1]))
survey = root.survey()
with open(root.path / "x.md") as file:
    least = file.fileno()
top = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
for most in range(least, least + 20):
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, top))
    for look in (root.survey, lambda: root.resurvey(survey, ["x.md"])):
        try:
            print(look() == survey)
        except Forbidden as error:
            print(error)
"""


def test_who_may_open_no_more_files_is_told_so_and_misses_none(tmp_path: Path) -> None:
    (tmp_path / "a/b/c/d").mkdir(parents=True)
    for folder in (tmp_path, tmp_path / "a", tmp_path / "a/b/c/d"):
        (folder / "x.md").write_text("x")
    words = [sys.executable, "-c", FEW_FILES, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", timeout=60, check=False)
    said = "too many files are open; raise the limit of open files"
    lines = done.stdout.splitlines()
    assert (lines[0], lines[-1], len(lines)) == (said, "True", 40), done.stderr
    assert {*lines} == {said, "True"}


UNREADABLE = (".fumishirubeignore", "sub/.fumishirubeignore", "")
"""An ignore file, one further below, and the folder of a manual itself."""


@pytest.mark.slow
@pytest.mark.parametrize("path", UNREADABLE)
def test_a_manual_that_may_not_be_read_is_named_and_stops_no_other(
    tmp_path: Path, path: str
) -> None:
    rules = {f"a/{path}": "secret.md\n"} if path else {}
    files = {"a/sub/secret.md": "# S\nsecret\n", "b/b.md": "# B\nalpha\n"}
    workspace = write(tmp_path, {**files, **rules})
    place = workspace / "manuals" / "a" / path
    place.chmod(0o000)
    named = repr(path) if path else "a: permission denied by the operating system"
    try:
        index = run("index", workspace=workspace)
        plain = run("index", "--json", workspace=workspace)
        doctor = run("doctor", workspace=workspace)
        find = run("find", "secret", "--manual", "a", workspace=workspace)
        every = run("find", "alpha", workspace=workspace)
    finally:
        place.chmod(0o755)
    assert (index.returncode, index.stdout) == (1, "b  1 section in 1 file\n")
    assert index.stderr.startswith("error: a: ")
    assert named in index.stderr
    assert "; let this user read it" in index.stderr
    indexed, failed = json.loads(plain.stdout)
    assert (indexed["manual_id"], indexed["sections"]) == ("b", 1)
    assert (failed["manual_id"], failed["error"]["code"]) == ("a", "forbidden")
    (line,) = [line for line in doctor.stdout.splitlines() if line.startswith("FAIL")]
    assert "manual a" in line
    assert path in line
    assert (find.returncode, find.stdout) == (1, "")
    assert "b/b.md" in every.stdout
    assert path in every.stdout + every.stderr


@pytest.mark.slow
def test_what_could_not_be_indexed_is_followed_until_it_can_be(tmp_path: Path) -> None:
    workspace = write(tmp_path, {"a/a.md": "# A\nalpha\n", "b/b.md": "# B\nalpha\n"})
    folder = workspace / "manuals" / "a"
    folder.chmod(0o000)
    words = ["index", "--follow", "--workspace", str(workspace)]
    with subprocess.Popen(
        [*warm_words("fumishirube", *weakened()), *words], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            before = process.stdout.readline()
        finally:
            folder.chmod(0o755)
        after = process.stdout.readline()
        process.terminate()
        assert process.wait(20) == 0
    assert (before[:2], after[:2]) == ("b ", "a ")


def test_the_account_tells_a_file_that_may_not_be_read_from_a_folder_that_is_not_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FUMISHIRUBE_SURFACE_EXTRAS", "coverage")
    workspace = write(tmp_path, {f"m/{name}.md": "# A\nalpha\n" for name in ("a", "b", "sub/c")})
    locked = [workspace / "manuals" / "m" / name for name in ("b.md", "sub")]
    for path in locked:
        path.chmod(0o000)
    asked = '{"query": "alpha", "manual_id": "m", "required_terms": ["alpha"]}'
    try:
        done = run("call", "manual_find", asked, workspace=workspace)
    finally:
        for path in locked:
            path.chmod(0o755)
    assert json.loads(done.stdout)["coverage"]["skipped"] == [
        {"reason": "undecodable", "unit": "file", "count": 1},
        {"reason": "ignored", "unit": "folder", "count": 1},
    ]


REPLACED = """
import os, sys
from pathlib import Path
from fumishirube.disk import no_follow

manuals, other = Path(sys.argv[1]), Path(sys.argv[2])
if sys.argv[3] == "reads":
    no_follow._PASSED = no_follow.FOLDER
os.close(no_follow.open_top(str(manuals)))
manuals.rename(manuals.with_name("before"))
manuals.mkdir()
os.close(no_follow.open_top(str(manuals)))
manuals.parent.rename(manuals.parent.with_name("former"))
manuals.parent.symlink_to(other)
try:
    no_follow.open_top(str(manuals))
except OSError:
    print("refused")
"""


@pytest.mark.parametrize("platform", ["passes", "reads"])
def test_another_folder_below_one_that_may_only_be_passed_is_opened_and_no_link(
    tmp_path: Path, platform: str
) -> None:
    """Not every platform can open a folder above it without reading it."""
    manuals, other = tmp_path / "passed" / "inner" / "manuals", tmp_path / "other"
    for folder in (manuals, other / "manuals"):
        folder.mkdir(parents=True)
    (tmp_path / "passed").chmod(0o311)
    done = subprocess.run(
        [*weakened(), sys.executable, "-c", REPLACED, str(manuals), str(other), platform],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    (tmp_path / "passed").chmod(0o755)
    assert (done.stdout, done.stderr) == ("refused\n", "")
