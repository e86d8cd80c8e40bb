"""Exports finished searches as OpenTelemetry spans, without any text of queries or documents."""

from __future__ import annotations

from opentelemetry import trace as telemetry
from opentelemetry.context import Context
from opentelemetry.trace import Status, StatusCode, Tracer

from fumishirube import Span, Trace

_NS = 1_000_000
"""Nanoseconds in a millisecond."""


def make_spans(trace: Trace) -> None:
    """Export a search and its stages as spans; skip cached answers."""
    if trace.cache.hit:
        return
    began = int(trace.created * 1000 * _NS) - int(trace.search.ms * _NS)
    _make(
        telemetry.get_tracer("fumishirube"), trace.search, began, None, {"manual": trace.manual_id}
    )


def _make(
    tracer: Tracer, span: Span, began: int, above: Context | None, further: dict[str, str]
) -> None:
    start = began + int(span.started_ms * _NS)
    made = tracer.start_span(span.label, above, start_time=start)
    made.set_attributes({f"fumishirube.{key}": value for key, value in further.items()})
    made.set_attributes(
        {"fumishirube.rows": len(span.rows), "fumishirube.left_out": len(span.left_out)}
    )
    if span.error is not None:
        made.set_status(Status(StatusCode.ERROR))
    inside = telemetry.set_span_in_context(made, above)
    for child in span.children:
        _make(tracer, child, began, inside, {})
    made.end(start + int(span.ms * _NS))
