"""Work on indexes in which stages of plugins take part: abandoned if one takes too long."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from threading import get_ident
from typing import TypeVar

from fumishirube.budget import Budget
from fumishirube.engine.owned_locks import stop_waiting
from fumishirube.engine.stage_calls import (
    GRACE_SECONDS,
    AbandonedWork,
    Overdue,
    StageCall,
    after_deadline,
    within_deadline,
)
from fumishirube.errors import Cancelled, PluginError
from fumishirube.host.plugin_guard import PluginGuard, RunningCode

BACKGROUND_SECONDS = 60.0
"""Seconds for one call of a plugin's code in the background: as many as calls have by default."""
_LISTING_SECONDS, _LISTING_SHARE = 10.0, 0.5
"""The most seconds, and of a call's time the largest share, for which a listing is waited for."""

_budget: ContextVar[Budget | None] = ContextVar("budget", default=None)

T = TypeVar("T")


class _WatchedWork:
    """Some work, and the plugin's code that runs in it, or for which it waits.

    ``thread`` does it as long as it runs. ``latest`` is the code that the last look at it saw.
    """

    def __init__(self, guard: PluginGuard) -> None:
        self.thread: int | None = None
        self.latest: RunningCode | None = None
        self._guard = guard

    def run(self, work: Callable[[], T]) -> T:
        self.thread = get_ident()
        try:
            return work()
        finally:
            self.thread = None  # the next thread may have the same identity

    def current(self) -> tuple[StageCall, float] | None:
        self.latest = self._guard.at_work(self.thread)
        if self.latest is None or self.latest.work is None:
            return None
        work = self.latest.work
        return StageCall("work", work.stage, work.label), self.latest.since

    @property
    def waits(self) -> bool:
        """Whether it waits for code of other work."""
        return self.latest is not None and self.latest.thread != self.thread

    def end(self, usual: Callable[[float], float], since: float) -> float:
        """Return until when the latest code may run; what others have abandoned, no longer."""
        return since if self.latest and self.latest.abandoned else usual(since)


class WatchedUpdates:
    """Runs the updates of the indexes of one surface that has stages of plugins.

    Built-in stages end in time by themselves. In the background, a call of a plugin's code may take
    ``background_seconds``. No call goes on without work that is left behind if they are ``strict``.
    """

    def __init__(
        self,
        guard: PluginGuard,
        background_seconds: float = BACKGROUND_SECONDS,
        *,
        strict: bool = False,
    ) -> None:
        self._guard = guard
        self._strict = strict
        self._background_seconds = background_seconds

    def run(self, work: Callable[[], T], budget: Budget) -> T:
        """Do the work of a call in an index: update it, or read what its answer needs.

        Raises:
            AbandonedWork: when a plugin's stage runs past the deadline, in this work or in other
                work that this one waits for; at once, if that was abandoned before. The error
                names the stage and the seconds.
            PluginError: instead of it, if the configuration is strict.
        """
        if budget.deadline is None:
            return work()
        outer = _budget.set(budget)
        try:
            return self._run(work, budget, partial(after_deadline, budget))
        except AbandonedWork as error:
            if self._strict:
                raise PluginError(str(error)) from error
            raise
        finally:
            _budget.reset(outer)

    def run_in_background(self, work: Callable[[], T], budget: Budget) -> T:
        """Do work for which no call waits, however many calls of a plugin's code it needs.

        Raises:
            AbandonedWork: when one of them takes too long.
        """
        return self._run(work, budget, lambda since: since + self._background_seconds)

    def _run(self, work: Callable[[], T], budget: Budget, usual: Callable[[float], float]) -> T:
        begun = _WatchedWork(self._guard)
        run, end = partial(begun.run, work), partial(begun.end, usual)
        try:
            return within_deadline(run, begun.current, budget, end)
        except Overdue as overdue:
            stop_waiting(begun.thread)  # else a thread of each call stays as long as the stage
            raise self._abandoned(begun, overdue) from overdue
        except Cancelled:
            stop_waiting(begun.thread)
            raise

    def _abandoned(self, begun: _WatchedWork, overdue: Overdue) -> AbandonedWork:
        """Return the error; record the code, unless it belongs to work that others watch."""
        code = begun.latest
        assert code
        assert code.work
        if code.abandoned or begun.waits:
            return AbandonedWork(f"{overdue.call} has been at work for {overdue.seconds:.1f} s")
        code.abandoned = True
        problem = f"was abandoned after {overdue.seconds:.1f} s"
        self._guard.log.record(code.work, f"it {problem}")
        return AbandonedWork(f"{overdue.call} {problem}")

    def delay(self, thread: int | None, began: float) -> str | None:
        """Return which stage has been at work on a thread since before a call, and its seconds."""
        code = self._guard.at_work(thread)
        if code is None or code.work is None or code.since >= began:
            return None
        seconds = time.monotonic() - code.since
        if seconds < GRACE_SECONDS:
            return None
        return f"{code.work.label} has been at work for {seconds:.1f} s"


def listing_seconds() -> float:
    """Return for how many seconds a loader may list its files in the running update."""
    budget = _budget.get()
    if budget is None or budget.left is None:
        return _LISTING_SECONDS
    return min(_LISTING_SECONDS, _LISTING_SHARE * budget.left)
