"""Whether a server answers pings while ten finds are at work."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from processes import Served

AT_ONCE = 10
EVERY = 0.005
IDLE = 100


def pinged(server: Served, finds: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Ask ten finds at once, again and again, with a ping every five milliseconds."""
    idle = sorted(_idle(server))
    busy = sorted(_busy(server, finds))
    return {
        "pings": len(busy),
        "ping_p50_ms": statistics.median(busy),
        "ping_p95_ms": busy[int(len(busy) * 0.95)],
        "ping_max_ms": busy[-1],
        "ping_idle_p95_ms": idle[int(len(idle) * 0.95)],
        "ping_idle_max_ms": idle[-1],
    }


def _idle(server: Served) -> Iterator[float]:
    for _ in range(IDLE):
        began = time.perf_counter()
        number = server.send("ping", {})
        time.sleep(EVERY)
        yield (_answered(server, number) - began) * 1000


def _busy(server: Served, finds: Sequence[dict[str, Any]]) -> Iterator[float]:
    rest = iter(finds)
    while batch := [*islice(rest, AT_ONCE)]:
        asked = [
            server.send("tools/call", {"name": "manual_find", "arguments": arguments})
            for arguments in batch
        ]
        sent: dict[int, float] = {}
        while not all(number in server.answers for number in asked):
            began = time.perf_counter()
            sent[server.send("ping", {})] = began
            time.sleep(EVERY)
        for number, began in sent.items():
            yield (_answered(server, number) - began) * 1000


def _answered(server: Served, number: int) -> float:
    while number not in server.answers:
        time.sleep(0.0005)
    return server.answers[number]
