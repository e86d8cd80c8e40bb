"""Writing down what the stages of one search do, while they do it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Literal

from fumishirube.engine.watchdog import StageCall
from fumishirube.errors import Cancelled
from fumishirube.model import Hit, Ranking
from fumishirube.traces.records import Span, TraceRow

SpanKind = Literal["search", "run", "scorer", "fuser", "refiner"]


class Recorder:
    """Collects the spans of one search. A span is made when its work is done.

    ``current`` is the stage that is at work, and since when by :func:`time.monotonic`; another
    thread may look at it.
    """

    def __init__(self) -> None:
        self.current: tuple[StageCall, float] | None = None
        self._left = False
        self._began = time.perf_counter()
        self._children: list[list[Span]] = [[]]
        self._written: dict[int, tuple[tuple[Hit, ...], tuple[TraceRow, ...]]] = {}

    @contextmanager
    def calling(self, call: StageCall) -> Iterator[None]:
        """Say which stage is at work.

        Raises:
            Cancelled: when nobody waits for this search any more.
        """
        if self._left:
            raise Cancelled("the search was left behind")
        self.current = (call, time.monotonic())
        try:
            yield
        finally:
            self.current = None

    def leave(self) -> None:
        """Let a search that nobody waits for end before its next stage."""
        self._left = True

    def open(self) -> float:
        """Begin a span, below the one that was begun last; return when."""
        self._children.append([])
        return time.perf_counter()

    def close(
        self,
        kind: SpanKind,
        name: str,
        started: float,
        ranking: Ranking,
        *,
        weight: float = 1.0,
        error: str | None = None,
        must: tuple[str, ...] = (),
        out_of_time: bool = False,
    ) -> Span:
        """End the span that was begun last, with the ranking that it led to."""
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
            children=tuple(self._children.pop()),
            must=must,
            out_of_time=out_of_time,
        )
        self._children[-1].append(span)
        return span

    def _rows(self, hits: tuple[Hit, ...]) -> tuple[TraceRow, ...]:
        """Write down a ranking once, however many stages hand it on unchanged."""
        if id(hits) not in self._written:
            self._written[id(hits)] = (hits, tuple(_row(hit) for hit in hits))
        return self._written[id(hits)][1]


def _row(hit: Hit) -> TraceRow:
    passage, score, labels, coverage, matched, signals, _ = hit
    path, start, end, title, ancestors, _, digest, _ = passage
    return TraceRow(
        path,
        start,
        end,
        title,
        digest,
        score,
        coverage,
        _once(labels),
        matched,
        signals,
        ancestors,
    )


@lru_cache(maxsize=1024)
def _once(labels: frozenset[str]) -> frozenset[str]:
    """Return the same object for the same labels: a hundred traces keep thousands of them."""
    return labels
