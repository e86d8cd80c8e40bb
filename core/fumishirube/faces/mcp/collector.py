"""The collection of garbage, at times when nobody waits for an answer."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from time import monotonic

import anyio

THRESHOLDS = (700, 10, 500)
"""How rare collections are; the last, of everything, is left for when nothing is asked."""
CALLS = 16
"""After so many answers everything is due to be looked at."""
REST = 1.0
"""Seconds without a question before that is done."""


class IdleCollector:
    """Looks at everything there is while the client is silent.

    Nothing else runs meanwhile, which takes tens of milliseconds once a large manual is open: too
    long for a ping behind it.
    """

    def __init__(self, pending: Collection[str]) -> None:
        self._pending = pending
        self._answers = 0
        self._last = 0.0
        self._due = anyio.Event()

    def answered(self) -> None:
        """Take note of an answer that has been written."""
        self._answers += 1
        self._last = monotonic()
        if self._answers >= CALLS:
            self._due.set()

    @asynccontextmanager
    async def collected(self) -> AsyncIterator[None]:
        """Collect while the body runs, whenever it is due and nothing is asked."""
        # What start-up made stays; the collector need never look at it again.
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
