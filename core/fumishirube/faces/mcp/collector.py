"""Garbage collection while no request waits for an answer."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from time import monotonic

import anyio

THRESHOLDS = (700, 10, 500)
"""Thresholds of ``gc``; full collections are so rare that only the idle collector runs them."""
CALLS = 16
"""Answers after which a full collection is due."""
REST = 1.0
"""Seconds without a request before a due collection runs."""


class IdleCollector:
    """Runs full collections while the client is idle.

    A full collection stops every thread, for tens of milliseconds once a large manual is open: too
    long for a ping behind it.
    """

    def __init__(self, pending: Collection[str]) -> None:
        self._pending = pending
        self._answers = 0
        self._last = 0.0
        self._due = anyio.Event()

    def record_answer(self) -> None:
        """Count an answer that has been written."""
        self._answers += 1
        self._last = monotonic()
        if self._answers >= CALLS:
            self._due.set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Collect while the body runs, whenever a collection is due and no request is pending."""
        # Objects made at start-up live as long as the process; the collector can skip them.
        gc.freeze()
        gc.set_threshold(*THRESHOLDS)
        gc.enable()
        async with anyio.create_task_group() as group:
            group.start_soon(self._collect)
            yield
            group.cancel_scope.cancel()

    async def _collect(self) -> None:
        while True:
            await self._due.wait()
            await anyio.sleep(REST)
            if not self._pending and monotonic() - self._last >= REST:
                gc.collect()
                self._answers, self._due = 0, anyio.Event()
