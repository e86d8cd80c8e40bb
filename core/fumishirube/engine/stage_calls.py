"""The call of a stage: recorded, and abandoned when its time is over."""

from __future__ import annotations

import contextvars
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from functools import lru_cache, partial
from threading import Thread, get_ident
from typing import NamedTuple, Self, TypeVar

from fumishirube.budget import Budget
from fumishirube.errors import Cancelled, PluginError
from fumishirube.model import Hit, Ranking
from fumishirube.traces.records import Span, SpanKind, TraceRow

GRACE_SECONDS = 0.5
"""Seconds that a stage may run past the deadline: most work ends by itself."""
_LOOK = 0.1
"""Seconds between two checks of the clock and of a cancellation."""

T = TypeVar("T")


class StageCall(NamedTuple):
    """A stage of one search: its kind, its name, and its name in messages."""

    kind: str
    name: str
    label: str

    def __str__(self) -> str:
        return self.label


class AtWork(NamedTuple):
    """What an overdue stage calls: its name, and whether it is an index."""

    name: str
    is_index: bool


class Overdue(Exception):
    """A stage runs past the deadline of its call."""

    def __init__(self, call: StageCall, seconds: float) -> None:
        super().__init__(f"{call} has been at work for {seconds:.1f} s")
        self.call = call
        self.seconds = seconds


class AbandonedWork(PluginError):
    """Work that goes on beside whatever began it, because a plugin takes too long."""


class Recorder:
    """Collects the spans of one search. A span is made when its work is done.

    ``thread`` is the thread on which the running stage runs; another thread may read it.
    ``abandoned`` tells whether the search has to end before its next stage.
    """

    def __init__(self) -> None:
        self._current: tuple[StageCall, float] | None = None
        self.thread = 0
        self.abandoned = False
        self._began = time.perf_counter()
        self._open: list[tuple[float, list[Span]]] = [(self._began, [])]
        self._written: dict[int, tuple[tuple[Hit, ...], tuple[TraceRow, ...]]] = {}
        self._latest: dict[int, tuple[Hit, TraceRow]] = {}

    def calling(self, call: StageCall) -> Self:
        """Record that a stage is running, until the returned context ends.

        Raises:
            Cancelled: when this search was abandoned.
        """
        if self.abandoned:
            raise Cancelled("the search was left behind")
        self.thread = get_ident()
        self._current = (call, time.monotonic())
        return self

    def __enter__(self) -> None:
        """Begin the context of a running stage."""

    def __exit__(self, *_: object) -> None:
        """End the context of a running stage."""
        self._current = None

    def current(self) -> tuple[StageCall, float] | None:
        """Return the running stage, and its start by :func:`time.monotonic`; any thread may."""
        return self._current

    def copy(self) -> Recorder:
        """Return a recorder with the spans so far, which may be closed on another thread."""
        copy = Recorder()
        copy._began = self._began
        copy._open = [(started, [*children]) for started, children in self._open]
        return copy

    def open(self) -> None:
        """Begin a span below the last open one."""
        self._open.append((time.perf_counter(), []))

    def close(
        self,
        kind: SpanKind,
        name: str,
        ranking: Ranking,
        *,
        weight: float = 1.0,
        error: str | None = None,
        must: tuple[str, ...] = (),
        out_of_time: bool = False,
    ) -> Span:
        """End the last open span with its ranking."""
        started, children = self._open.pop()
        span = Span(
            name=name,
            kind=kind,
            started_ms=round((started - self._began) * 1000, 3),
            ms=round((time.perf_counter() - started) * 1000, 3),
            rows=() if kind == "scorer" else self._rows(ranking.hits),
            left_out=ranking.left_out,
            diagnostics=ranking.diagnostics,
            weight=weight,
            error=error,
            children=tuple(children),
            must=must,
            out_of_time=out_of_time,
        )
        self._open[-1][1].append(span)
        return span

    def _rows(self, hits: tuple[Hit, ...]) -> tuple[TraceRow, ...]:
        """Return the rows of a ranking; what stages pass on unchanged has the same rows."""
        if id(hits) not in self._written:
            self._written[id(hits)] = (hits, tuple(self._new_rows(hits)))
        return self._written[id(hits)][1]

    def _new_rows(self, hits: Iterable[Hit]) -> Iterator[TraceRow]:
        """Yield the rows of hits: for one that equals the latest of its passage, the same row."""
        for hit in hits:
            place = id(hit.passage)
            latest = self._latest.get(place)
            if latest is None or (latest[0] is not hit and latest[0] != hit):
                latest = self._latest[place] = (hit, trace_row(hit))
            yield latest[1]


def trace_row(hit: Hit) -> TraceRow:
    """Return what a trace has of a hit."""
    passage, score, labels, coverage, matched, signals, _ = hit
    path, start, end, title, ancestors, _, digest, _ = passage
    return TraceRow(
        path, start, end, title, digest, score, coverage, _once(labels), matched, signals, ancestors
    )


@lru_cache(maxsize=1024)
def _once(labels: frozenset[str]) -> frozenset[str]:
    """Return the same object for equal labels: a hundred traces contain thousands of them."""
    return labels


def threaded(work: Callable[[], T]) -> Future[T]:
    """Run the work on a thread of its own, which ends with the process at the latest."""
    future = Future[T]()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    context = contextvars.copy_context()
    Thread(target=context.run, args=(run,), name="fumishirube stage", daemon=True).start()
    return future


def within_deadline(
    work: Callable[[], T],
    running: Callable[[], tuple[StageCall, float] | None],
    budget: Budget,
    end: Callable[[float], float] | None = None,
) -> T:
    """Return the result of the work, run on one thread for all its stages.

    ``running`` returns the running stage, and its start by :func:`time.monotonic`, if one runs.
    ``end`` returns until when a stage may run that began at a time; else that is the deadline.

    Raises:
        Overdue: when a stage runs longer; its thread is abandoned.
        Cancelled: when the caller has gone, and a stage does not notice.
    """
    end, future = end or partial(after_deadline, budget), threaded(work)
    while not wait([future], _LOOK).done:
        if (current := running()) is None:
            continue
        call, since = current
        now = time.monotonic()
        if now > end(since):
            raise Overdue(call, now - since)
        if budget.cancelled.is_set() and now > since + GRACE_SECONDS:
            raise Cancelled("the request was cancelled")
    return future.result()


def after_deadline(budget: Budget, since: float) -> float:
    """Return until when a stage may run that began at a time, in a call with a deadline."""
    return max(budget.deadline or since, since) + GRACE_SECONDS
