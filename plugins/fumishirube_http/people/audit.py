"""The audit log: one line a call, of who called what, and never what it was about."""

from __future__ import annotations

import logging
from http import HTTPStatus
from pathlib import Path

from fumishirube.serving import JsonLinesFormatter, log_event
from fumishirube_http.log import RequestLogEntry, RotatingLogFile
from fumishirube_http.people.metrics import Metrics

FILE = "audit.log"
NAME = "fumishirube_audit"

_REFUSALS = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS)


def record_call(metrics: Metrics, line: RequestLogEntry, seconds: float) -> None:
    """Write each request to the request log, each call to the audit log, and count both."""
    line.write(seconds)
    metrics.count(line, seconds)
    if line.tool is None and line.status not in _REFUSALS:
        return
    log_event(
        logging.INFO,
        NAME,
        person=line.person,
        tool=line.tool,
        manual=line.manual_name,
        status=line.status,
        duration_ms=round(seconds * 1000, 1),
        error_id=line.error_id,
    )


def start_audit(folder: Path, worker: int = 1) -> None:
    """Write the audit log to a file in a folder, one for each worker process.

    Only its owner may read it.
    """
    handler = RotatingLogFile(folder / (FILE if worker == 1 else f"audit-{worker}.log"), 0o600)
    handler.setFormatter(JsonLinesFormatter(places=False))
    logger = logging.getLogger(NAME)
    logger.handlers = [handler]
    logger.setLevel(logging.INFO)
    logger.propagate = False
