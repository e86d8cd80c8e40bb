"""A large manual is watched while it is served, and the next call sees whatever was changed."""

from __future__ import annotations

import os
import shutil
import string
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

import manuals
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdio import Wire

from fumishirube import Root
from fumishirube.disk import watches
from fumishirube.disk.survey import Listing, Survey
from fumishirube.disk.watches import Watch, is_local
from fumishirube.engine.library import Library
from fumishirube.engine.manual_folder import SWEPT_FILES, ManualFolder
from fumishirube_stages.loaders import Markdown

MORE = SWEPT_FILES + 1

# --- a watch --------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    if not is_local(tmp_path):
        pytest.skip("nothing here is ever quiet")
    return _made(tmp_path / "m")


def _made(folder: Path) -> Path:
    (folder / "sub" / "deep").mkdir(parents=True)
    for name in ("a.md", "b.md", "sub/c.md", "sub/deep/d.md"):
        (folder / name).write_text(name)
    return folder


@pytest.fixture
def watch(folder: Path) -> Iterator[Watch]:
    watch = Watch(folder)
    assert not watch.quiet(), "nobody has looked yet"
    watch.surveyed()
    assert watch.quiet()
    yield watch
    watch.close()


def _same_size(folder: Path) -> None:
    at = (folder / "a.md").stat()
    (folder / "a.md").write_text("A.md")
    os.utime(folder / "a.md", ns=(at.st_atime_ns, at.st_mtime_ns))


def _moved_in(folder: Path) -> None:
    other = folder.parent / "other"
    other.mkdir()
    (other / "new.md").write_text("new")
    other.rename(folder / "other")


def _swapped(folder: Path) -> None:
    shutil.copytree(folder, folder.parent / "copy")
    folder.rename(folder.parent / "old")
    (folder.parent / "copy").rename(folder)


CHANGES: dict[str, Callable[[Path], object]] = {
    "edit": lambda folder: (folder / "a.md").write_text("edited"),
    "edit in place": _same_size,
    "create": lambda folder: (folder / "sub/deep/new.md").write_text("new"),
    "delete": lambda folder: (folder / "b.md").unlink(),
    "touch": lambda folder: os.utime(folder / "b.md", (1, 1)),
    "rename": lambda folder: (folder / "a.md").rename(folder / "sub/z.md"),
    "replace": lambda folder: (folder / "a.md").replace(folder / "b.md"),
    "folder": lambda folder: (folder / "empty").mkdir(),
    "folder renamed": lambda folder: (folder / "sub").rename(folder / "other"),
    "folder moved out": lambda folder: (folder / "sub").rename(folder.parent / "out"),
    "folder moved in": _moved_in,
    "folder deleted": lambda folder: shutil.rmtree(folder / "sub"),
    "link": lambda folder: (folder / "link.md").symlink_to("a.md"),
    "the whole folder": _swapped,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_no_change_is_missed(folder: Path, watch: Watch, change: Callable[[Path], object]) -> None:
    change(folder)
    assert not watch.quiet()
    assert not watch.quiet(), "it is not quiet before somebody has looked"
    watch.surveyed()
    assert watch.quiet()


def test_a_new_folder_is_watched_like_the_others(folder: Path, watch: Watch) -> None:
    for name in ("new", "new/inner", "new/inner/third"):
        (folder / name).mkdir()
        assert not watch.quiet()
        watch.surveyed()
        (folder / name / "a.md").write_text("new")
        assert not watch.quiet()
        watch.surveyed()
    assert watch.quiet()


def test_hundreds_of_changes_are_all_taken_in_at_once(folder: Path, watch: Watch) -> None:
    for number in range(500):
        (folder / f"{number}.md").write_text("new")
    assert not watch.quiet()
    watch.surveyed()
    assert watch.quiet()


def test_reading_changes_nothing(folder: Path, watch: Watch) -> None:
    for file in folder.rglob("*.md"):
        file.read_bytes()
    assert watch.quiet()


def test_hidden_folders_and_what_links_lead_to_are_not_watched(folder: Path, watch: Watch) -> None:
    outside = folder.parent / "outside"
    outside.mkdir()
    (folder / ".git").mkdir()
    (folder / "link").symlink_to(outside)
    assert not watch.quiet()
    watch.surveyed()
    (folder / ".git" / "index").write_text("x")
    (outside / "a.md").write_text("x")
    assert watch.quiet()


def test_a_folder_that_is_gone_is_not_quiet(folder: Path, watch: Watch) -> None:
    shutil.rmtree(folder)
    assert not watch.quiet()
    assert not watch.quiet()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="everything may be read")
