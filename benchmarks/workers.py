"""What further worker processes of ``serve --http`` give, and what they cost in memory.

    python benchmarks/workers.py --manuals FOLDER --questions FILE.jsonl --sections 10000

The client is one process that writes prepared requests and counts bytes. Servers with one and with
several workers answer the same questions in turns.
"""

from __future__ import annotations

import argparse
import json
import os
import selectors
import signal
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

from corpus import Manual, Question, manual
from processes import QUIET, console
from real_texts import real_manual

CONNECTIONS = 16
SECONDS = 6.0
CROWD = 100
_TICKS = os.sysconf("SC_CLK_TCK")


class Served(NamedTuple):
    """A server: the process that listens or supervises, its workers, and its port."""

    pid: int
    workers: Sequence[int]
    port: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_manual(parser)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    made = indexed(options)
    rows: dict[int, list[dict[str, float]]] = {count: [] for count in options.workers}
    for _ in range(options.rounds):
        for count in options.workers:
            rows[count].append(measure(made, count))
            print(count, {name: round(value, 1) for name, value in rows[count][-1].items()})
    for count, measured in rows.items():
        medians = {name: statistics.median(row[name] for row in measured) for name in measured[0]}
        print(f"{count} workers:", {name: round(value, 1) for name, value in medians.items()})


def add_manual(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which manual is served."""
    parser.add_argument("--sections", type=int, default=10_000)
    parser.add_argument("--manuals", type=Path, metavar="FOLDER")
    parser.add_argument("--questions", type=Path, nargs="+", metavar="FILE")
    cache = Path(tempfile.gettempdir()) / "fumishirube-bench"
    parser.add_argument("--cache", type=Path, default=cache)


def indexed(options: argparse.Namespace) -> Manual:
    """Return the manual that the options name, with its index."""
    made = (
        real_manual(options.cache, options.manuals, options.questions, options.sections)
        if options.manuals
        else manual(options.cache, options.sections, "ja")
    )
    index = [console(), "index", "--workspace", str(made.workspace)]
    subprocess.run(index, check=True, stdout=subprocess.DEVNULL)
    return made


def measure(made: Manual, count: int) -> dict[str, float]:
    """Return calls a second, their processor time, the wait in a crowd, and memory."""
    with serving(made.workspace, count) as served:
        requests = cycle([_request(served.port, q) for q in made.questions])
        drive(served.port, requests, CONNECTIONS, 1.0)
        cpu = _cpu(served)
        began = time.perf_counter()
        times = drive(served.port, requests, CONNECTIONS, SECONDS)
        taken, cpu = time.perf_counter() - began, _cpu(served) - cpu
        crowd = drive(served.port, requests, CROWD, 0.0)
        memory = [_pss(pid) for pid in served.workers]
        return {
            "calls/s": len(times) / taken,
            "CPU ms": cpu * 1000 / len(times),
            "cores": cpu / taken,
            "crowd p50 ms": statistics.median(crowd) * 1000,
            "crowd slowest ms": max(crowd) * 1000,
            "PSS MB": _pss(served.pid) + (sum(memory) if served.workers != [served.pid] else 0),
            "PSS of a worker MB": statistics.mean(memory),
        }


@contextmanager
def serving(workspace: Path, count: int) -> Iterator[Served]:
    """Serve at a free port."""
    words = ["serve", "--http", "127.0.0.1:0", "--workspace", str(workspace)]
    process = subprocess.Popen(
        [console(), *words, "--workers", str(count)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **QUIET},
        encoding="utf-8",
    )
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline().rpartition(":")[2])
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        yield Served(process.pid, [*map(int, children)] or [process.pid], port)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def drive(port: int, requests: Iterator[bytes], connections: int, seconds: float) -> list[float]:
    """Return the seconds of each call; every connection makes at least one."""
    selector = selectors.DefaultSelector()
    until = time.perf_counter() + seconds
    times: list[float] = []
    for _ in range(connections):
        peer = socket.create_connection(("127.0.0.1", port))
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        selector.register(peer, selectors.EVENT_READ, _Call(next(requests), peer))
    while selector.get_map():
        for key, _ in selector.select():
            call: _Call = key.data
            if not call.is_complete():
                continue
            times.append(time.perf_counter() - call.began)
            if time.perf_counter() < until:
                selector.modify(call.peer, selectors.EVENT_READ, _Call(next(requests), call.peer))
            else:
                selector.unregister(call.peer)
                call.peer.close()
    return times


class _Call:
    def __init__(self, request: bytes, peer: socket.socket) -> None:
        self.peer = peer
        self.began = time.perf_counter()
        self._data = b""
        peer.sendall(request)

    def is_complete(self) -> bool:
        """Read what has arrived; tell whether the answer is complete."""
        self._data += self.peer.recv(1 << 20)
        head, blank, body = self._data.partition(b"\r\n\r\n")
        if not blank:
            return False
        assert head.startswith(b"HTTP/1.1 200"), self._data[:400]
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        return len(body) >= length


def _request(port: int, question: Question) -> bytes:
    arguments = {"query": question.text, "required_terms": question.terms, "manual_id": "m"}
    body = json.dumps(arguments).encode()
    head = (
        f"POST /tools/manual_find HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _cpu(served: Served) -> float:
    """Return the processor seconds of all processes."""
    total = 0
    for pid in {served.pid, *served.workers}:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / _TICKS


def _pss(pid: int) -> float:
    """Return the proportional memory of a process in megabytes, the mapped index included."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


if __name__ == "__main__":
    main()
