"""Limits of each person: requests at once, open streams, and calls in a minute."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import anyio
from anyio import to_thread

from fumishirube_http.log import CallRecorder, Recorder
from fumishirube_http.people import rates, slots
from fumishirube_http.people.rates import Rates
from fumishirube_http.people.slots import Slots
from fumishirube_http.problems import Problem, TooManyRequests

AT_ONCE = 16
"""Requests of one person in progress."""
STREAMS = 16
"""Open streams of one person, which are counted apart."""


class PeopleCounts(NamedTuple):
    """What all worker processes count together: calls in a minute, and open requests."""

    rates: Rates
    slots: Slots

    @classmethod
    def of(cls, folder: Path | None) -> PeopleCounts:
        """Return the counts in a folder; without one this process counts alone."""
        if folder is None:
            return cls(Rates(), Slots())
        return cls(Rates(folder / rates.FILE), Slots(folder / slots.FOLDER))


class PersonLimits:
    """The limits of one person, whose requests and calls within calls count alike.

    ``record`` is called after each call that a tool makes for one call.
    """

    def __init__(self, name: str, per_minute: int, counts: PeopleCounts, record: Recorder) -> None:
        self.per_minute = per_minute
        self._name = name
        self._rates, self._slots = counts
        self.report = CallRecorder(record, "batch", name)
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

    @asynccontextmanager
    async def request(self, *, stream: bool) -> AsyncIterator[None]:
        """Count a request while the body runs.

        Raises:
            Problem: a 429 when it is one too many.
        """
        kind, most = ("open streams", STREAMS) if stream else ("requests at once", AT_ONCE)
        if not self._free[stream]:
            raise _too_many(f"{most} {kind}", 1)
        self._free[stream] -= 1
        try:
            slot = await self._slot("stream" if stream else "request", most)
            if slot is None:
                raise _too_many(f"{most} {kind}", 1)
            with self._slots.released(slot):
                yield
        finally:
            self._free[stream] += 1
            if self._waiting is not None and self.idle:
                self._waiting.set()

    async def _slot(self, kind: str, most: int) -> int | None:
        arguments = (self._name, kind, most)
        if not self._slots.shared:
            return self._slots.take(*arguments)
        return await to_thread.run_sync(self._slots.take, *arguments)  # also when cancelled

    # --- calls that a tool makes for one call ----------------------------------------------------

    def count(self, number: int) -> None:
        """Count calls beyond the one that the request is.

        Raises:
            TooManyRequests: when they are too many; none of them is used.
        """
        calls = f"your limit is {self.per_minute} calls in a minute, and these are {number + 1}"
        if number >= self.per_minute:
            raise TooManyRequests(f"{calls}; make fewer calls")
        wait = self._rates.use(self._name, number, self.per_minute) if number else 0
        if wait > 0:
            seconds = _whole(wait + 60 / self.per_minute)  # the later request is a call, too
            advice = f"try again in {seconds} seconds, or make fewer calls"
            raise TooManyRequests(f"{calls}; {advice}", seconds)


def _too_many(what: str, seconds: float) -> Problem:
    body = {"error": "too_many_requests", "message": f"your limit is {what}; try again later"}
    return Problem(429, body, {"retry-after": str(_whole(seconds))})


def _whole(seconds: float) -> int:
    return max(1, math.ceil(seconds))