def test_a_folder_that_may_be_read_again_is_watched_again(folder: Path, watch: Watch) -> None:
    for mode in (0o000, 0o755):
        (folder / "sub").chmod(mode)
        assert not watch.quiet()
        watch.surveyed()
        assert watch.quiet()
    (folder / "sub" / "c.md").write_text("new")
    assert not watch.quiet()


def test_a_limit_of_the_system_is_named_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    resource = pytest.importorskip("resource")
    monkeypatch.setattr("fumishirube.disk.watches._RETRY", 0)
    watch = Watch(folder)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        touched = [watch.touched() for _ in range(3)]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert touched == [None] * 3
    assert [record.getMessage().count("the limit of open files") for record in caplog.records] == [
        1
    ]


def test_a_queue_that_ran_over_is_not_quiet(folder: Path, watch: Watch) -> None:
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    for number in range(limit // 2 + 1):
        os.utime(folder / ("a.md" if number % 2 else "b.md"), (number, number))
    assert not watch.quiet()
    watch.surveyed()
    assert watch.quiet()


def test_what_is_touched_is_named(folder: Path, watch: Watch) -> None:
    (folder / "a.md").write_text("edited")
    (folder / "sub" / "new.md").write_text("new")
    (folder / "b.md").replace(folder / "sub" / "c.md")
    assert watch.touched() == {"a.md", "sub/new.md", "b.md", "sub/c.md"}
    watch.surveyed()
    assert watch.touched() == set()
    (folder / "other").mkdir()
    assert watch.touched() is None, "what a new folder held before it was watched is nobody's mark"


STEPS: dict[str, Callable[[Path], object]] = CHANGES | {
    "temporary file": lambda folder: _put(folder, "a.md~", "edited").replace(folder / "a.md"),
    "come and gone": lambda folder: _put(folder, "new.md", "new").unlink(),
    "hidden": lambda folder: _put(folder, ".hidden.md", "x"),
    "hidden no more": lambda folder: (folder / ".hidden.md").unlink(missing_ok=True),
    "rules": lambda folder: _put(folder, ".fumishirubeignore", "b.md\nsub/c*\n"),
    "rules no more": lambda folder: (folder / ".fumishirubeignore").unlink(missing_ok=True),
    "ruled out": lambda folder: _put(folder, "b.md", "edited again"),
    "link instead": lambda folder: _swapped_for_link(folder / "a.md"),
    "composed otherwise": lambda folder: _put(folder, "か\u3099.md", "x"),
    "composed otherwise no more": lambda folder: (folder / "か\u3099.md").unlink(missing_ok=True),
    "composed": lambda folder: _put(folder, "が.md", "other"),
    "edit deep": lambda folder: _put(folder, "sub/deep/d.md", "edited"),
}


def _put(folder: Path, name: str, content: str) -> Path:
    (folder / name).write_text(content)
    return folder / name


def _swapped_for_link(file: Path) -> None:
    file.unlink()
    file.symlink_to("b.md")


@given(rows=st.lists(st.lists(st.sampled_from([*STEPS]), min_size=1, max_size=3), max_size=5))
def test_a_survey_of_what_was_touched_is_a_survey_of_everything(rows: list[list[str]]) -> None:
    with TemporaryDirectory() as top:
        if not is_local(Path(top)):
            pytest.skip("nothing here is ever quiet")
        folder = _made(Path(top) / "m")
        root = Root(folder, listing=Listing(ignore_files=(".fumishirubeignore",)))
        watch = Watch(folder)
        watch.quiet()
        known = root.survey()
        watch.surveyed()
        for steps in rows:
            for step in steps:
                with suppress(OSError):  # what an earlier step took away cannot be changed
                    STEPS[step](folder)
            touched = watch.touched()
            everything = root.survey()
            if touched is not None:
                assert root.resurvey(known, touched) == everything
            known = everything
            watch.surveyed()
        watch.close()


@contextmanager
def _followed(workspace: Path) -> Iterator[ManualFolder]:
    """Follow a manual ``m`` of more files than a call surveys, ``0.md`` and so on."""
    files = {f"m/{number}.md": f"# {number}\n" for number in range(MORE)}
    library = Library(Root(manuals.write(workspace, files) / "manuals"), [Markdown()])
    library.follow(on=True)
    try:
        yield library.manual("m")
    finally:
        library.follow(on=False)


def test_of_an_edited_file_only_that_one_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_local(tmp_path):
        pytest.skip("nothing here is ever quiet")
    with _followed(tmp_path) as manual:
        manual.sweep()
        manual.check()
        surveyed = Root.survey
        looks: list[str] = []
        monkeypatch.setattr(Root, "survey", lambda *given: looks.append("look") or surveyed(*given))
        before = manual.sweep()["7.md"]
        (tmp_path / "manuals" / "m" / "7.md").write_text("# another\n")
        assert manual.sweep()["7.md"].stamp != before.stamp
        assert looks == []
        (tmp_path / "manuals" / "m" / "new.md").write_text("# new\n")
        assert "new.md" in manual.sweep()
        (tmp_path / "manuals" / "m" / "7.md").unlink()
        assert "7.md" not in manual.sweep()
        assert looks == []


def test_beside_the_calls_a_survey_finds_what_has_no_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_local(tmp_path):
        pytest.skip("nothing here is ever quiet")
    with _followed(tmp_path) as manual:
        before = manual.sweep()["7.md"]
        assert manual.check_due, "the watch begins beside the calls"
        manual.check()
        assert not manual.check_due
        (tmp_path / "manuals" / "m" / "8.md").write_text("# changed, with an event\n")
        assert manual.sweep()["8.md"].stamp.startswith("25:")
        elsewhere = tmp_path / "link.md"
        elsewhere.hardlink_to(tmp_path / "manuals" / "m" / "7.md")
        manual.sweep()
        elsewhere.write_text("# changed by another name\n")
        assert manual.sweep()["7.md"].stamp == before.stamp, "the folder's watch does not see that"
        monkeypatch.setattr(watches, "_TRUST", 0.0)
        assert manual.sweep()["7.md"].stamp == before.stamp, "calls do not survey"
        assert manual.check_due
        manual.check()
        assert manual.sweep()["7.md"].stamp != before.stamp


def test_a_survey_beside_the_calls_forgets_no_change(tmp_path: Path) -> None:
    with _followed(tmp_path) as manual:
        manual.sweep()
        stop = Event()

        def check() -> None:
            while not stop.is_set():
                manual.check()

        checks = Thread(target=check)
        checks.start()
        try:
            for number in range(200):
                file = tmp_path / "manuals" / "m" / f"{number % MORE}.md"
                file.write_text("x" * (number + 1))
                assert manual.sweep()[file.name].stamp.startswith(f"{number + 1}:")
        finally:
            stop.set()
            checks.join()


def test_a_survey_beside_the_calls_is_dropped_when_a_call_has_seen_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_local(tmp_path):
        pytest.skip("nothing here is ever quiet")
    with _followed(tmp_path) as manual:
        file, away = tmp_path / "manuals" / "m" / "7.md", tmp_path / "away.md"
        for path in file.parent.iterdir():
            os.utime(path, (0, 0))
        manual.sweep()
        manual.check()
        surveyed = Root.survey

        def moved_meanwhile(root: Root) -> Survey:
            file.rename(away)
            survey = surveyed(root)
            away.rename(file)
            assert "7.md" in manual.sweep(), "the same as before, and yet read from the events"
            return survey

        monkeypatch.setattr(Root, "survey", moved_meanwhile)
        manual.check()
        assert "7.md" in manual.sweep()


MOUNTS = r"""21 1 8:1 / / rw - ext4 /dev/sda rw
30 21 0:26 / {top}/net rw,noatime shared:1 - nfs4 server:/ rw
31 21 0:27 / {top}/with\040space rw - tmpfs none rw
32 31 0:28 / {top}/with\040space/inner rw master:1 - fuse.sshfs host: rw
33 30 0:29 / {top}/net/disk rw - xfs /dev/sdb rw
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has this table")
@pytest.mark.parametrize(
    ("name", "local"),
    [
        ("plain", True),
        ("net", False),
        ("net/folder", False),
        ("net/disk/folder", True),
        ("with space/other", True),
        ("with space", False),
        ("with space/inner/x", False),
        ("network", True),
        ("", False),
    ],
)
def test_what_other_machines_change_is_not_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, local: bool
) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(MOUNTS.format(top=tmp_path))
    monkeypatch.setattr("fumishirube.disk.watches._MOUNTS", table)
    assert is_local(tmp_path / name) == local


# --- a manual -------------------------------------------------------------------------------


def test_only_a_large_manual_that_is_served_is_watched(tmp_path: Path) -> None:
    root = Root(manuals.write(tmp_path, {"m/a.md": "# a\n", "n/a.md": "# a\n"}) / "manuals")
    for number in range(MORE):
        (root.path / "m" / f"{number}.md").touch()
    library = Library(root, [Markdown()])
    large, small = library.manual("m"), library.manual("n")

    def watched() -> list[bool]:
        for manual in (large, small):
            manual.sweep()
            if manual.check_due:
                manual.check()
        return [manual._watch is not None for manual in (large, small)]

    assert watched() == [False, False]
    library.follow(on=True)
    assert watched() == [True, False]
    library.follow(on=False)
    assert watched() == [False, False]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    files = {f"m/part{n % 5}/{n:04}.md": f"# 第{n}条\n給付 {n}\n" for n in range(MORE)}
    with Wire(
        manuals.write(tmp_path_factory.mktemp("large"), files), FUMISHIRUBE_SURFACE_EXTRAS="none"
    ) as server:
        server.ok("manual_ls")
        yield server


def places(server: Wire, term: str) -> list[str]:
    """Return the files in which a term stands, as the very next call tells."""
    answer = server.ok("manual_find", query=term, manual_id="m", required_terms=[term])
    assert "degraded" not in answer
    return sorted(item["ref"]["path"] for item in answer["inline_hits"]["items"])


def test_the_next_call_sees_what_was_changed(server: Wire) -> None:
    manual = server.workspace / "manuals" / "m"
    assert places(server, "abacus") == []
    (manual / "new.md").write_text("# x\nabacus\n")
    assert places(server, "abacus") == ["new.md"]
    (manual / "new.md").write_text("# x\nbanjos\n")
    assert (places(server, "abacus"), places(server, "banjos")) == ([], ["new.md"])
    (manual / "new.md").rename(manual / "part1" / "moved.md")
    assert places(server, "banjos") == ["part1/moved.md"]
    (manual / "part1").rename(manual / "part9")
    assert places(server, "banjos") == ["part9/moved.md"]
    (manual / "part9" / "inner").mkdir()
    (manual / "part9" / "inner" / "more.md").write_text("# x\nbanjos\n")
    assert places(server, "banjos") == ["part9/inner/more.md", "part9/moved.md"]
    (manual / "part9" / "moved.md").unlink()
    assert places(server, "banjos") == ["part9/inner/more.md"]
    shutil.rmtree(manual / "part9")
    assert places(server, "banjos") == []


@pytest.mark.slow
def test_a_file_that_is_written_again_and_again_is_never_stale(server: Wire) -> None:
    file = server.workspace / "manuals" / "m" / "part2" / "again.md"
    for letter in string.ascii_lowercase:
        file.write_text(f"# x\nedition{letter}\n")
        assert places(server, f"edition{letter}") == ["part2/again.md"]


def test_one_call_reads_what_another_wrote(server: Wire) -> None:
    file = server.workspace / "manuals" / "m" / "part3" / "read.md"
    ref = {"manual_id": "m", "path": "part3/read.md"}
    for text in ("# 一\n本文。\n", "# 二\n別の文。\n"):
        file.write_text(text)
        assert server.ok("manual_read", ref=ref)["text"] == text
    file.unlink()
    assert server.refused("manual_read", ref=ref)["code"] == "not_found"
