"""The scheduler: calls run one after the other, so that the protocol gets its CPU time."""

from __future__ import annotations

import logging
from asyncio import get_running_loop
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from threading import Lock
from typing import Generic, TypeVar

import anyio
from anyio import from_thread, to_thread
from anyio.lowlevel import current_token

from fumishirube.errors import PluginError
from fumishirube.tools.calls import logged_failure

T = TypeVar("T")

_log = logging.getLogger("fumishirube")

WORKERS = 16
"""Threads for calls, at most; long calls and abandoned ones hold theirs to the end."""
CONCURRENT_CALLS = 1
"""Calls that run at once; two would share the interpreter, and both end later."""
SLOT_SECONDS = 0.25
"""Seconds after which a running call no longer delays the next one."""
PATIENCE_SECONDS = 5.0
"""Seconds that a call waits for a thread while all run calls that nobody waits for."""
SWITCH_SECONDS = 0.0005
"""Seconds after which a computing thread yields the interpreter.

A message passes through three threads; with the default of 0.005 each of them would wait that long
for every computing call.
"""


class Scheduler:
    """Runs calls in the order in which they came; a long call does not block the next for long.

    So a call that reads a whole manual delays shorter ones behind it, but does not stop them.
    After ``patience`` seconds none waits for threads that only cancelled calls hold.
    """

    def __init__(self, patience: float = PATIENCE_SECONDS) -> None:
        self._patience = patience
        self._limiter = anyio.CapacityLimiter(CONCURRENT_CALLS)
        self._threads = anyio.CapacityLimiter(WORKERS)

    async def run(self, work: Callable[[], T], name: str = "") -> T:
        """Run ``work`` in a thread when its turn comes, and return its result.

        After a cancellation nobody waits for the thread, but it holds its place until it ends.
        ``name`` is what an error calls it then.

        Raises:
            InternalError: when cancelled calls hold all threads, and none of them ends.
        """
        async with self._slot():
            job = _ThreadJob(work, self._threads, name)
            await self._take_thread(job)
            try:
                return await to_thread.run_sync(job.run, abandon_on_cancel=True)
            finally:
                job.leave()

    async def _take_thread(self, job: _ThreadJob[T]) -> None:
        while True:
            with anyio.move_on_after(self._patience):
                return await self._threads.acquire_on_behalf_of(job)
            jobs = self._threads.statistics().borrowers
            left = [each for each in jobs if isinstance(each, _ThreadJob) and each.left]
            if len(left) == WORKERS:
                names = ", ".join(sorted({each.name for each in left}))
                error = PluginError(
                    f"cancelled calls of {names} hold all threads and do not end; "
                    "restart the server"
                )
                _log.error("%s", error)
                raise logged_failure(error)

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

    def __init__(self, work: Callable[[], T], threads: anyio.CapacityLimiter, name: str) -> None:
        self.name = name
        self._work = work
        self._threads = threads
        self._token = current_token()
        self._lock = Lock()
        self.left = False
        self._runs = False

    def run(self) -> T:
        """Run the work; raise, to nobody, if the caller has already left."""
        with self._lock:
            self._runs = not self.left
        if not self._runs:
            raise RuntimeError("nobody waits for it")
        try:
            return self._work()
        finally:
            with self._lock:
                self._runs, left = False, self.left
            if left:
                with suppress(anyio.RunFinishedError):
                    from_thread.run_sync(self._release, token=self._token)

    def leave(self) -> None:
        """Stop waiting; while the thread runs, its place stays taken."""
        with self._lock:
            self.left = True
            runs = self._runs
        if not runs:
            self._release()

    def _release(self) -> None:
        self._threads.release_on_behalf_of(self)
