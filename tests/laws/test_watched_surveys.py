"""A survey that begins a watch misses no change, whenever it comes, and ends well without one."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import manuals
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_watching import MORE, STEPS

from fumishirube import Root
from fumishirube.disk import roots
from fumishirube.disk.folders import OpenFolder
from fumishirube.disk.survey import Listing, Surveyor
from fumishirube.disk.watches import Watch, is_local
from fumishirube.engine.library import Library
from fumishirube.engine.manual_folder import ManualFolder
from fumishirube.errors import Forbidden
from fumishirube_stages.loaders import Markdown

RULES = ".fumishirubeignore"

CHANGES: dict[str, Callable[[Path], object]] = STEPS | {
    "a folder left out": lambda folder: (folder / RULES).write_text("sub/\n"),
    "more in a folder": lambda folder: (folder / "sub" / "deep" / "e.md").write_text("more"),
    "less in a folder": lambda folder: (folder / "sub" / "c.md").unlink(),
    "deeper": lambda folder: (folder / "sub" / "deep" / "deeper" / "still").mkdir(parents=True),
    "a link for a folder": lambda folder: _linked(folder / "sub"),
}


def _linked(place: Path) -> None:
    elsewhere = place.parent.parent / "elsewhere"
    shutil.copytree(place, elsewhere)
    shutil.rmtree(place)
    place.symlink_to(elsewhere)


class DisturbedWatch(Watch):
    """A watch that lets something happen before or after a survey comes to its folders."""

    def __init__(self, top: Path, happening: Iterator[Callable[[], object]]) -> None:
        super().__init__(top)
        self._happening = happening

    def enter(self, folder: OpenFolder) -> None:
        next(self._happening, bool)()
        super().enter(folder)
        next(self._happening, bool)()


def _made(folder: Path) -> Path:
    if not is_local(folder.parent):
        pytest.skip("nothing here is ever quiet")
    (folder / "sub" / "deep").mkdir(parents=True)
    for name in ("a.md", "b.md", "sub/c.md", "sub/deep/d.md"):
        (folder / name).write_text(name)
    return folder


def _step(name: str, folder: Path) -> Callable[[], None]:
    def step() -> None:
        with suppress(OSError):  # what an earlier step took away cannot be changed
            CHANGES[name](folder)

    return step


@given(
    during=st.lists(st.none() | st.sampled_from([*CHANGES]), max_size=8),
    rows=st.lists(st.lists(st.sampled_from([*CHANGES]), min_size=1, max_size=3), max_size=4),
)
def test_what_changes_during_the_survey_or_after_it_is_seen_by_the_next(
    during: list[str | None], rows: list[list[str]]
) -> None:
    with TemporaryDirectory() as top:
        folder = _made(Path(top) / "m")
        root = Root(folder, listing=Listing(ignore_files=(RULES,)))
        happening = (_step(name, folder) if name else bool for name in during)
        with closing(DisturbedWatch(folder, happening)) as watch:
            known = watch.survey(root)
            watch.surveyed()
            deque(happening, maxlen=0)  # later surveys are not disturbed
            for steps in [[], *rows]:
                for name in steps:
                    _step(name, folder)()
                touched = watch.touched(begin=False)
                everything = root.survey()
                known = watch.survey(root) if touched is None else root.resurvey(known, touched)
                watch.surveyed()
                assert known == everything


def test_of_folders_that_are_only_counted_those_left_out_are_watched(tmp_path: Path) -> None:
    folder = _made(tmp_path / "m")
    (folder / RULES).write_text("sub/\n")
    (folder / ".git").mkdir()
    root = Root(folder, listing=Listing(ignore_files=(RULES,)))
    with closing(Watch(folder)) as watch:
        before = watch.survey(root)
        watch.surveyed()
        (folder / ".git" / "index").write_text("x")
        assert watch.touched(begin=False) == set()
        (folder / "sub" / "deep" / "e.md").write_text("more")
        assert watch.touched(begin=False) == {"sub/deep/e.md"}
        now = root.resurvey(before, {"sub/deep/e.md"})
        assert len(now.unlisted) == len(before.unlisted) + 2


@pytest.mark.parametrize("change", ["rules", "room"])
def test_folders_that_a_later_survey_opens_first_are_watched_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    folder = _made(tmp_path / "m")
    many = [folder / "many" / name / f"{n}.md" for name in ("p", "q", "r") for n in range(25)]
    for file in many:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("# x\n")
    (folder / RULES).write_text("many/\n")
    monkeypatch.setattr(roots, "Surveyor", partial(Surveyor, effort=70))  # not enough for all three
    root = Root(tmp_path, listing=Listing(ignore_files=(RULES,)))
    library = Library(root, [Markdown()])
    library.follow(on=True)
    try:
        manual = library.manual("m")
        manual.expect(MORE)
        manual.sweep()
        if change == "rules":
            (folder / RULES).write_text("nothing\n")
        else:
            for file in many:
                if file.stem != "0":
                    file.unlink()
        for number, file in enumerate(many[::25] * 2):
            file.with_name(f"new{number}.md").write_text("# new\n")
            claimed, now = manual.sweep(), root.survey("m")
            assert [f"m/{path}" for path in claimed] == [entry.path for entry in now.files]
            assert len(manual.unlisted()) == len(now.unlisted)
    finally:
        library.follow(on=False)


def test_a_limit_of_the_system_ends_the_watch_but_not_the_survey(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = _made(tmp_path / "m")
    inotify = pytest.importorskip("inotify_simple").INotify
    add, watched = inotify.add_watch, list[str]()

    def limited(marks: object, path: str, mask: int) -> int:
        if watched:
            raise OSError(errno.ENOSPC, "No space left on device")
        watched.append(path)
        number: int = add(marks, path, mask)
        return number

    monkeypatch.setattr(inotify, "add_watch", limited)
    root = Root(folder)
    with closing(Watch(folder)) as watch:
        for _ in range(3):
            assert watch.survey(root) == root.survey()
            watch.surveyed()
            assert watch.touched(begin=False) is None
            assert not watch.quiet()
    assert watched == [str(folder)], "after a refusal it is not tried again at once"
    assert [record.getMessage().count("max_user_watches") for record in caplog.records] == [1]


def test_without_its_library_a_watch_ends_but_not_the_survey(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = _made(tmp_path / "m")
    monkeypatch.setitem(sys.modules, "inotify_simple", None)
    root = Root(folder)
    with closing(Watch(folder)) as watch:
        for _ in range(3):
            assert watch.survey(root) == root.survey()
            watch.surveyed()
            assert not watch.quiet()
    assert [record.getMessage().count("inotify_simple") for record in caplog.records] == [1]


MOUNTED = """
import os, subprocess, sys
from pathlib import Path
from fumishirube import Root
from fumishirube.disk import watches
from fumishirube.engine.library import Library
from fumishirube_stages.loaders import Markdown

