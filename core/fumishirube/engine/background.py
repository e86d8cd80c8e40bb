"""Indexing in the background, between calls."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from threading import Condition, Event, Thread

from fumishirube.budget import Budget
from fumishirube.engine.folder_index import FolderIndex
from fumishirube.engine.recoverable_index import IndexState
from fumishirube.engine.stage_calls import AbandonedWork
from fumishirube.errors import Cancelled, FumishirubeError

_log = logging.getLogger("fumishirube")

_MIN_TURN_SECONDS = 0.1
"""Seconds that a turn runs in any case, so that constant calls do not stop the indexing."""
_MAX_TURN_SECONDS = 1.0
"""Seconds after which a turn ends, so that its results are committed."""
_IDLE_WAIT_SECONDS = 0.25
"""Seconds that a turn waits for calls to end before it runs beside them."""
_YIELD_SECONDS = 0.001
"""Seconds between two files, for other threads."""
_FIRST_SECONDS = 1.0
"""Seconds for the client's handshake, before indexing begins that no call requested."""
_REST_SECONDS = 0.15
"""Seconds without a call after the handshake, after which it begins earlier."""
_LEADER_SECONDS = 0.5
"""Seconds between two looks whether indexing is being closed, while another process leads."""
_CLOSE_SECONDS = 0.3
"""Seconds that closing waits for the turn to end."""


def _run_directly(work: Callable[[], None], budget: Budget) -> None:
    del budget
    work()


@contextmanager
def _reported() -> Iterator[None]:
    """Log why the body could not prepare an index; the first call reports it too."""
    try:
        yield
    except Cancelled:  # indexing is being closed
        pass
    except FumishirubeError as error:
        _log.warning("indexing did not begin ahead of the calls: %s", error)
    except BaseException:  # the code of a plugin
        _log.exception("indexing did not begin ahead of the calls")


class BackgroundIndexer:
    """One thread that indexes in short turns, and yields to calls.

    Only servers have one, because a command ends before the indexing would. If several processes
    serve the same indexes, only the one for which ``leads`` is set indexes ahead of the calls.
    ``runs`` does each piece of work, or leaves it behind and raises :class:`AbandonedWork`. Such
    work queues what it leaves to do when it ends.
    """

    def __init__(
        self,
        leads: Event | None = None,
        runs: Callable[[Callable[[], None], Budget], None] = _run_directly,
    ) -> None:
        self._leads = leads
        self._runs = runs
        self._waiting: list[FolderIndex] = []
        self._unchecked: list[FolderIndex] = []
        self._calls = 0
        self._changed = Condition()
        self._closing = Event()
        self._quiet_since: float | None = None
        self._thread: Thread | None = None

    @contextmanager
    def call(self) -> Iterator[None]:
        """Pause the indexing while a call is answered."""
        with self._changed:
            self._calls += 1
        try:
            yield
        finally:
            with self._changed:
                self._calls -= 1
                if self._quiet_since is not None:
                    self._quiet_since = time.monotonic()
                self._changed.notify_all()

    def begin(
        self, manuals: Callable[[], Iterable[str]], opened: Callable[[str], FolderIndex]
    ) -> None:
        """Index ahead of the calls, after the client's handshake."""

        def warm_up() -> None:
            if self._wait_for_client():
                return
            while self._leads is not None and not self._leads.wait(_LEADER_SECONDS):
                if self._closing.is_set():
                    return
            budget = Budget(cancelled=self._closing)

            def open_next(manual_id: str) -> None:
                self.take_up(opened(manual_id))

            with _reported():
                for manual_id in manuals():
                    with _reported():  # its folder may be gone; the others are indexed
                        self._runs(partial(open_next, manual_id), budget)
                    with self._changed:
                        self._changed.wait_for(lambda: not self._waiting or self._closing.is_set())
                    if self._closing.is_set():
                        return

        Thread(target=warm_up, name="fumishirube warming up", daemon=True).start()

    def greet(self) -> None:
        """Note that the client's handshake is being answered, which ends it."""
        with self._changed:
            self._quiet_since = time.monotonic()
            self._changed.notify_all()

    def follow_up(self, indexed: FolderIndex, state: IndexState) -> None:
        """Queue what a call has left to do in an index."""
        if state.unfinished or state.unembedded:
            self.take_up(indexed)
        elif indexed.manual.check_due:
            self._queue(indexed, self._unchecked)

    def take_up(self, indexed: FolderIndex) -> None:
        """Queue an index for an update."""
        self._queue(indexed, self._waiting)

    def _wait_for_client(self) -> bool:
        """Wait for the client's handshake and a rest, not for long; tell whether it is closing."""
        end = time.monotonic() + _FIRST_SECONDS
        with self._changed:
            while not self._closing.is_set():
                begin = end
                if self._quiet_since is not None and not self._calls:
                    begin = min(end, self._quiet_since + _REST_SECONDS)
                if (left := begin - time.monotonic()) <= 0:
                    break
                self._changed.wait(left)
        return self._closing.is_set()

    def _queue(self, indexed: FolderIndex, waiting: list[FolderIndex]) -> None:
        with self._changed:
            if indexed not in waiting:
                waiting.append(indexed)
            if self._thread is None:
                self._thread = Thread(target=self._run, name="fumishirube indexing", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def close(self) -> None:
        """End the running turn; uncommitted work is left to the next call."""
        self._closing.set()
        with self._changed:
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(_CLOSE_SECONDS)

    def _run(self) -> None:
        while (work := self._next()) is not None:
            try:
                work()
            except Cancelled:  # if indexing is being closed, there is no next work
                pass
            except AbandonedWork as error:  # it is recorded, and calls name it too
                _log.info("indexing in the background was left behind: %s", error)
            except BaseException:  # a panic of an extension in Rust is no Exception
                # The next call fails in the same way, and reports it.
                _log.exception("indexing in the background failed")

    def _take_turn(self, indexed: FolderIndex, turn: Budget) -> None:
        """Index for one turn, and queue what is left: also when nothing waits for it any more."""
        state = indexed.bring_up_to_date(turn, reporting=False)
        if state.unfinished:
            _log.info("indexing goes on in the background: %s", state.degraded)
        if state.unfinished or indexed.embed(turn):
            self.take_up(indexed)
        if indexed.manual.check_due:
            self._queue(indexed, self._unchecked)

    def _next(self) -> Callable[[], None] | None:
        """Wait for work, and for calls to end; return ``None`` when indexing is closed."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._unchecked or self._waiting or self._closing.is_set()
            )
            self._changed.wait_for(
                lambda: not self._calls or self._closing.is_set(), _IDLE_WAIT_SECONDS
            )
            if self._closing.is_set():
                return None
            if self._unchecked:
                return self._unchecked.pop(0).manual.check
            first = self._waiting.pop(0)
            self._changed.notify_all()
            turn = _TurnBudget(cancelled=self._closing, calls=lambda: self._calls)
            return partial(self._runs, partial(self._take_turn, first, turn), turn)


@dataclass(frozen=True)
class _TurnBudget(Budget):
    """The budget of one turn: without a deadline, but it ends when calls come in."""

    calls: Callable[[], int] = field(kw_only=True)
    began: float = field(default_factory=time.monotonic, kw_only=True)

    @property
    def late(self) -> bool:
        longest = _MIN_TURN_SECONDS if self.calls() else _MAX_TURN_SECONDS
        return time.monotonic() - self.began > longest

    def check(self) -> None:
        super().check()
        time.sleep(_YIELD_SECONDS)
