"""Calls take turns, and no more threads work than may, whether anybody waits for them or not."""

from __future__ import annotations

from functools import partial
from threading import Event, Lock

import anyio
import pytest
from anyio import to_thread
from anyio.lowlevel import checkpoint

from fumishirube.errors import InternalError
from fumishirube.host.scheduler import WORKERS, Scheduler

pytestmark = pytest.mark.timeout(60)


class Working:
    """Work that goes on until it may end, whether it was cancelled or not."""

    def __init__(self) -> None:
        self.all_begun = Event()
        self.all_ended = Event()
        self.may_end = Event()
        self.begun = 0
        self.ended = 0
        self._lock = Lock()

    def __call__(self) -> int:
        with self._lock:
            self.begun += 1
            if self.begun == WORKERS:
                self.all_begun.set()
        self.may_end.wait()
        with self._lock:
            self.ended += 1
            if self.ended == WORKERS:
                self.all_ended.set()
        return self.begun


@pytest.mark.slow
def test_threads_that_nobody_waits_for_any_more_count_until_they_end() -> None:
    async def main() -> None:
        working, scheduler = Working(), Scheduler()
        async with anyio.create_task_group() as group:
            for _ in range(WORKERS + 5):
                group.start_soon(scheduler.run, working)
            await to_thread.run_sync(working.all_begun.wait)
            group.cancel_scope.cancel()
        assert working.ended == 0
        done: list[bool] = []

        async def further() -> None:
            done.append(await scheduler.run(lambda: True))

        async with anyio.create_task_group() as group:
            group.start_soon(further)
            await anyio.sleep(0.1)
            assert working.begun == WORKERS
            assert not done
            working.may_end.set()
        assert done == [True]

    anyio.run(main)


@pytest.mark.slow
def test_nobody_waits_for_ever_for_threads_that_cancelled_work_holds() -> None:
    async def main() -> None:
        working, scheduler = Working(), Scheduler(patience=0.5)
        async with anyio.create_task_group() as group:
            for _ in range(WORKERS - 1):
                group.start_soon(scheduler.run, working, "stuck")
            await checkpoint()
            group.start_soon(scheduler.run, working, "sleepy")
            await to_thread.run_sync(working.all_begun.wait)
            group.cancel_scope.cancel()
        for _ in range(2):
            with pytest.raises(InternalError, match="calls of sleepy, stuck hold all threads"):
                await scheduler.run(lambda: None)
        working.may_end.set()
        await to_thread.run_sync(working.all_ended.wait)
        assert await scheduler.run(lambda: True)

    anyio.run(main)


@pytest.mark.slow
def test_work_waits_while_anybody_waits_for_one_that_holds_a_thread() -> None:
    async def main() -> None:
        working, scheduler = Working(), Scheduler(patience=0.01)
        done: list[bool] = []

        async def further() -> None:
            done.append(await scheduler.run(lambda: True))

        async with anyio.create_task_group() as group:
            for _ in range(WORKERS):
                group.start_soon(scheduler.run, working)
            await to_thread.run_sync(working.all_begun.wait)
            group.start_soon(further)
            await anyio.sleep(0.2)
            assert not done
            working.may_end.set()
        assert done == [True]

    anyio.run(main)


def test_work_that_was_cancelled_before_it_began_takes_no_place() -> None:
    async def main() -> None:
        scheduler = Scheduler()
        for _ in range(3 * WORKERS):
            with anyio.CancelScope() as scope:
                scope.cancel()
                await scheduler.run(lambda: None)
        assert [await scheduler.run(partial(int, n)) for n in range(WORKERS)] == [*range(WORKERS)]

    anyio.run(main)


def test_what_work_raises_is_raised_and_gives_its_place_back() -> None:
    async def main() -> None:
        scheduler = Scheduler()
        for _ in range(3 * WORKERS):
            with pytest.raises(ZeroDivisionError):
                await scheduler.run(lambda: 1 // 0)
        assert await to_thread.run_sync(lambda: 1) == await scheduler.run(lambda: 1)

    anyio.run(main)