top, files = Path(sys.argv[1]), int(sys.argv[2])

def mount(place, on):
    subprocess.run(["mount", "--bind", top / place, top / on], check=True)

def stamps(*paths):
    return [manual.sweep()[path].stamp for path in paths]

mount("m/one", "m/other")
library = Library(Root(top), [Markdown()])
library.follow(on=True)
manual = library.manual("m")
manual.expect(files)
for path in ("one/a.md", "other/a.md"):
    before = stamps("one/a.md", "other/a.md")
    (top / "m" / path).write_text(f"# changed as {path}\\n")
    now = stamps("one/a.md", "other/a.md")
    assert not {*before} & {*now}, (before, now)
mount("elsewhere", "m/late")
watches._TRUST = 0.0
assert manual.check_due
manual.check()
watches._TRUST = 3600.0
before = stamps("late/a.md")
(top / "m" / "late" / "a.md").write_text("# changed after the mount was found\\n")
assert stamps("late/a.md") != before
assert not manual.check_due, "it is watched"
print("done")
"""


def test_of_mounted_folders_every_path_is_watched(tmp_path: Path) -> None:
    alone = ["unshare", "--map-root-user", "--mount"]
    if not shutil.which("unshare") or subprocess.run([*alone, "true"], check=False).returncode:
        pytest.skip("nothing can be mounted here")
    if not is_local(tmp_path):
        pytest.skip("nothing here is ever quiet")
    names = ["m/one/a", "m/other/b", "m/late/c", "elsewhere/a", *(f"m/{n}" for n in range(MORE))]
    for name in names:
        file = tmp_path / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("# x\n")
        os.utime(file, (1e9, 1e9))
    ran = subprocess.run(
        [*alone, sys.executable, "-c", MOUNTED, tmp_path, str(MORE)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.stdout, ran.stderr) == ("done\n", "")


def test_a_survey_that_fails_leaves_no_half_watch(tmp_path: Path) -> None:
    folder = _made(tmp_path / "m")

    class Refusing(Watch):
        def enter(self, entered: OpenFolder) -> None:
            super().enter(entered)
            if entered.path.endswith("sub"):
                raise Forbidden("as a survey does that may not read an ignore file")

    with closing(Refusing(folder)) as watch:
        with pytest.raises(Forbidden):
            watch.survey(Root(folder))
        assert watch.touched(begin=False) is None
        assert not watch.due, "nothing is watched"


@contextmanager
def _followed(workspace: Path, files: int, loader: Markdown) -> Iterator[ManualFolder]:
    texts = {f"m/{number}.md": f"# {number}\n" for number in range(files)}
    library = Library(Root(manuals.write(workspace, texts) / "manuals"), [loader])
    if not is_local(workspace):
        pytest.skip("nothing here is ever quiet")
    library.follow(on=True)
    try:
        yield library.manual("m")
    finally:
        library.follow(on=False)


@pytest.mark.parametrize(("files", "looks"), [(MORE, 0), (MORE - 1, 1)])
def test_a_manual_whose_index_is_large_is_watched_from_its_first_survey_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: int, looks: int
) -> None:
    with _followed(tmp_path, files, Markdown()) as manual:
        manual.expect(files)
        assert len(manual.sweep()) == files
        assert not manual.check_due
        found = list[str]()
        survey = Root.survey
        monkeypatch.setattr(Root, "survey", lambda root: found.append("look") or survey(root))
        (tmp_path / "manuals" / "m" / "7.md").write_text("# changed\n")
        assert manual.sweep()["7.md"].stamp.startswith("10:")
        assert found == ["look"] * looks


def test_a_survey_whose_files_no_loader_could_claim_is_made_again(tmp_path: Path) -> None:
    class FailsOnce(Markdown):
        def sources(self, root: Root) -> list[object]:  # type: ignore[override]
            if not failed:
                failed.append("once")
                raise Forbidden("not now")
            return [*super().sources(root)]

    failed = list[str]()
    with _followed(tmp_path, MORE, FailsOnce()) as manual:
        manual.expect(MORE)
        with pytest.raises(Forbidden):
            manual.sweep()
        assert len(manual.sweep()) == MORE
        assert len(manual.sweep()) == MORE
