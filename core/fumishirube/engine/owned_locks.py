"""Which threads have locks, wait for them, or write an index: for others that wait for these."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock, RLock, get_ident

from fumishirube.errors import Cancelled

_LOOK = 0.1
"""Seconds between two checks whether a thread has to stop waiting."""
_MOST_STEPS = 8
"""The longest chain of threads that wait for each other; only a deadlock has more."""


class _Wait:
    """A thread waits for a lock, unless that is ``over``."""

    __slots__ = ("lock", "over")

    def __init__(self, lock: OwnedLock) -> None:
        self.lock = lock
        self.over = False


class OwnedLock:
    """A lock with an ``owner``: the identity of the thread that has it."""

    def __init__(self, *, reentrant: bool = False) -> None:
        self.owner: int | None = None
        self._lock = RLock() if reentrant else Lock()
        self._depth = 0

    def acquire(self, *, seconds: float | None = None) -> bool:
        """Acquire the lock; return ``False`` if another thread has it for so many seconds.

        Raises:
            Cancelled: when the waiting was stopped, because its work was left behind.
        """
        if not self._lock.acquire(blocking=False) and not self._waited(seconds):
            return False
        self._depth += 1
        self.owner = get_ident()
        return True

    def _waited(self, seconds: float | None) -> bool:
        """Wait for the lock, visibly for other threads."""
        if seconds == 0:
            return False
        thread, wait = get_ident(), _Wait(self)
        _WAITING[thread] = wait
        try:
            while not self._lock.acquire(timeout=_LOOK if seconds is None else seconds):
                if wait.over:
                    raise Cancelled("the work was left behind")
                if seconds is not None:
                    return False
            return True
        finally:
            del _WAITING[thread]

    def release(self) -> None:
        """Release the lock."""
        self._depth -= 1
        if not self._depth:
            self.owner = None
        self._lock.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


_WAITING: dict[int, _Wait] = {}
_WRITING: dict[int, Path] = {}


def working_thread(thread: int | None) -> int | None:
    """Return the thread for which a thread waits in the end: itself, unless it waits for a lock."""
    for _ in range(_MOST_STEPS):
        wait = _WAITING.get(thread) if thread is not None else None
        owner = wait.lock.owner if wait is not None else None
        if owner is None:
            return thread
        thread = owner
    return thread


def stop_waiting(thread: int | None) -> None:
    """Let a thread wait no longer for the lock for which it waits, if it does."""
    if thread is not None and (wait := _WAITING.get(thread)):
        wait.over = True


@contextmanager
def writing(manual: Path) -> Iterator[None]:
    """Note that this thread writes an index of a manual, whose folder this is."""
    _WRITING[get_ident()] = manual
    try:
        yield
    finally:
        del _WRITING[get_ident()]


def writing_thread(manual: Path) -> int | None:
    """Return a thread of this process that writes an index of a manual, if one does.

    It may be of an application that was replaced, whose update a stage delays.
    """
    return next((thread for thread, each in _WRITING.copy().items() if each == manual), None)
