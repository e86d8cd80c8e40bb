"""Updates with stages of plugins: what one leaves for the next, and for others beside it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fumishirube import Budget, Root, Source
from fumishirube.host.crash_marks import ForeignWork
from fumishirube.host.guarded_stages import GuardedLoader
from fumishirube.host.plugin_guard import PluginGuard
from fumishirube.host.watched_updates import WatchedUpdates, listing_seconds

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
