"""How long a call may take, and whether anybody still waits for it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from threading import Event

from fumishirube.errors import Cancelled

_LONGEST_MS = 10**10
_RESERVED_SHARE = 0.4
_RESERVED_SECONDS = 1.0


@dataclass(frozen=True)
class Budget:
    """A wall deadline on the monotonic clock, and a flag that the caller may raise.

    ``deadline`` is in seconds of :func:`time.monotonic`; ``None`` means no limit. ``milliseconds``
    is what was granted when it was set.
    """

    deadline: float | None = None
    cancelled: Event = field(default_factory=Event)
    milliseconds: int | None = None

    @classmethod
    def of(cls, milliseconds: int | None, cancelled: Event | None = None) -> Budget:
        """Return the budget of a call that starts now."""
        if milliseconds is None:
            return cls(None, cancelled or Event())
        seconds = min(milliseconds, _LONGEST_MS) / 1000
        return cls(time.monotonic() + seconds, cancelled or Event(), milliseconds)

    @property
    def spent(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and time.monotonic() >= self.deadline

    @property
    def late(self) -> bool:
        """Whether no more time than finishing takes is left: what is under way ends now."""
        if self.deadline is None or self.milliseconds is None:
            return self.spent
        reserved = min(_RESERVED_SECONDS, _RESERVED_SHARE * self.milliseconds / 1000)
        return time.monotonic() >= self.deadline - reserved

    @property
    def left(self) -> float | None:
        """Seconds until the deadline, never negative; ``None`` without one."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def check(self) -> None:
        """Raise :class:`Cancelled` when the caller has gone; long loops call this."""
        if self.cancelled.is_set():
            raise Cancelled("the request was cancelled")
