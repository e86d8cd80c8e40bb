"""How long ``/healthz`` takes while other connections search with hostile patterns.

    python benchmarks/healthz.py --sections 10000 --manuals FOLDER --questions FILE.jsonl

Each of them searches the whole manual again and again, with patterns that backtrack, up to the
limit of time of a call.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Sequence
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from itertools import count
from threading import Event, Thread

from workers import add_manual, indexed, serving

HOSTILE = (r"(a+)+$", r"(.*a){20}$", r"(\w+\s?)*!$", r"([ぁ-ん]+)*x$", r"(?:.*.*.*)=x")
AT_ONCE = 4
EVERY = 0.02
GOAL_MS = 100.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_manual(parser)
    parser.add_argument("--times", type=int, default=400)
    options = parser.parse_args()
    made = indexed(options)
    with serving(made.workspace, 1) as served:
        show("idle", looks(served.port, options.times))
        ended = Event()
        for number in range(AT_ONCE):
            Thread(target=search, args=(served.port, number, ended), daemon=True).start()
        time.sleep(1)
        p99 = show(f"{AT_ONCE} hostile searches", looks(served.port, options.times))
        ended.set()
    print(f"  {'met   ' if p99 <= GOAL_MS else 'MISSED'} p99: {p99:.1f} ms (goal {GOAL_MS:.0f})")


def looks(port: int, times: int) -> list[float]:
    """Return the milliseconds of each request, sorted."""
    taken: list[float] = []
    with closing(HTTPConnection("127.0.0.1", port)) as connection:
        for _ in range(times):
            began = time.perf_counter()
            connection.request("GET", "/healthz")
            connection.getresponse().read()
            taken.append((time.perf_counter() - began) * 1000)
            time.sleep(EVERY)
    return sorted(taken)


def search(port: int, first: int, ended: Event) -> None:
    """Search with one hostile pattern after the other, until the server ends."""
    for number in count(first):
        body = json.dumps({"manual_id": "m", "regex": HOSTILE[number % len(HOSTILE)]})
        try:
            with closing(HTTPConnection("127.0.0.1", port)) as connection:
                head = {"content-type": "application/json"}
                connection.request("POST", "/tools/manual_grep", body, head)
                status = connection.getresponse().status
        except (OSError, HTTPException):
            if ended.is_set():  # the server has ended, and cancelled the searches
                return
            raise
        assert status == 200 or ended.is_set(), f"manual_grep answered {status}"


def show(label: str, taken: Sequence[float]) -> float:
    """Print the figures of a series, and return its 99th percentile."""
    p95, p99 = (taken[int(len(taken) * share)] for share in (0.95, 0.99))
    middle = statistics.median(taken)
    print(f"{label:20} p50 {middle:.1f}  p95 {p95:.1f}  p99 {p99:.1f}  slowest {taken[-1]:.1f} ms")
    return p99


if __name__ == "__main__":
    main()
