"""Statistics of searches, one line each, and thresholds tuned by them."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from threading import Lock, RLock
from typing import Any, NamedTuple, TypeAlias

from pydantic import JsonValue

from fumishirube import Root, SearchAssessment, Trace
from fumishirube.commands import digest
from fumishirube.text import fold
from fumishirube_manual.json_lines import JsonLinesFile

DAY = 24 * 60 * 60
LEAST, MOST = 20, 200
"""The least and most searches of the last day that a change of the thresholds uses."""

_OFTEN_SHORT, _SELDOM_SHORT = 0.2, 0.05
_LOW_STEP, _BIAS_STEP = 1, 0.03
_LOW_RANGE, _BIAS_RANGE = (2, 6), (0.7, 0.9)
_SHORTFALLS = frozenset({"stage_cap", "time_budget"})
_FUSIONS = ("gate_rrf", "query_decomp_rrf")
_WAITING = 64
_HASH_DIGITS = 16
_DIGITS = 4

FindThresholds: TypeAlias = tuple[int, float]
"""``candidate_low`` and ``file_bias``."""


class PastSearch(NamedTuple):
    """A past search for the tuning: its time, whether it was cut off, and its recall."""

    at: float
    short: bool
    recall_ok: bool


class Tuner:
    """Changes the thresholds by at most one step a day, within bounds around their base.

    They are loosened if many searches were cut off, and tightened if few were. They return to the
    base if too few searches returned a required term that the manual contains.
    """

    def __init__(self, base: FindThresholds, min_recall: float) -> None:
        self.base = base
        self.thresholds = base
        self._min_recall = min_recall
        self._changed = 0.0
        self._past: deque[PastSearch] = deque(maxlen=MOST)

    def recall(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Replay the searches of earlier processes, oldest first.

        A row with thresholds that no change makes of those before has another base, and is skipped.
        """
        for row in rows:
            at = _time(row.get("ts"))
            if at is None:
                continue
            used = _used(row)
            if used is not None and used != self.thresholds:
                if used not in (self.base, self._moved(1), self._moved(-1)):
                    continue
                self.thresholds, self._changed = used, at
            self._note(at, row.get("cutoff_reason"), row.get("recall_ok"))
        self._tune(time.time())

    def learn(self, now: float, cutoff_reason: object, recall_ok: object) -> None:
        """Add one search, and change the thresholds if it is time."""
        self._note(now, cutoff_reason, recall_ok)
        self._tune(now)

    def _note(self, at: float, cutoff_reason: object, recall_ok: object) -> None:
        if isinstance(recall_ok, bool):
            short = isinstance(cutoff_reason, str) and cutoff_reason in _SHORTFALLS
            self._past.append(PastSearch(at, short, recall_ok))

    def _tune(self, now: float) -> None:
        if now - self._changed < DAY:
            return
        recent = [past for past in self._past if now - past.at < DAY]
        if len(recent) >= LEAST:
            thresholds = self._next(recent)
            if thresholds != self.thresholds:
                self.thresholds, self._changed = thresholds, now

    def _next(self, recent: list[PastSearch]) -> FindThresholds:
        if sum(past.recall_ok for past in recent) / len(recent) < self._min_recall:
            return self.base
        rate = sum(past.short for past in recent) / len(recent)
        if rate > _OFTEN_SHORT:
            return self._moved(-1)
        return self._moved(1) if rate < _SELDOM_SHORT else self.thresholds

    def _moved(self, way: int) -> FindThresholds:
        (low, bias), (base_low, base_bias) = self.thresholds, self.base
        return (
            int(_clamped(low + way * _LOW_STEP, *_LOW_RANGE, base_low)),
            _clamped(round(bias - way * _BIAS_STEP, _DIGITS), *_BIAS_RANGE, base_bias),
        )


