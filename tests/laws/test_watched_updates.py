"""Updates with stages of plugins: what one leaves for the next, and for others beside it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from fumishirube import Budget, Root, Source
from fumishirube.engine.stage_calls import AbandonedUpdate
from fumishirube.host import watched_updates
from fumishirube.host.crash_marks import ForeignWork
from fumishirube.host.guarded_stages import GuardedLoader
from fumishirube.host.plugin_guard import PluginGuard
from fumishirube.host.watched_updates import WatchedUpdates, delay, listing_seconds

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
    assert updates.run("m", listing_seconds, Budget.of(1_000)) < usual
    assert listing_seconds() == usual


def test_two_calls_that_list_at_the_same_time_both_have_the_files(
    guard: PluginGuard, tmp_path: Path
) -> None:
    loader = GuardedLoader(Slow(), WORK, guard, strict=False)
    roots = [Root(tmp_path), Root(tmp_path)]
    with ThreadPoolExecutor(2) as pool:
        assert [*pool.map(loader.sources, roots)] == [(Source("a.slow"),)] * 2
    assert loader.problem_of(roots[0]) is None


@contextmanager
def at_work(updates: WatchedUpdates, guard: PluginGuard) -> Iterator[Future[None]]:
    """Keep a stage at work in an update of ``m`` in the background."""
    working, going = threading.Event(), threading.Event()

    def update() -> None:
        with guard.marked(WORK):
            working.set()
            assert going.wait(30)

    with ThreadPoolExecutor(1) as background:
        try:
            running = background.submit(updates.run_in_background, "m", update, Budget())
            assert working.wait(30)
            yield running
        finally:
            going.set()


def test_an_update_with_time_left_is_told_what_delays_it_and_nothing_is_recorded(
    guard: PluginGuard,
) -> None:
    updates = WatchedUpdates(guard)
    with at_work(updates, guard) as running:
        answer = updates.run("m", delay, Budget.of(60_000))
        assert (answer or "").startswith(f"{WORK.label} has been at work for ")
        assert updates.run("n", delay, Budget.of(60_000)) is None, "it is another index"
    assert running.result(30) is None
    assert updates.run("m", delay, Budget.of(60_000)) is None
    assert not guard.log.faults()


def test_an_update_whose_time_is_over_abandons_the_one_that_delays_it(guard: PluginGuard) -> None:
    updates = WatchedUpdates(guard)
    with at_work(updates, guard) as running:
        with pytest.raises(AbandonedUpdate, match=r"loader 'slow' .* was abandoned after \d"):
            updates.run("m", delay, Budget.of(0))
        with pytest.raises(AbandonedUpdate, match="has been at work for"):
            updates.run("m", delay, Budget.of(60_000))
        (fault,) = guard.log.faults()
        assert fault.problem.startswith("it was abandoned after ")
        assert fault.times == 1
        assert not running.done()
    assert updates.run("m", delay, Budget.of(60_000)) is None


def test_an_update_in_the_background_is_abandoned_too(
    guard: PluginGuard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched_updates, "_BACKGROUND_MS", 100)
    with at_work(WatchedUpdates(guard), guard) as running:
        with pytest.raises(AbandonedUpdate, match="was abandoned after"):
            running.result(30)
        assert [fault.stage for fault in guard.log.faults()] == [WORK.stage]
