"""Turns: few calls work at once, so that the protocol always gets its share of the interpreter."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

AT_ONCE = 2
"""How many calls work at once; more would only take the interpreter from each other."""
LONG = 0.5
"""Seconds after which a call that still works no longer counts."""
SWITCH = 0.0005
"""Seconds after which a thread that computes lets another one have the interpreter.

A message passes through three threads; with the default of 0.005 each of them would wait that long
for every call that computes.
"""


class Turns:
    """Calls get their turn in the order in which they came; one that takes long gives it up.

    So a call that reads a whole manual delays the short ones behind it, but does not stop them.
    """

    def __init__(self) -> None:
        self._limiter = anyio.CapacityLimiter(AT_ONCE)
        self._counted: set[object] = set()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn, and hold it while the body runs, or for ``LONG`` seconds."""
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
        await anyio.sleep(LONG)
        self._end(caller)

    def _end(self, caller: object) -> None:
        if caller in self._counted:
            self._counted.remove(caller)
            self._limiter.release_on_behalf_of(caller)
