"""The recorder of a search: it writes the spans of the stages while they run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Literal

from fumishirube.engine.stage_calls import StageCall
from fumishirube.errors import Cancelled
from fumishirube.model import Hit, Ranking
from fumishirube.traces.records import Span, TraceRow

SpanKind = Literal["search", "run", "scorer", "fuser", "refiner"]


class Recorder:
    """Collects the spans of one search. A span is made when its work is done.

    ``current`` is the running stage, and its start by :func:`time.monotonic`; another thread may
    read it.
    """

    def __init__(self) -> None:
        self.current: tuple[StageCall, float] | None = None
        self._abandoned = False
        self._began = time.perf_counter()
        self._children: list[list[Span]] = [[]]
        self._written: dict[int, tuple[tuple[Hit, ...], tuple[TraceRow, ...]]] = {}

    @contextmanager
    def calling(self, call: StageCall) -> Iterator[None]:
        """Record that a stage is running.

        Raises:
            Cancelled: when this search was abandoned.
        """
        if self._abandoned:
            raise Cancelled("the search was left behind")
        self.current = (call, time.monotonic())
        try:
            yield
        finally:
            self.current = None

    def leave(self) -> None:
        """Abandon the search: it ends before its next stage."""
        self._abandoned = True

    def copy(self) -> Recorder:
        """Return a recorder with the spans so far, which may be closed on another thread."""
        copy = Recorder()
        copy._began, copy._children = self._began, [[*spans] for spans in self._children]
        return copy

    def open(self) -> float:
        """Begin a span below the last open one; return its start."""
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
        """End the last open span with its ranking."""
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
        """Return the rows of a ranking, made once if several stages pass it on unchanged."""
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
    """Return the same object for equal labels: a hundred traces contain thousands of them."""
    return labels
