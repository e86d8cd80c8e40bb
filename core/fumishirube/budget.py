"""The time budget of a call: its deadline, and whether the caller still waits."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from math import inf
from threading import Event

from fumishirube.errors import Cancelled

_LONGEST_MS = 10**10
_RESERVED_SHARE = 0.4
_RESERVED_SECONDS = 1.0


@dataclass(frozen=True)
class Budget:
    """A deadline on the monotonic clock, and a flag that the caller may set to cancel.

    ``deadline`` is in seconds of :func:`time.monotonic`; ``None`` means no limit. ``milliseconds``
    is the time from the start to the deadline. ``ended`` is set to end the work before.
    """

    deadline: float | None = None
    cancelled: Event = field(default_factory=Event)
    milliseconds: int | None = None
    ended: Event = field(default_factory=Event)

    @classmethod
    def of(cls, milliseconds: int | None, cancelled: Event | None = None) -> Budget:
        """Return the budget of a call that starts now."""
        if milliseconds is None:
            return cls(None, cancelled or Event())
        milliseconds = min(milliseconds, _LONGEST_MS)
        return cls(time.monotonic() + milliseconds / 1000, cancelled or Event(), milliseconds)

    def part(self, milliseconds: int) -> Budget:
        """Return the budget of a part that starts now, and ends with this one at the latest."""
        part = replace(Budget.of(milliseconds, self.cancelled), ended=self.ended)
        if self.deadline is None or part.deadline is None:
            return part
        return replace(part, deadline=min(part.deadline, self.deadline))

    def within(self, seconds: float) -> Budget:
        """Return the budget of a part of the call, which ends after some seconds at the latest."""
        deadline = time.monotonic() + seconds
        if self._late_at <= deadline:
            return self
        return replace(self, deadline=deadline, milliseconds=None)

    @property
    def _late_at(self) -> float:
        """The time from which only the time for finishing is left; infinite without a deadline."""
        if self.ended.is_set():
            return -inf
        if self.deadline is None or self.milliseconds is None:
            return inf if self.deadline is None else self.deadline
        return self.deadline - min(_RESERVED_SECONDS, _RESERVED_SHARE * self.milliseconds / 1000)

    @property
    def spent(self) -> bool:
        """Whether the time is over."""
        return self.left == 0

    @property
    def late(self) -> bool:
        """Whether only the time for finishing is left: running work must end now."""
        return time.monotonic() >= self._late_at

    @property
    def left(self) -> float | None:
        """Seconds that are left, never negative; ``None`` without a limit."""
        if self.ended.is_set():
            return 0.0
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def check(self) -> None:
        """Raise :class:`Cancelled` if the caller has gone; long loops call this."""
        if self.cancelled.is_set():
            raise Cancelled("the request was cancelled")
