"""A survey that begins a watch misses no change, whenever it comes, and ends well without one."""

from __future__ import annotations

import errno
import shutil
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import manuals
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_watching import MORE, STEPS

from fumishirube import Root
from fumishirube.disk.folders import OpenFolder
from fumishirube.disk.survey import Listing
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

    def _enter(self, folder: OpenFolder) -> None:
        next(self._happening, bool)()
        super()._enter(folder)
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


def test_a_survey_that_fails_leaves_no_half_watch(tmp_path: Path) -> None:
    folder = _made(tmp_path / "m")

    class Refusing(Watch):
        def _enter(self, entered: OpenFolder) -> None:
            super()._enter(entered)
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
