"""Limits of each person: requests at once, open streams, and requests in a minute."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

import anyio

from fumishirube_http.problems import Problem

AT_ONCE = 16
"""Requests of one person in progress."""
STREAMS = 16
"""Open streams of one person, which are counted apart."""
_MINUTE = 60.0


class PersonLimits:
    """The limits of one person; a rate of N a minute allows N at once, then one each 60/N s."""

    def __init__(self) -> None:
        self._left: float | None = None
        self._at = monotonic()
        self._free = {False: AT_ONCE, True: STREAMS}
        self._waiting: anyio.Event | None = None

    async def ended(self) -> None:
        """Wait until no request is in progress."""
        while not self.idle:
            self._waiting = anyio.Event()
            await self._waiting.wait()

    @property
    def idle(self) -> bool:
        """Whether no request is in progress."""
        return self._free == {False: AT_ONCE, True: STREAMS}

    @contextmanager
    def request(self, per_minute: int, *, stream: bool) -> Iterator[None]:
        """Count a request while the body runs.

        Raises:
            Problem: a 429 when it is one too many.
        """
        wait = self._wait(per_minute)
        if wait > 0:
            raise _too_many(f"{per_minute} requests in a minute", wait)
        if not self._free[stream]:
            what = "open streams" if stream else "requests at once"
            raise _too_many(f"{STREAMS if stream else AT_ONCE} {what}", 1)
        self._free[stream] -= 1
        try:
            yield
        finally:
            self._free[stream] += 1
            if self._waiting is not None and self.idle:
                self._waiting.set()

    def _wait(self, per_minute: int) -> float:
        """Use one request of the rate; return the seconds until there is one, 0 for now."""
        now = monotonic()
        left = per_minute if self._left is None else self._left
        left = min(per_minute, left + (now - self._at) * per_minute / _MINUTE)
        self._at = now
        if left < 1:
            self._left = left
            return (1 - left) * _MINUTE / per_minute
        self._left = left - 1
        return 0


def _too_many(what: str, seconds: float) -> Problem:
    body = {"error": "too_many_requests", "message": f"your limit is {what}; try again later"}
    return Problem(429, {**body}, {"retry-after": str(max(1, round(seconds + 0.5)))})
