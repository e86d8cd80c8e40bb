"""Fifty clients at once of a real HTTP server, and the signs of life that it gives meanwhile."""

from __future__ import annotations

import http.client
import json
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import quote

from workers import serving

CLIENTS = 50
CALLS = 12
PAUSE = 0.01


def fifty(workspace: Path, manual: str, section: str) -> dict[str, float]:
    """Return what calls and signs of life take, in milliseconds, and the calls a second."""
    with serving(workspace, 1) as served:
        port = served.port
        asks = [
            _getting(f"/get_section?manual_name={quote(manual)}&section_id={section}"),
            _posting("/search_text", {"manual_name": manual, "query": "帝王切開", "mode": "loose"}),
            _posting("/search_text", {"manual_name": manual, "query": "どこにもない"}),
        ]
        for ask in asks:
            ask(_connected(port))
        idle = _alive(port, lambda: time.sleep(2))
        times: list[float] = []
        began = time.perf_counter()
        alive = _alive(port, lambda: times.extend(_crowd(port, asks)))
        taken = time.perf_counter() - began
    return {
        **spread("call", times),
        "calls/s": len(times) / taken,
        **spread("healthz", alive),
        "idle healthz max": max(idle),
    }


def crowded(work: Callable[[], Any]) -> dict[str, float]:
    """Return what as many clients wait when each has a thread of one process do some work."""

    def once(_: int) -> float:
        began = time.perf_counter()
        work()
        return (time.perf_counter() - began) * 1000

    began = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as clients:
        times = [*clients.map(once, range(CLIENTS))]
    return {**spread("call", times), "calls/s": CLIENTS / (time.perf_counter() - began)}


def spread(name: str, times: Sequence[float]) -> dict[str, float]:
    """Return the median, the 95th and the 99th percentile, and the worst."""
    ordered = sorted(times)
    return {
        f"{name} p50": statistics.median(ordered),
        f"{name} p95": ordered[int(len(ordered) * 0.95)],
        f"{name} p99": ordered[int(len(ordered) * 0.99)],
        f"{name} max": ordered[-1],
    }


def _crowd(port: int, asks: Sequence[Callable[[http.client.HTTPConnection], None]]) -> list[float]:
    def client(number: int) -> list[float]:
        connection, times = _connected(port), []
        for turn in range(CALLS):
            began = time.perf_counter()
            asks[(number + turn) % len(asks)](connection)
            times.append((time.perf_counter() - began) * 1000)
        return times

    with ThreadPoolExecutor(CLIENTS) as clients:
        return [one for times in clients.map(client, range(CLIENTS)) for one in times]


def _alive(port: int, meanwhile: Callable[[], None]) -> list[float]:
    over, times = Event(), []
    ask = _getting("/healthz")

    def watch() -> None:
        connection = _connected(port)
        while not over.is_set():
            began = time.perf_counter()
            ask(connection)
            times.append((time.perf_counter() - began) * 1000)
            time.sleep(PAUSE)

    watching = Thread(target=watch)
    watching.start()
    try:
        meanwhile()
    finally:
        over.set()
        watching.join()
    return times


def _connected(port: int) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", port, timeout=120)


def _getting(path: str) -> Callable[[http.client.HTTPConnection], None]:
    return lambda connection: _answered(connection, "GET", path)


def _posting(path: str, body: Mapping[str, Any]) -> Callable[[http.client.HTTPConnection], None]:
    written = json.dumps(body).encode()
    return lambda connection: _answered(connection, "POST", path, written)


def _answered(
    connection: http.client.HTTPConnection, method: str, path: str, body: bytes | None = None
) -> None:
    connection.request(method, path, body, {"content-type": "application/json"} if body else {})
    answer = connection.getresponse()
    answer.read()
    if answer.status != http.client.OK:
        raise RuntimeError(f"{path} answered {answer.status}")
