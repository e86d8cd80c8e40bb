"""Updates of indexes in which stages of plugins take part: abandoned if one takes too long."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import ContextVar
from math import inf
from threading import get_ident
from typing import Any, Generic, TypeVar

from fumishirube.budget import Budget
from fumishirube.engine.stage_calls import AbandonedUpdate, Overdue, StageCall, within_deadline
from fumishirube.host.crash_marks import ForeignWork
from fumishirube.host.plugin_guard import PluginGuard

_BACKGROUND_MS = 60_000
"""Milliseconds of an update that no call began: as many as calls have that say no time."""
_LISTING_SECONDS, _LISTING_SHARE = 10.0, 0.5
"""The most seconds, and of a call's time the largest share, for which a listing is waited for."""
_LOOK = 0.05
"""Seconds between two looks at the stage that delays an update."""

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class _Update(Generic[T_co]):
    """One update, and the plugin's stage that is at work in it, or in the one that it waits for."""

    def __init__(
        self, name: str, update: Callable[[], T_co], budget: Budget, among: WatchedUpdates
    ) -> None:
        self.name = name
        self.budget = budget
        self.abandoned = False
        self.awaited: _Update[Any] | None = None
        self._update = update
        self._among = among
        self._began = time.monotonic()
        self._thread: int | None = None

    def run(self) -> T_co:
        self._thread = get_ident()
        self._among.running.append(self)
        try:
            return self._update()
        finally:
            self._among.running.remove(self)

    @property
    def own_work(self) -> tuple[ForeignWork, float] | None:
        """What runs in this update itself, and its start."""
        return self._among.guard.at_work(self._thread, -inf)

    @property
    def work(self) -> tuple[ForeignWork, float] | None:
        """What runs, and its start; also where this update waits for another one."""
        if awaited := self.awaited:
            return awaited.own_work
        return self._among.guard.at_work(self._thread, self._began)

    @property
    def current(self) -> tuple[StageCall, float] | None:
        """The running stage, and its start."""
        if (at_work := self.work) is None:
            return None
        work, since = at_work
        return StageCall("update", work.stage, work.label), since

    def delay(self) -> str | None:
        """Return what runs in an update of the same name since before this one, if anything does.

        If the call's time is over, wait for it, so that it is abandoned like work of this update.
        """
        for other in self._among.of(self.name):
            work = other.own_work
            if other is self or work is None or work[1] >= self._began:
                continue
            self.awaited = other
            while self.budget.late and not other.abandoned and other.own_work == work:
                self.budget.check()
                time.sleep(_LOOK)
            if other.own_work == work:
                return _at_work(work[0].label, work[1])
            self.awaited = None
        return None


_current: ContextVar[_Update[Any] | None] = ContextVar("update", default=None)


class WatchedUpdates:
    """Runs the updates of the indexes of one surface that has stages of plugins.

    Built-in stages end in time by themselves.
    """

    def __init__(self, guard: PluginGuard) -> None:
        self.guard = guard
        self.running: list[_Update[Any]] = []

    def of(self, name: str) -> list[_Update[Any]]:
        """Return the running updates of a name. Any thread may call this."""
        return [update for update in self.running.copy() if update.name == name]

    def run(self, name: str, update: Callable[[], T], budget: Budget) -> T:
        """Update an index; its updates have the same name, such as the id of the manual.

        Raises:
            AbandonedUpdate: when a plugin's stage runs past the deadline, in this update or in one
                that this one waits for, or still runs in an update that was abandoned; it names the
                stage and the seconds.
        """
        if budget.deadline is None:
            return update()
        for former in self.of(name):
            if former.abandoned and (current := former.current):
                call, since = current
                raise AbandonedUpdate(_at_work(str(call), since))
        begun = _Update(name, update, budget, self)
        outer = _current.set(begun)
        try:
            return within_deadline(begun.run, begun, budget)
        except Overdue as overdue:
            problem = f"was abandoned after {overdue.seconds:.1f} s"
            self._abandon(begun.awaited or begun, f"it {problem}")
            raise AbandonedUpdate(f"{overdue.call} {problem}") from overdue
        finally:
            _current.reset(outer)

    def run_in_background(self, name: str, update: Callable[[], T], budget: Budget) -> T:
        """Update an index as :meth:`run` does, while no call waits for it."""
        return self.run(name, update, budget.part(_BACKGROUND_MS))

    def _abandon(self, update: _Update[Any], problem: str) -> None:
        """Record what runs in an update; whoever began it does not record it again."""
        if not update.abandoned:
            update.abandoned = True
            if at_work := update.work:
                self.guard.log.record(at_work[0], problem)


def _at_work(label: str, since: float) -> str:
    return f"{label} has been at work for {time.monotonic() - since:.1f} s"


def delay() -> str | None:
    """Return what delays the running update: a plugin's stage, and the seconds it has been at work.

    Work of another update counts if it began before this update, and is not over.
    """
    update = _current.get()
    return update.delay() if update else None


def listing_seconds() -> float:
    """Return for how many seconds a loader may list its files in the running update."""
    update = _current.get()
    if update is None or update.budget.left is None:
        return _LISTING_SECONDS
    return min(_LISTING_SECONDS, _LISTING_SHARE * update.budget.left)
