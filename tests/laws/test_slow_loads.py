"""Slow loads delay no other file, are not repeated, and end in the index that a rebuild makes."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from threading import Event, Lock, Timer

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from manuals import write
from test_indexing import answers, found, opened, rebuilt
from torture import examples

from fumishirube import Budget, Document, Root, Source
from fumishirube.engine import file_loads, file_readers
from fumishirube.engine.file_loads import PATIENCE_SECONDS
from fumishirube.engine.folder_index import FolderIndex
from fumishirube.engine.recoverable_index import IndexState
from fumishirube.errors import Cancelled, PluginError
from fumishirube.parsing import report_pages
from fumishirube_stages.loaders import Markdown

LONG = 30.0


class Halting:
    """Reads Markdown, and halts in the loads of some files until they are released."""

    def __init__(self, paths: Collection[str] | None = None, *, isolated: bool = False) -> None:
        self.paths = paths
        self.isolated = isolated
        self.halted: dict[str, Event] = {}
        self.failing = ""
        self.loads: Counter[str] = Counter()
        self.at_once: Counter[str] = Counter()
        self.most_at_once = 0
        self.most_together = 0
        self._lock = Lock()

    def sources(self, root: Root) -> Iterable[Source]:
        sources = Markdown().sources(root)
        return [one for one in sources if self.paths is None or one.path in self.paths]

    def load(self, root: Root, source: Source) -> Document:
        with self._lock:
            self.loads[source.path] += 1
            self.at_once[source.path] += 1
            self.most_at_once = max(self.most_at_once, self.at_once[source.path])
            self.most_together = max(self.most_together, self.at_once.total())
        document = Markdown().load(root, source)
        report_pages(2, 5)
        if event := self.halted.get(source.path):  # which another thread may take away
            event.wait(LONG)
        with self._lock:
            self.at_once[source.path] -= 1
        if source.path == self.failing:
            raise PluginError("it failed")
        return document


@pytest.fixture
def halting() -> Iterator[Halting]:
    loader = Halting()
    yield loader
    for event in loader.halted.values():
        event.set()


@pytest.fixture
def manuals(tmp_path: Path) -> Path:
    pages = {f"m/{name}.md": f"# {name}\npassword {name}\n" for name in "abcd"}
    return write(tmp_path, pages) / "manuals"


@pytest.fixture
def indexed(manuals: Path, tmp_path: Path, halting: Halting) -> Iterator[FolderIndex]:
    with opened(manuals, tmp_path / "state", (halting,)) as index:
        yield index


def halt(loader: Halting, *names: str) -> Callable[[], None]:
    for name in names:
        loader.halted[f"{name}.md"] = Event()

    def release() -> None:
        for name in names:
            loader.halted.pop(f"{name}.md").set()

    return release


def paths(state: IndexState) -> list[str]:
    return [path for path, _ in found(state)]


def caught_up(indexed: FolderIndex) -> IndexState:
    return indexed.bring_up_to_date(Budget())


@pytest.mark.slow
def test_the_other_files_are_in_and_the_slow_one_is_named(
    indexed: FolderIndex, halting: Halting
) -> None:
    release = halt(halting, "a")
    state = indexed.bring_up_to_date(Budget.of(3_000))
    assert paths(state) == ["b.md", "c.md", "d.md"]
    assert [(slow.path, slow.seconds > 1) for slow in state.slow] == [("a.md", True)]
    assert state.slow[0].pages_read == (2, 5)
    assert state.unfinished
    assert [(out.path, out.reason) for out in state.skipped] == [("a.md", "time_budget")]
    release()
    state = caught_up(indexed)
    assert (paths(state), state.slow, state.degraded) == (
        ["a.md", "b.md", "c.md", "d.md"],
        (),
        None,
    )
    assert halting.loads["a.md"] == 1


@pytest.mark.slow
def test_later_calls_do_not_wait_and_commit_nothing(indexed: FolderIndex, halting: Halting) -> None:
    halt(halting, "a")
    first = indexed.bring_up_to_date(Budget.of(3_000))
    began = time.monotonic()
    second = indexed.bring_up_to_date(Budget.of(20_000))
    assert time.monotonic() - began < 10
    assert second.corpus is first.corpus
    assert [slow.path for slow in second.slow] == ["a.md"]


@pytest.mark.slow
def test_a_loader_halts_on_two_files_at_most(indexed: FolderIndex, halting: Halting) -> None:
    release = halt(halting, *"abcd")
    indexed.bring_up_to_date(Budget.of(5_000))
    assert halting.loads == {"a.md": 1, "b.md": 1}
    release()
    assert paths(caught_up(indexed)) == ["a.md", "b.md", "c.md", "d.md"]
    assert set(halting.loads.values()) == {1}


@pytest.mark.slow
def test_a_file_that_changed_meanwhile_is_loaded_again_after_the_old_load(
    indexed: FolderIndex, halting: Halting, manuals: Path
) -> None:
    release = halt(halting, "a")
    indexed.bring_up_to_date(Budget.of(2_000))
    write(manuals.parent, {"m/a.md": "# a\nchanged\n# more\nand longer\n"})
    indexed.bring_up_to_date(Budget.of(500))
    assert halting.loads["a.md"] == 1
    release()
    assert found(caught_up(indexed))[:2] == [("a.md", 1), ("a.md", 3)]
    assert (halting.loads["a.md"], halting.most_at_once) == (2, 1)


@pytest.mark.slow
def test_a_file_that_is_removed_meanwhile_stays_out(
    indexed: FolderIndex, halting: Halting, manuals: Path
) -> None:
    release = halt(halting, "a")
    indexed.bring_up_to_date(Budget.of(2_000))
    (manuals / "m" / "a.md").unlink()
    state = caught_up(indexed)
    assert (paths(state), state.slow) == (["b.md", "c.md", "d.md"], ())
    release()
    assert paths(caught_up(indexed)) == ["b.md", "c.md", "d.md"]


@pytest.mark.slow
def test_a_caller_who_leaves_during_a_load_loses_neither_result_nor_index(
    indexed: FolderIndex, halting: Halting
) -> None:
    release = halt(halting, "a")
    budget = Budget.of(60_000)
    budget.cancelled.set()
    with pytest.raises(Cancelled):
        indexed.bring_up_to_date(budget)
    indexed.bring_up_to_date(Budget.of(2_000))
    release()
    assert paths(caught_up(indexed)) == ["a.md", "b.md", "c.md", "d.md"]
    assert halting.loads["a.md"] == 1


@pytest.mark.slow
def test_without_a_deadline_an_update_waits_for_all(indexed: FolderIndex, halting: Halting) -> None:
    Timer(PATIENCE_SECONDS + 0.5, halt(halting, "a", "b")).start()
    state = indexed.bring_up_to_date(Budget())
    assert (paths(state), state.degraded) == (["a.md", "b.md", "c.md", "d.md"], None)


def test_a_slow_file_that_ended_an_update_is_loaded_again(
    indexed: FolderIndex, halting: Halting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_loads, "PATIENCE_SECONDS", 0.0)
    halting.failing = "a.md"
    with pytest.raises(PluginError):
        caught_up(indexed)
    halting.failing = ""
    assert paths(caught_up(indexed)) == ["a.md", "b.md", "c.md", "d.md"]


def test_an_index_can_be_closed_while_a_file_is_loaded(
    manuals: Path, tmp_path: Path, halting: Halting
) -> None:
    release = halt(halting, "a")
    with opened(manuals, tmp_path / "closed", (halting,)) as index:
        index.bring_up_to_date(Budget.of(500))
    release()
    with opened(manuals, tmp_path / "closed", (halting,)) as index:
        assert len(paths(caught_up(index))) == 4


@pytest.mark.slow
def test_files_of_other_processes_do_not_wait_either(
    manuals: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_readers, "LARGE", 1)
    monkeypatch.setattr(file_readers, "cores", lambda: 2)
    halting = Halting(["a.md"])
    release = halt(halting, "a")
    with opened(manuals, tmp_path / "state", (halting, Markdown())) as index:
        index.bring_up_to_date(Budget.of(500))
        write(manuals.parent, {f"m/{name}.md": f"# {name}\npassword\n" for name in "xyz"})
        time.sleep(PATIENCE_SECONDS)
        state = index.bring_up_to_date(Budget.of(60_000))
        assert paths(state) == ["b.md", "c.md", "d.md", "x.md", "y.md", "z.md"]
        assert [slow.path for slow in state.slow] == ["a.md"]
        release()
        assert paths(caught_up(index))[0] == "a.md"
    assert halting.loads["a.md"] == 1


@pytest.mark.slow
def test_isolated_loaders_load_one_file_a_core_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_loads, "cores", lambda: 4)
    names = "abcdefghij"
    manuals = write(tmp_path, {f"m/{name}.md": f"# {name}\ntext\n" for name in names}) / "manuals"
    halting = Halting(isolated=True)
    release = halt(halting, *names)
    with opened(manuals, tmp_path / "state", (halting,)) as index:
        began = time.monotonic()
        index.bring_up_to_date(Budget.of(3_000))
        assert halting.most_together == 4
        index.bring_up_to_date(Budget.of(20_000))
        assert time.monotonic() - began < LONG
        assert halting.most_together == 4
        release()
        assert paths(caught_up(index)) == [f"{name}.md" for name in names]
    assert (halting.most_together, set(halting.loads.values())) == (4, {1})


@pytest.mark.slow
def test_files_of_other_loaders_pass_slow_isolated_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_loads, "cores", lambda: 2)
    pages = {f"m/{name}.md": f"# {name}\ntext\n" for name in "abcdefgh"}
    slow = Halting(["a.md", "b.md", "c.md"], isolated=True)
    quick = Halting(["d.md", "e.md", "f.md"], isolated=True)
    release = halt(slow, "a", "b", "c")
    state = tmp_path / "state"
    with opened(write(tmp_path, pages) / "manuals", state, (slow, quick, Markdown())) as index:
        seen = paths(index.bring_up_to_date(Budget.of(4_000)))
        assert seen == [f"{name}.md" for name in "defgh"]
        assert slow.most_together == 2
        release()
        assert len(paths(caught_up(index))) == len(pages)


STEP = st.one_of(
    st.tuples(st.just("write"), st.sampled_from("abcdef"), st.integers(1, 3)),
    st.tuples(st.just("remove"), st.sampled_from("abcdef"), st.just(0)),
    st.tuples(st.just("halt"), st.sampled_from("abcdef"), st.just(0)),
    st.tuples(st.just("release"), st.sampled_from("abcdef"), st.just(0)),
    st.tuples(st.just("update"), st.just(""), st.sampled_from([1, 30, 200])),
)


@pytest.mark.property
@settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=st.lists(STEP, max_size=20), isolated=st.booleans())
def test_whatever_halts_the_index_ends_like_a_rebuild(
    steps: list[tuple[str, str, int]], isolated: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder, loader = tmp_path_factory.mktemp("slow"), Halting(isolated=isolated)
    manuals = write(folder, {"m/a.md": "# a\npassword\n"}) / "manuals"
    with opened(manuals, folder / "state", (loader,)) as index:
        for number, (verb, name, value) in enumerate(steps):
            path = manuals / "m" / f"{name}.md"
            if verb == "write":
                path.write_text(f"# {name}\npassword {number}\n" * value, encoding="utf-8")
                os.utime(path, (1_700_000_000 + number,) * 2)
            elif verb == "remove":
                path.unlink(missing_ok=True)
            elif verb == "halt":
                loader.halted.setdefault(path.name, Event())
            elif verb == "release" and path.name in loader.halted:
                loader.halted.pop(path.name).set()
            elif verb == "update":
                index.bring_up_to_date(Budget.of(value))
        for event in loader.halted.values():
            event.set()
        loader.halted.clear()
        state = caught_up(index)
        assert state.degraded is None
        assert answers(state) == rebuilt(manuals, folder / "fresh")
    assert loader.most_at_once <= 1
