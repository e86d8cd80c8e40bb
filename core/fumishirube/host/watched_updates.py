"""Updates of indexes in which stages of plugins take part: abandoned if one takes too long."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import ContextVar
from threading import get_ident
from typing import Generic, TypeVar

from fumishirube.budget import Budget
from fumishirube.engine.stage_calls import Overdue, StageCall, within_deadline
from fumishirube.errors import PluginError
from fumishirube.host.crash_marks import ForeignWork
from fumishirube.host.plugin_guard import PluginGuard

_LISTING_SECONDS, _LISTING_SHARE = 10.0, 0.5
"""The most seconds, and of a call's time the largest share, for which a listing is waited for."""

_budget: ContextVar[Budget | None] = ContextVar("budget", default=None)

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class AbandonedUpdate(PluginError):
    """An update that goes on beside the call that began it, because a plugin takes too long."""


class _Update(Generic[T_co]):
    """One update, and the plugin's stage that is at work in it."""

    def __init__(self, update: Callable[[], T_co], guard: PluginGuard) -> None:
        self.running = True
        self._update = update
        self._guard = guard
        self._began = time.monotonic()
        self._thread: int | None = None

    def run(self) -> T_co:
        self._thread = get_ident()
        try:
            return self._update()
        finally:
            self.running = False

    @property
    def work(self) -> tuple[ForeignWork, float] | None:
        """What runs, and its start; also where this update waits for another one."""
        return self._guard.at_work(self._thread, self._began)

    @property
    def current(self) -> tuple[StageCall, float] | None:
        """The running stage, and its start."""
        if (at_work := self.work) is None:
            return None
        work, since = at_work
        return StageCall("update", work.stage, work.label), since


class WatchedUpdates:
    """Runs the updates of the indexes of one surface that has stages of plugins.

    Built-in stages end in time by themselves.
    """

    def __init__(self, guard: PluginGuard) -> None:
        self._guard = guard
        self._abandoned: dict[str, _Update[object]] = {}

    def run(self, manual_id: str, update: Callable[[], T], budget: Budget) -> T:
        """Update the index of a manual.

        Raises:
            AbandonedUpdate: when a plugin's stage runs past the deadline, or still runs in an
                update that an earlier call abandoned; it names the stage and the seconds.
        """
        if budget.deadline is None:
            return update()
        former = self._abandoned.get(manual_id)
        if former is not None and former.running and (current := former.current):
            call, since = current
            raise AbandonedUpdate(f"{call} has been at work for {time.monotonic() - since:.1f} s")
        self._abandoned.pop(manual_id, None)
        begun = _Update(update, self._guard)
        outer = _budget.set(budget)
        try:
            return within_deadline(begun.run, begun, budget)
        except Overdue as overdue:
            self._abandoned[manual_id] = begun
            problem = f"was abandoned after {overdue.seconds:.1f} s"
            if at_work := begun.work:
                self._guard.log.record(at_work[0], f"it {problem}")
            raise AbandonedUpdate(f"{overdue.call} {problem}") from overdue
        finally:
            _budget.reset(outer)


def listing_seconds() -> float:
    """Return for how many seconds a loader may list its files in the running update."""
    budget = _budget.get()
    if budget is None or budget.left is None:
        return _LISTING_SECONDS
    return min(_LISTING_SECONDS, _LISTING_SHARE * budget.left)
