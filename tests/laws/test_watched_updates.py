"""Updates with stages of plugins: what one leaves for the next, and for others beside it."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest

from fumishirube import Budget, Embedder, Root, Source, Vectors
from fumishirube.engine import stage_calls
from fumishirube.engine.owned_locks import OwnedLock, writing, writing_thread
from fumishirube.engine.stage_calls import AbandonedWork
from fumishirube.engine.vectors.embedding import NamedEmbedder
from fumishirube.engine.vectors.section_vectors import StoredVectors
from fumishirube.errors import Cancelled
from fumishirube.host.crash_marks import ForeignWork
from fumishirube.host.guarded_indexes import GuardedIndex
from fumishirube.host.guarded_stages import GuardedEmbedder, GuardedLoader
from fumishirube.host.plugin_guard import PluginGuard
from fumishirube.host.watched_updates import WatchedUpdates, listing_seconds
from fumishirube.stages import Fields, IndexedFile

WORK = ForeignWork("strangers", "strangers", "loader 'slow'")


@pytest.fixture
def guard(tmp_path: Path) -> Iterator[PluginGuard]:
    with closing(PluginGuard(tmp_path / "state")) as guard:
        yield guard


class Slow:
    """Lists one file when two calls have begun to list."""

    def __init__(self) -> None:
        self.both = threading.Barrier(2)

    def sources(self, root: Root) -> list[Source]:
        self.both.wait(10)
        return [Source("a.slow")]

    def load(self, root: Root, source: Source) -> Any:
        raise NotImplementedError


def test_the_time_of_a_call_ends_with_its_update(guard: PluginGuard) -> None:
    usual = listing_seconds()
    updates = WatchedUpdates(guard)
    assert updates.run(listing_seconds, Budget.of(1_000)) < usual
    assert listing_seconds() == usual


def test_two_calls_that_list_at_the_same_time_both_have_the_files(
    guard: PluginGuard, tmp_path: Path
) -> None:
    loader = GuardedLoader(Slow(), WORK, guard, strict=False)
    roots = [Root(tmp_path), Root(tmp_path)]
    with ThreadPoolExecutor(2) as pool:
        assert [*pool.map(loader.sources, roots)] == [(Source("a.slow"),)] * 2
    assert loader.problem_of(roots[0]) is None


# --- one update that others wait for ----------------------------------------------------------


@contextmanager
def at_work(updates: WatchedUpdates, guard: PluginGuard, lock: OwnedLock) -> Iterator[Future[None]]:
    """Keep a stage at work, behind a lock, in an update in the background."""
    working, going = threading.Event(), threading.Event()

    def update() -> None:
        with lock, guard.marked(WORK):
            working.set()
            assert going.wait(30)

    with ThreadPoolExecutor(1) as background:
        try:
            running = background.submit(updates.run_in_background, update, Budget())
            assert working.wait(30)
            yield running
        finally:
            going.set()


def taking(lock: OwnedLock) -> str:
    with lock:
        return "updated"


def test_who_waits_for_a_stage_in_other_work_names_it_and_records_nothing(
    guard: PluginGuard,
) -> None:
    updates, lock = WatchedUpdates(guard), OwnedLock()
    with at_work(updates, guard, lock) as running:
        with pytest.raises(
            AbandonedWork, match=r"^loader 'slow' .* has been at work for \d+\.\d s$"
        ):
            updates.run(partial(taking, lock), Budget.of(0))
        assert not running.done(), "whoever began it still waits for it"
    assert running.result(30) is None
    assert updates.run(partial(taking, lock), Budget.of(0)) == "updated"
    assert not guard.log.faults()


def test_a_delay_is_named_only_if_it_began_before_and_has_lasted(guard: PluginGuard) -> None:
    updates, lock, before = WatchedUpdates(guard), OwnedLock(), time.monotonic()
    with at_work(updates, guard, lock):
        first = updates.delay(lock.owner, time.monotonic())
        assert first is None or time.monotonic() - before >= 0.5, "not for 0.0 s"
        time.sleep(0.6)
        named = updates.delay(lock.owner, time.monotonic()) or ""
        seconds = named.removeprefix(f"{WORK.label} has been at work for ").removesuffix(" s")
        assert float(seconds) >= 0.5
        assert updates.delay(lock.owner, before) is None, "it began after the call"
        assert updates.delay(threading.get_ident(), time.monotonic()) is None
    assert updates.delay(lock.owner, time.monotonic()) is None


def test_work_of_built_ins_is_not_abandoned_because_a_stage_sleeps_for_something_else(
    guard: PluginGuard,
) -> None:
    updates = WatchedUpdates(guard, 0.1)
    with at_work(updates, guard, OwnedLock()) as running:
        with pytest.raises(AbandonedWork):
            running.result(30)
        (fault,) = guard.log.faults()
        updates.run(partial(time.sleep, 1), Budget.of(0))
        updates.run_in_background(partial(time.sleep, 1), Budget())
        assert guard.log.faults() == [fault]


def test_nobody_waits_for_a_stage_that_was_abandoned_and_it_is_recorded_once(
    guard: PluginGuard,
) -> None:
    updates, lock = WatchedUpdates(guard, 0.2), OwnedLock()
    with at_work(updates, guard, lock) as running:
        with pytest.raises(AbandonedWork, match=r"loader 'slow' .* was abandoned after \d"):
            running.result(30)
        for run, budget in [
            (updates.run, Budget.of(60_000)),
            (updates.run_in_background, Budget()),
        ]:
            began = time.monotonic()
            with pytest.raises(AbandonedWork, match="has been at work for"):
                run(partial(taking, lock), budget)
            assert time.monotonic() - began < 10
        (fault,) = guard.log.faults()
        assert (fault.stage, fault.times) == (WORK.stage, 1)
        assert fault.problem.startswith("it was abandoned after ")
    assert updates.run(partial(taking, lock), Budget.of(60_000)) == "updated"


def test_what_is_left_behind_does_not_wait_for_a_lock_any_more(guard: PluginGuard) -> None:
    updates, lock = WatchedUpdates(guard), OwnedLock()
    with at_work(updates, guard, lock):
        with pytest.raises(AbandonedWork):
            updates.run(partial(taking, lock), Budget.of(0))
        deadline = time.monotonic() + 10
        while threads_of_work() != {lock.owner}:
            assert time.monotonic() < deadline, "its thread stays as long as the stage sleeps"
            time.sleep(0.02)


def threads_of_work() -> set[int | None]:
    return {each.ident for each in threading.enumerate() if each.name == "fumishirube stage"}


def test_abandoned_work_gets_the_locks_that_it_needs_when_its_stage_ends(
    guard: PluginGuard,
) -> None:
    updates, lock, going = WatchedUpdates(guard, 0.2), OwnedLock(), threading.Event()
    done: list[str] = []

    def turn() -> None:
        with guard.marked(WORK):
            assert going.wait(30)
        done.append(taking(lock))

    with pytest.raises(AbandonedWork):
        updates.run_in_background(turn, Budget())
    with lock:
        going.set()
        time.sleep(0.5)
        assert not done
    deadline = time.monotonic() + 10
    while not done:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_who_waits_is_not_stopped_by_work_that_had_the_same_thread_identity(
    guard: PluginGuard, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, others = OwnedLock(), list[Future[str]]()

    def cancelled() -> None:
        raise Cancelled("the request was cancelled")

    with ThreadPoolExecutor(8) as pool:

        def slow_wait(futures: Sequence[Future[None]], seconds: float) -> Any:
            """Return when the thread of the work has ended, and others have its identity."""
            done = wait(futures, seconds)
            time.sleep(0.1)
            others.extend(pool.submit(taking, lock) for _ in range(8))
            time.sleep(0.1)
            return done

        monkeypatch.setattr(stage_calls, "wait", slow_wait)
        with lock:
            with pytest.raises(Cancelled):
                WatchedUpdates(guard).run(cancelled, Budget.of(60_000))
            time.sleep(0.5)
        assert [other.result(30) for other in others] == ["updated"] * 8


def test_who_writes_an_index_of_a_manual_is_known_when_another_one_of_it_is_written(
    tmp_path: Path,
) -> None:
    with ThreadPoolExecutor(1) as pool, writing(tmp_path):

        def write() -> int | None:
            with writing(tmp_path):
                return writing_thread(tmp_path)

        assert pool.submit(write).result(30)
        assert writing_thread(tmp_path) == threading.get_ident()
    assert writing_thread(tmp_path) is None


# --- one call of a plugin's code --------------------------------------------------------------


class SlowEmbedder(Embedder):
    """Takes its time for each batch."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.batches = 0

    def embed(self, texts: Sequence[str], role: Literal["query", "passage"]) -> Vectors:
        time.sleep(self.seconds)
        self.batches += 1
        return [[1.0, 0.0] for _ in texts]


