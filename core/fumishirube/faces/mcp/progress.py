"""Progress reports from the thread of a tool to the event loop: rising, at a limited rate."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from threading import Lock
from time import monotonic
from typing import TypeAlias

import anyio
from anyio import from_thread
from anyio.lowlevel import EventLoopToken, current_token
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from fumishirube.tools.definitions import Progress

PACE = 0.1
"""Seconds between two reports of one call."""

ProgressStep: TypeAlias = tuple[int, int, str]
ProgressReporter: TypeAlias = Callable[[int, int, str], Awaitable[None]]


@asynccontextmanager
async def relay_progress(report: ProgressReporter) -> AsyncIterator[Progress]:
    """Yield a function that tools call from any thread; ``report`` is awaited on the loop.

    All reports that were sent are awaited before the body is left.
    """
    send, receive = anyio.create_memory_object_stream[ProgressStep](8)
    async with anyio.create_task_group() as group:
        group.start_soon(_report_all, receive, report)
        with send:
            yield _Steps(send, current_token())


async def _report_all(
    steps: MemoryObjectReceiveStream[ProgressStep], report: ProgressReporter
) -> None:
    async with steps:
        async for step in steps:
            await report(*step)


class _Steps:
    def __init__(self, steps: MemoryObjectSendStream[ProgressStep], token: EventLoopToken) -> None:
        self._steps = steps
        self._token = token
        self._lock = Lock()
        self._done = -1
        self._at = -PACE

    def __call__(self, done: int, total: int, message: str) -> None:
        with self._lock:
            now, last = monotonic(), self._done
            complete = last < total <= done
            if done <= last or (now - self._at < PACE and not complete):
                return
            self._done, self._at = done, now
        # A client that left, or reads too slowly, misses a step; the tool continues.
        with suppress(
            anyio.WouldBlock,
            anyio.ClosedResourceError,
            anyio.BrokenResourceError,
            anyio.RunFinishedError,
        ):
            step = (done, total, message)
            from_thread.run_sync(self._steps.send_nowait, step, token=self._token)
