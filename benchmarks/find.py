"""How long a whole ``manual_find`` takes, and what it costs, on generated manuals.

    python benchmarks/find.py --sections 600 10000 --language ja
    python benchmarks/find.py --quick

Prints one line a size: p50 and p95 of a warm find with two required terms and all default stages,
the first answer of a fresh ``shirube serve`` beside the mere import of the SDK, the price of one
changed file, the build in sections a second, and the resident memory of the server.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

from corpus import Question, write_manual

from shirube.app import Application, open_application
from shirube.budget import Budget
from shirube.calling import call_tool
from shirube.model import Call

QUIET = {"ADAPTIVE_TUNING": "false", "SEM_CACHE_ENABLED": "false"}
"""Nothing is learnt from a benchmark, and nothing remembered."""

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sections", type=int, nargs="+", default=[600, 10_000])
    parser.add_argument("--language", choices=("ja", "en"), default="ja")
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()) / "shirube-bench"
    )
    parser.add_argument("--quick", action="store_true", help="600 sections only")
    asked = parser.parse_args()
    for sections in [600] if asked.quick else asked.sections:
        workspace = asked.folder / f"{asked.language}-{sections}"
        questions = write_manual(workspace / "manuals" / "m", sections, asked.language)
        print(f"{asked.language} {sections:>7}", *measure(workspace, questions, sections), sep="  ")


def measure(workspace: Path, questions: list[Question], sections: int) -> list[str]:
    app = open_application(workspace, environ=QUIET)
    start = time.perf_counter()
    built = not (workspace / ".shirube" / "index").exists()
    find(app, questions[0])
    build = time.perf_counter() - start
    times = sorted(timed(lambda q=question: find(app, q)) for question in questions)
    changed = statistics.median(
        timed(lambda: change(app, workspace, questions[0])) for _ in range(5)
    )
    app.close()
    first, memory, sdk = cold(workspace, questions[0])
    return [
        f"p50 {times[len(times) // 2] * 1000:6.1f} ms",
        f"p95 {times[int(len(times) * 0.95)] * 1000:6.1f} ms",
        f"first answer {first * 1000:.0f} ms (SDK import {sdk * 1000:.0f} ms)",
        f"changed file {changed * 1000:.0f} ms",
        f"build {sections / build:.0f} sections/s" if built else "build: was there",
        f"server RSS {memory:.0f} MB",
    ]


def find(app: Application, question: Question) -> dict[str, Any]:
    arguments = {"query": question.text, "manual_id": "m", "required_terms": list(question.terms)}
    budget = Budget(cancelled=Event())
    return call_tool(
        app.tools["manual_find"],
        {**arguments, "budget": {"time_ms": 3_600_000}},
        Call(budget=budget),
    )


def change(app: Application, workspace: Path, question: Question) -> None:
    path = workspace / "manuals" / "m" / "part000" / "chapter00000.md"
    text = path.read_text(encoding="utf-8")
    path.write_text(text[:-1] if text.endswith(" ") else text + " ", encoding="utf-8")
    find(app, question)


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def cold(workspace: Path, question: Question) -> tuple[float, float, float]:
    """Return seconds to the first answer, the server's memory in MB, and the SDK's import."""
    sdk = min(
        timed(lambda: subprocess.run([sys.executable, "-c", "import mcp.server"], check=True))
        for _ in range(3)
    )
    results = [served(workspace, question) for _ in range(3)]
    return min(seconds for seconds, _ in results), results[0][1], sdk


def served(workspace: Path, question: Question) -> tuple[float, float]:
    start = time.perf_counter()
    command = [
        str(Path(sys.executable).with_name("shirube")),
        "serve",
        "--workspace",
        str(workspace),
    ]
    environment = {**os.environ, **QUIET}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment) as server:
        arguments = {
            "query": question.text,
            "manual_id": "m",
            "required_terms": list(question.terms),
        }
        for message in (
            {"id": 1, "method": "initialize", "params": HELLO},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/call", "params": {"name": "manual_ls", "arguments": {}}},
        ):
            tell(server, message)
        answered(server, 2)
        tell(
            server,
            {
                "id": 3,
                "method": "tools/call",
                "params": {"name": "manual_find", "arguments": arguments},
            },
        )
        answered(server, 3)
        seconds = time.perf_counter() - start
        memory = resident(server.pid)
        server.stdin.close()
    return seconds, memory


def tell(server: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    server.stdin.flush()


def answered(server: subprocess.Popen[bytes], number: int) -> dict[str, Any]:
    while True:
        message = json.loads(server.stdout.readline())
        if message.get("id") == number:
            return message


def resident(pid: int) -> float:
    status = Path(f"/proc/{pid}/status")
    if status.is_file():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


if __name__ == "__main__":
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    main()