def test_a_slow_embedder_goes_on_in_the_background_as_long_as_each_batch_ends(
    guard: PluginGuard, tmp_path: Path
) -> None:
    mark, files = 2.0, {f"{number}.md": "stamp" for number in range(6 * 64)}
    embedder = SlowEmbedder(mark / 4)
    guarded = GuardedEmbedder(embedder, WORK, guard)
    vectors = StoredVectors(NamedEmbedder("slow", "1", guarded), Root(tmp_path))
    began = time.monotonic()
    made = WatchedUpdates(guard, mark).run_in_background(
        lambda: vectors.update(files, lambda path: [("A section", path)]), Budget()
    )
    assert time.monotonic() - began > mark
    assert embedder.batches > 4
    assert not made.cut
    assert not vectors.files_left(files)
    assert not guard.log.faults()


def test_a_stage_that_calls_others_is_not_blamed_for_their_time(guard: PluginGuard) -> None:
    mark = 2.0
    inner = ForeignWork("others", "others", "tokenizer 'other'")

    def sync() -> float:
        began = time.monotonic()
        with guard.marked(WORK):
            for _ in range(3):
                with guard.marked(inner):
                    time.sleep(mark / 4)
            with guard.called_back():  # such as a load by a built-in
                time.sleep(1.5 * mark)
            time.sleep(mark / 4)
        return time.monotonic() - began

    assert WatchedUpdates(guard, mark).run_in_background(sync, Budget()) > mark
    assert not guard.log.faults()


