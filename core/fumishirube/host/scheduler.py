"""The scheduler: calls run one after the other, so that the protocol gets its CPU time."""

from __future__ import annotations

from asyncio import get_running_loop
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from threading import Lock
from typing import Generic, TypeVar

import anyio
from anyio import from_thread, to_thread
from anyio.lowlevel import current_token

T = TypeVar("T")

WORKERS = 16
"""Threads for calls, at most; long calls and abandoned ones hold theirs to the end."""
CONCURRENT_CALLS = 1
"""Calls that run at once; two would share the interpreter, and both end later."""
SLOT_SECONDS = 0.25
"""Seconds after which a running call no longer delays the next one."""
SWITCH_SECONDS = 0.0005
"""Seconds after which a computing thread yields the interpreter.

A message passes through three threads; with the default of 0.005 each of them would wait that long
for every computing call.
"""


class Scheduler:
    """Runs calls in the order in which they came; a long call does not block the next for long.

    So a call that reads a whole manual delays shorter ones behind it, but does not stop them.
    """

    def __init__(self) -> None:
        self._limiter = anyio.CapacityLimiter(CONCURRENT_CALLS)
        self._threads = anyio.CapacityLimiter(WORKERS)

    async def run(self, work: Callable[[], T]) -> T:
        """Run ``work`` in a thread when its turn comes, and return its result.

        After a cancellation nobody waits for the thread, but it holds its place until it ends.
        """
        async with self._slot():
            job = _ThreadJob(work, self._threads)
            await self._threads.acquire_on_behalf_of(job)
            try:
                return await to_thread.run_sync(job.run, abandon_on_cancel=True)
            finally:
                job.leave()

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[None]:
        """Wait for a slot, and hold it while the body runs, or for ``SLOT_SECONDS`` seconds."""
        caller = object()
        await self._limiter.acquire_on_behalf_of(caller)
        # A timer of the loop: a task, and its cancellation, cost every call half a millisecond.
        late = get_running_loop().call_later(SLOT_SECONDS, self._end, caller)
        try:
            yield
        finally:
            late.cancel()
            self._end(caller)

    def _end(self, caller: object) -> None:
        with suppress(RuntimeError):  # it has ended already
            self._limiter.release_on_behalf_of(caller)


class _ThreadJob(Generic[T]):
    """Work in a thread, whose caller may stop waiting."""

    def __init__(self, work: Callable[[], T], threads: anyio.CapacityLimiter) -> None:
        self._work = work
        self._threads = threads
        self._token = current_token()
        self._lock = Lock()
        self._left = False
        self._runs = False

    def run(self) -> T:
        """Run the work, unless the caller has already left.

        Raises:
            RuntimeError: to nobody, when the caller has left.
        """
        if not self._begin():
            raise RuntimeError("nobody waits for it")
        try:
            return self._work()
        finally:
            if self._end():
                with suppress(anyio.RunFinishedError):
                    from_thread.run_sync(self._release, token=self._token)

    def leave(self) -> None:
        """Stop waiting; while the thread runs, its place stays taken."""
        with self._lock:
            self._left = True
            runs = self._runs
        if not runs:
            self._release()

    def _begin(self) -> bool:
        with self._lock:
            self._runs = not self._left
            return self._runs

    def _end(self) -> bool:
        with self._lock:
            self._runs = False
            return self._left

    def _release(self) -> None:
        self._threads.release_on_behalf_of(self)
