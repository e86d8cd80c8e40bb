"""Metrics of the server in the format of OpenMetrics, without names of people or manuals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST, generate_latest
from starlette.responses import Response

from fumishirube_http.log import RequestLogEntry

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds."""


class Metrics:
    """The metrics of one worker process, each with its number as a label.

    ``open_servers`` returns how many people have an open server.
    """

    def __init__(self, worker: int, open_servers: Callable[[], int]) -> None:
        self._worker = str(worker)
        registry = self._registry = CollectorRegistry()
        self._requests = Counter(
            "fumishirube_requests", "HTTP requests.", ["worker", "status"], registry=registry
        )
        self._calls = Counter(
            "fumishirube_calls", "Calls of tools.", ["worker", "tool", "status"], registry=registry
        )
        self._seconds = Histogram(
            "fumishirube_call_seconds",
            "Duration of calls of tools.",
            ["worker", "tool"],
            unit="seconds",
            buckets=BUCKETS,
            registry=registry,
        )
        people = Gauge(
            "fumishirube_people", "People with an open server.", ["worker"], registry=registry
        )
        people.labels(self._worker).set_function(open_servers)

    def count(self, line: RequestLogEntry, seconds: float) -> None:
        """Count a request, or a call of a tool that is a part of one."""
        if not line.part:
            self._requests.labels(self._worker, str(line.status)).inc()
        if line.tool is not None:
            self._calls.labels(self._worker, line.tool, str(line.status)).inc()
            self._seconds.labels(self._worker, line.tool).observe(seconds)

    def response(self) -> Response:
        """Return the response to a request for the metrics."""
        written: bytes = cast("Any", generate_latest)(self._registry)  # it has no types
        return Response(written, media_type=CONTENT_TYPE_LATEST)
