"""Limits of each person: requests at once, open streams, and calls in a minute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import anyio
from anyio import to_thread
from pydantic import JsonValue

from fumishirube import ToolError
from fumishirube_http.log import Recorder, call_entry
from fumishirube_http.people.rates import Rates
from fumishirube_http.problems import Problem, TooManyRequests

AT_ONCE = 16
"""Requests of one person in progress."""
STREAMS = 16
"""Open streams of one person, which are counted apart."""


class PersonLimits:
    """The limits of one person, whose requests and calls within calls count alike.

    ``record`` is called after each call that a tool makes for one call.
    """

    def __init__(self, name: str, per_minute: int, rates: Rates, record: Recorder) -> None:
        self.per_minute = per_minute
        self._name = name
        self._rates = rates
        self._record = record
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

    async def check_rate(self) -> None:
        """Use one call of the rate.

        Raises:
            Problem: a 429 when it is one too many.
        """
        arguments = (self._name, 1, self.per_minute)
        if self._rates.shared:  # a file, which could be slow
            wait = await to_thread.run_sync(self._rates.use, *arguments)
        else:
            wait = self._rates.use(*arguments)
        if wait > 0:
            raise _too_many(f"{self.per_minute} requests in a minute", wait)

    @contextmanager
    def request(self, *, stream: bool) -> Iterator[None]:
        """Count a request while the body runs.

        Raises:
            Problem: a 429 when it is one too many.
        """
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

    # --- calls that a tool makes for one call ----------------------------------------------------

    def count(self, number: int) -> None:
        """Count calls beyond the one that the request is.

        Raises:
            TooManyRequests: when they are too many; none of them is used.
        """
        wait = self._rates.use(self._name, number, self.per_minute) if number else 0
        if wait > 0:
            raise TooManyRequests(
                f"your limit is {self.per_minute} calls in a minute, and these are {number + 1}; "
                f"try again in {_whole(wait)} seconds, or make fewer calls"
            )

    def report(
        self,
        tool: str,
        arguments: object,
        answer: Mapping[str, JsonValue],
        error: ToolError | None,
        seconds: float,
    ) -> None:
        """Record one of them."""
        self._record(call_entry("batch", tool, arguments, answer, error, self._name), seconds)


def _too_many(what: str, seconds: float) -> Problem:
    body = {"error": "too_many_requests", "message": f"your limit is {what}; try again later"}
    return Problem(429, {**body}, {"retry-after": str(_whole(seconds))})


def _whole(seconds: float) -> int:
    return max(1, round(seconds + 0.5))