def test_what_an_index_is_given_is_not_read_on_its_time(guard: PluginGuard, tmp_path: Path) -> None:
    work, seen = ForeignWork("others", "others", "index 'other'"), list[str | None]()

    def see() -> None:
        code = guard.at_work(threading.get_ident())
        seen.append(code.work.stage if code and code.work else None)

    class Other:
        def __init__(self) -> None:
            self.stored: dict[str, IndexedFile] = {}

        def open(self, folder: Root, fields: Fields) -> Other:
            return self

        def pages(self) -> dict[str, IndexedFile]:
            return self.stored

        def sync(self, gone: Collection[str], pages: Iterable[tuple[IndexedFile, Any]]) -> None:
            for file, _ in pages:
                see()
                self.stored[file.path] = file

        writing = refresh = corpus = close = pages

    def pages() -> Iterator[tuple[IndexedFile, list[Any]]]:
        see()
        yield IndexedFile("a.md", "stamp"), []
        see()

    index = GuardedIndex(Other(), work, guard).open(Root(tmp_path), Fields((), Any))
    index.sync((), pages())
    assert seen == [None, work.stage, None]


def test_what_runs_in_abandoned_work_after_the_overdue_call_is_not_blamed(
    guard: PluginGuard,
) -> None:
    updates, lock = WatchedUpdates(guard), OwnedLock()
    first, second, going = threading.Event(), threading.Event(), threading.Event()

    def update() -> None:
        with lock:
            with guard.marked(WORK):
                assert first.wait(30)
            with guard.marked(WORK):
                second.set()
                assert going.wait(30)

    try:
        with pytest.raises(AbandonedWork, match="was abandoned after"):
            updates.run(update, Budget.of(0))
        with pytest.raises(AbandonedWork, match="has been at work for"):
            updates.run(partial(taking, lock), Budget.of(60_000))
        first.set()
        assert second.wait(30)
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(updates.run, partial(taking, lock), Budget.of(60_000))
            time.sleep(0.5)
            assert not waiting.done(), "it waits as for any other update"
            going.set()
            assert waiting.result(30) == "updated"
    finally:
        first.set()
        going.set()
    assert [fault.times for fault in guard.log.faults()] == [1]