class FindStatistics:
    """Observes every search, and writes one line of JSON about it: never the query itself.

    A line waits for the assessment of the surface; without one it is written when the application
    closes, or when too many lines wait. With a ``vault``, lines are written only while that folder
    exists, since a search should not create it; the tuning uses them all the same.
    """

    def __init__(
        self,
        base: FindThresholds,
        file: Path,
        *,
        tuning: bool,
        min_recall: float,
        vault: Path | None = None,
        folder: Root | None = None,
    ) -> None:
        self._vault = vault
        self._base = base
        self._min_recall = min_recall
        self._tuning = tuning
        self._journal = JsonLinesFile(file, folder)
        self._waiting: OrderedDict[str, dict[str, JsonValue]] = OrderedDict()
        self._lock = Lock()
        self._tuner_lock = RLock()

    @property
    def thresholds(self) -> FindThresholds:
        """The current thresholds."""
        if not self._tuning:
            return self._base
        with self._tuner_lock:
            return self._tuner.thresholds

    def search_finished(self, trace: Trace) -> None:
        """Begin the line of one search of a manual."""
        if trace.own:
            return
        with self._lock:
            self._waiting[trace.id] = _row(trace)
            late = len(self._waiting) > _WAITING
            row = self._waiting.popitem(last=False)[1] if late else None
        if row is not None:
            self._write(row)

    def _write(self, row: Mapping[str, JsonValue]) -> None:
        if self._vault is None or self._vault.is_dir():
            self._journal.put(row)

    def conclude(self, trace_id: str, assessment: SearchAssessment) -> None:
        """Complete the line of one search, queue it, and add it to the tuning."""
        with self._lock:
            row = self._waiting.pop(trace_id, None)
        if row is None:
            return
        self._write({**row, **_judged(assessment)})
        if self._tuning:
            with self._tuner_lock:
                self._tuner.learn(time.time(), assessment.cutoff_reason, assessment.recall_ok)

    def close(self) -> None:
        """Write the waiting lines."""
        with self._lock:
            rows, self._waiting = [*self._waiting.values()], OrderedDict()
        for row in rows:
            self._write(row)
        self._journal.close()

    @cached_property
    def _tuner(self) -> Tuner:
        """Read the lines of earlier processes, once, on first use of the thresholds."""
        tuner = Tuner(self._base, self._min_recall)
        tuner.recall(self._journal.tail())
        return tuner


def _row(trace: Trace) -> dict[str, JsonValue]:
    """Return the line of a search, with the values that its trace determines."""
    return {
        "ts": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "query_hash": digest(fold(trace.text), _HASH_DIGITS),
        "scanned_files": trace.files - len(trace.skipped),
        "scanned_nodes": trace.sections,
        "candidates": len(trace.search.rows),
        **_judged(SearchAssessment(status=None)),
        "candidate_low_threshold": trace.thresholds.candidate_low,
        "file_bias_threshold": trace.thresholds.file_bias,
        "sem_cache_hit": trace.cache.hit,
        "sem_cache_mode": trace.cache.mode,
        "sem_cache_score": trace.cache.score,
        "latency_saved_ms": trace.cache.saved_ms,
        "scoring_mode": _scoring_mode(trace),
    }


def _judged(assessment: SearchAssessment) -> dict[str, JsonValue]:
    return {
        "cutoff_reason": assessment.cutoff_reason,
        "status": assessment.status,
        "recall_ok": assessment.recall_ok,
        "unscanned_count": assessment.unscanned,
        "est_tokens": assessment.tokens,
        "marginal_gain": assessment.marginal_gain,
    }


def _scoring_mode(trace: Trace) -> str:
    """Return the outermost fuser that affected the final rows."""
    if trace.cache.hit:
        return "cache"
    labels: set[str] = set().union(*(row.labels for row in trace.search.rows))
    return next((fusion for fusion in _FUSIONS if fusion in labels), "lexical")


def _time(stamp: object) -> float | None:
    """Return a time in seconds, in either notation of a line."""
    if isinstance(stamp, str):
        try:
            return datetime.fromisoformat(stamp).timestamp()
        except (ValueError, OverflowError):
            return None
    return _number(stamp)


def _used(row: Mapping[str, Any]) -> FindThresholds | None:
    low, bias = row.get("candidate_low_threshold"), _number(row.get("file_bias_threshold"))
    return (low, bias) if isinstance(low, int) and bias is not None else None


def _number(value: object) -> float | None:
    """Return a number of a line, which may have more digits than a float can hold."""
    try:
        return float(value) if isinstance(value, int | float) else None
    except OverflowError:
        return None


def _clamped(value: float, least: float, most: float, base: float) -> float:
    """Return a value within a range, which is widened to contain the base."""
    return max(min(least, base), min(max(most, base), value))
