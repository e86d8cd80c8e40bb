"""Turns: calls work one after the other, so that the protocol gets its share of the interpreter."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from threading import Lock
from typing import Generic, NoReturn, TypeVar

import anyio
from anyio import from_thread, to_thread
from anyio.lowlevel import current_token

T = TypeVar("T")

WORKERS = 16
"""How many calls have a thread at most: those that take long, and those nobody waits for too."""
CONCURRENT_CALLS = 1
"""How many calls work at once; two take the interpreter from each other, and both end later."""
TURN_SECONDS = 0.25
"""Seconds after which a call that still works no longer counts."""
SWITCH_SECONDS = 0.0005
"""Seconds after which a thread that computes lets another one have the interpreter.

A message passes through three threads; with the default of 0.005 each of them would wait that long
for every call that computes.
"""


class Scheduler:
    """Calls get their turn in the order in which they came; one that takes long gives it up.

    So a call that reads a whole manual delays the short ones behind it, but does not stop them.
    """

    def __init__(self) -> None:
        self._limiter = anyio.CapacityLimiter(CONCURRENT_CALLS)
        self._counted: set[object] = set()
        self._threads = anyio.CapacityLimiter(WORKERS)

    async def run(self, work: Callable[[], T]) -> T:
        """Return what some work in a thread returns, once it is its turn.

        When that is cancelled nobody waits for the thread any more, but it counts until it ends.
        """
        async with self._turn():
            errand = _ThreadJob(work, self._threads)
            await self._threads.acquire_on_behalf_of(errand)
            try:
                await to_thread.run_sync(errand.run, abandon_on_cancel=True)
            finally:
                errand.leave()
        return errand.outcome()

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Wait for a turn, and hold it while the body runs, or for ``TURN_SECONDS`` seconds."""
        caller = object()
        await self._limiter.acquire_on_behalf_of(caller)
        self._counted.add(caller)
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._lapse, caller)
                yield
                group.cancel_scope.cancel()
        finally:
            self._end(caller)

    async def _lapse(self, caller: object) -> None:
        await anyio.sleep(TURN_SECONDS)
        self._end(caller)

    def _end(self, caller: object) -> None:
        if caller in self._counted:
            self._counted.remove(caller)
            self._limiter.release_on_behalf_of(caller)


class _ThreadJob(Generic[T]):
    """Some work in a thread, for which somebody waits or no longer does."""

    def __init__(self, work: Callable[[], T], threads: anyio.CapacityLimiter) -> None:
        self.outcome: Callable[[], T] = work
        self._threads = threads
        self._token = current_token()
        self._lock = Lock()
        self._left = False
        self._runs = False

    def run(self) -> None:
        """Work, unless the caller has left already."""
        if not self._begin():
            return
        try:
            result = self.outcome()
            self.outcome = lambda: result
        except Exception as error:
            self.outcome = partial(_raised, error)
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


def _raised(error: Exception) -> NoReturn:
    raise error
