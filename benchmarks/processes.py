"""What processes cost: memory, time, and servers spoken to over real pipes."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Thread
from typing import Any, Self

QUIET = {"ADAPTIVE_TUNING": "false", "SEM_CACHE_ENABLED": "false"}
"""Nothing is learnt from a benchmark, and nothing remembered."""

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}


def timed(work: Callable[[], object]) -> float:
    """Return the milliseconds that some work takes."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def spent(command: Sequence[str]) -> float:
    """Return the milliseconds that a whole process takes, which must succeed."""
    environment = {**os.environ, **QUIET}
    return timed(
        lambda: subprocess.run(
            command, check=True, stdout=subprocess.DEVNULL, env=environment, timeout=600
        )
    )


def console() -> str:
    """Return the installed console script."""
    return str(Path(sys.executable).with_name("fumishirube"))


def resident(pid: int | str) -> float:
    """Return a process's resident memory in megabytes, mapped files included."""
    status = Path(f"/proc/{pid}/status")
    if status.is_file():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


class Served:
    """``fumishirube serve`` as a process, and a client that asks many things at once."""

    def __init__(
        self, workspace: Path, *, command: Sequence[str] | None = None, **environ: str
    ) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command or [console(), "serve", "--workspace", str(workspace)],
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **QUIET, **environ},
        )
        self.answers: dict[int, float] = {}
        self._results: dict[int, dict[str, Any]] = {}
        self._number = 0
        self._listener = Thread(target=self._listen, daemon=True)
        self._listener.start()
        self.ask("initialize", HELLO)
        self._tell({"method": "notifications/initialized"})
        self.call("manual_ls", {})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        self.process.wait(timeout=30)
        self._listener.join(5)
        self.process.stdout.close()

    @property
    def memory(self) -> float:
        """Return the server's resident memory in megabytes."""
        return resident(self.process.pid)

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool, and wait for its answer."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        if answer.get("isError"):
            raise RuntimeError(answer["content"][0]["text"])
        return answer["structuredContent"]

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request, and wait for the message that answers it."""
        number = self.send(method, params)
        while number not in self._results:
            if not self._listener.is_alive():
                raise RuntimeError("the server ended")
            time.sleep(0.0005)
        return self._results[number]

    def send(self, method: str, params: dict[str, Any]) -> int:
        """Send a request; its answer's time will be in ``answers`` under the id returned."""
        self._number += 1
        self._tell({"id": self._number, "method": method, "params": params})
        return self._number

    def _tell(self, message: dict[str, Any]) -> None:
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def _listen(self) -> None:
        for line in self.process.stdout:
            now = time.perf_counter()
            message = json.loads(line)
            if "id" in message:
                self._results[message["id"]] = message
                self.answers[message["id"]] = now
