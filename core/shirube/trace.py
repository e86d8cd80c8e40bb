"""The records of past searches, for as long as they are kept."""

from __future__ import annotations

import time
import uuid
from collections import OrderedDict
from threading import Lock

from shirube.errors import NotFound
from shirube.model import Trace


def new_trace_id() -> str:
    """Return 32 lower-case hexadecimal digits that nobody can guess."""
    return uuid.uuid4().hex


class TraceStore:
    """Keeps the newest traces in memory; reading one does not make it live longer."""

    def __init__(self, keep: int, seconds: float) -> None:
        self._keep = keep
        self._seconds = seconds
        self._traces: OrderedDict[str, Trace] = OrderedDict()
        self._lock = Lock()

    def put(self, trace: Trace) -> None:
        """Keep a trace; the oldest go when there are too many."""
        with self._lock:
            self._traces[trace.id] = trace
            self._expire()

    def get(self, trace_id: str) -> Trace:
        """Return a trace.

        Raises:
            NotFound: when it is unknown or has expired.
        """
        with self._lock:
            self._expire()
            trace = self._traces.get(trace_id)
        if trace is None:
            raise NotFound("trace is unknown or expired", trace_id=trace_id[:64])
        return trace

    def _expire(self) -> None:
        oldest = time.time() - self._seconds
        while self._traces:
            first = next(iter(self._traces.values()))
            if len(self._traces) <= self._keep and first.created >= oldest:
                return
            self._traces.popitem(last=False)
