"""Code of plugins for which all else waits: named while it takes long, on one thread for all."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread, get_ident
from typing import TYPE_CHECKING

from fumishirube.host.crash_marks import ForeignWork
from fumishirube.host.faults import FaultLog

if TYPE_CHECKING:
    from fumishirube.host.plugin_guard import RunningCode

_SLOW = 5.0
"""Seconds after which what is being imported, opened or closed is named."""
_LOOK = 0.5
"""Seconds between two looks. A timer for each piece of work would take longer than most work."""


class _AwaitedWork:
    """Work on a thread, awaited until it is ``open``, say; ``named`` if it has taken long."""

    named = False

    def __init__(self, work: ForeignWork, state: str) -> None:
        self.work, self.state, self.thread = work, state, get_ident()


class SlowWork:
    """Records plugin code that takes long; ``at_work`` returns what runs on a thread."""

    def __init__(self, log: FaultLog, at_work: Callable[[int], RunningCode | None]) -> None:
        self._log = log
        self._at_work = at_work
        self._awaited: list[_AwaitedWork] = []
        self._lock = Lock()
        self._watching = False
        self._over = Event()
        self._thread: Thread | None = None

    def close(self) -> None:
        """End the thread: a server with workers forks only while it has no other."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    @contextmanager
    def named(self, work: ForeignWork, state: str) -> Iterator[None]:
        """Record that something is not ``open``, say, while all else waits for it."""
        awaited = _AwaitedWork(work, state)
        with self._lock:
            self._awaited.append(awaited)
            if not self._watching:
                with suppress(RuntimeError):  # no thread begins while the interpreter ends
                    watch = Thread(target=self._watch, name="fumishirube waiting", daemon=True)
                    watch.start()
                    self._thread, self._watching = watch, True
        try:
            yield
        finally:
            with self._lock:
                self._awaited.remove(awaited)
        if awaited.named:
            self._log.worked(work, state)

    def _watch(self) -> None:
        """Look at what is awaited, until nothing is."""
        while not self._over.wait(_LOOK):
            with self._lock:
                if not self._awaited:
                    self._watching = False
                    return
                for awaited in self._awaited:
                    self._name_if_slow(awaited)

    def _name_if_slow(self, awaited: _AwaitedWork) -> None:
        code = self._at_work(awaited.thread)
        # What it waits for may be of another plugin, and is awaited too.
        if awaited.named or code is None or code.work != awaited.work:
            return
        if time.monotonic() - code.since >= _SLOW:
            awaited.named = True
            problem = f"it is not {awaited.state} after {_SLOW:.0f} s, and everything waits for it"
            self._log.record(awaited.work, problem, method=awaited.state)
