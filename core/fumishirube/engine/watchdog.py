"""Abandons a stage that still runs when the time of the call is over."""

from __future__ import annotations

import contextvars
import time
from collections.abc import Callable
from threading import Event, Thread
from typing import Generic, NamedTuple, Protocol, TypeVar

from fumishirube.budget import Budget
from fumishirube.errors import Cancelled

T = TypeVar("T")

GRACE_SECONDS = 0.5
"""Seconds that a stage may run past the deadline: most work ends by itself."""
_LOOK = 0.1
"""Seconds between two checks of the clock and of a cancellation."""


class StageCall(NamedTuple):
    """A stage of one search: its kind, its name, and its name in messages."""

    kind: str
    name: str
    label: str

    def __str__(self) -> str:
        return self.label


class Overdue(Exception):
    """A stage runs past the deadline of its search."""

    def __init__(self, call: StageCall, seconds: float) -> None:
        super().__init__(f"{call} has been at work for {seconds:.1f} s")
        self.call = call
        self.seconds = seconds


class Watched(Protocol):
    """Work that names its running stage, and its start by :func:`time.monotonic`."""

    current: tuple[StageCall, float] | None


class _Worker(Generic[T]):
    """Runs the work on a thread of its own, which ends with the process at the latest."""

    def __init__(self, work: Callable[[], T]) -> None:
        self.done = Event()
        self._work = work
        self._result: list[T] = []
        self._error: BaseException | None = None
        context = contextvars.copy_context()
        Thread(
            target=context.run, args=(self._run,), name="fumishirube search", daemon=True
        ).start()

    def result(self) -> T:
        if self._error is not None:
            raise self._error
        return self._result[0]

    def _run(self) -> None:
        try:
            self._result.append(self._work())
        except BaseException as error:
            self._error = error
        finally:
            self.done.set()


def watched(work: Callable[[], T], progress: Watched, budget: Budget) -> T:
    """Return the result of the work, run on one thread for all its stages.

    Raises:
        Overdue: when a stage runs past the deadline; its thread is abandoned.
        Cancelled: when the caller has gone, and a stage does not notice.
    """
    worker = _Worker(work)
    while not worker.done.wait(_LOOK):
        current = progress.current
        if current is None:
            continue
        call, since = current
        now = time.monotonic()
        if budget.deadline is not None and now > max(budget.deadline, since) + GRACE_SECONDS:
            raise Overdue(call, now - since)
        if budget.cancelled.is_set() and now > since + GRACE_SECONDS:
            raise Cancelled("the request was cancelled")
    return worker.result()
