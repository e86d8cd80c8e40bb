"""`fumishirube serve --http` as a process, and the plainest client of it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import httpx2
from warm_start import kill, process_of, warm_script

PROBE = Path(__file__).with_name("probe")
SECONDS = 30
NEUTRAL = ("MANUALS_ROOT", "WORKSPACE_ROOT", "MANUAL_TOOLS_BASE_URL", "FUMISHIRUBE_HTTP_TOKEN")

CONFIGURATION = "surfaces: [{use: probe}, {use: manual}]\n"


def probing(folder: Path, more: str = "") -> Path:
    """Make a folder a workspace with one manual, that offers the probing tools too."""
    chapter = folder / "manuals" / "給付編" / "01.md"
    chapter.parent.mkdir(parents=True, exist_ok=True)
    chapter.write_text("# 総則\n入院は対象です。\n## 例外\n美容は対象外です。\n", encoding="utf-8")
    (folder / "fumishirube.yaml").write_text(CONFIGURATION + more, encoding="utf-8")
    return folder


def environment(**environ: str) -> dict[str, str]:
    """Return variables for a process that finds the probing plugin."""
    kept = {name: value for name, value in os.environ.items() if name not in NEUTRAL}
    return {**kept, "PYTHONPATH": str(PROBE), **environ}


def eventually(holds: Callable[[], object]) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@contextmanager
def reserved_port() -> Iterator[int]:
    """Yield a port that nobody listens at, until a server of the test does.

    Linux gives no other process a port that is bound, and still lets a server listen there.
    """
    with socket.socket() as reserved:
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reserved.bind(("127.0.0.1", 0))
        port: int = reserved.getsockname()[1]
        if sys.platform != "linux":
            reserved.close()
        yield port


class Serving:
    """A process that tells where it listens, until it is left."""

    def __init__(
        self, words: Sequence[str], log: Path, cwd: Path | None = None, **environ: str
    ) -> None:
        self._log = log
        self._errors = self._log.open("a+", encoding="utf-8")
        self.process = subprocess.Popen(
            [warm_script(), *words],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment(**environ),
            encoding="utf-8",
        )
        assert self.process.stdout is not None
        try:
            self.url = self.process.stdout.readline().strip().rstrip("/")
            assert self.url.startswith(("http://", "https://")), self.log
        except BaseException:  # such as the end of the test's time, at which a slow start goes on
            self.kill()
            raise
        self.client = httpx2.Client(base_url=self.url, timeout=SECONDS, trust_env=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self.kill()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self._errors.close()

    @property
    def port(self) -> int:
        """The port it listens at."""
        return httpx2.URL(self.url).port or 0

    @property
    def pid(self) -> int:
        """The number of the process that serves."""
        return process_of(self.process)

    def kill(self) -> None:
        """End the process at once, if it still runs."""
        kill(self.process)

    @property
    def log(self) -> str:
        """What it has written to standard error so far."""
        return self._log.read_text(encoding="utf-8")


class HttpServer(Serving):
    """A server process at a free port."""

    def __init__(self, workspace: Path, *words: str, port: int = 0, **environ: str) -> None:
        self.workspace = workspace
        words = ("serve", "--http", f"127.0.0.1:{port}", "--workspace", str(workspace), *words)
        super().__init__(words, workspace / "server.log", **environ)

    def logged(self, text: str) -> str:
        """Return the log once it holds a text: a line is written after its answer."""
        deadline = time.monotonic() + SECONDS
        while text not in self.log:
            assert time.monotonic() < deadline, self.log
            time.sleep(0.01)
        return self.log

    def get(self, path: str, **arguments: Any) -> httpx2.Response:
        """Ask with the arguments in the address."""
        return self.client.get(path, params=arguments)

    def post(self, path: str, body: Any) -> httpx2.Response:
        """Ask with the arguments as JSON."""
        return self.client.post(path, json=body)

    def is_well(self) -> bool:
        """Ask for a sign of life, over a connection of its own."""
        answer = httpx2.get(f"{self.url}/healthz", timeout=SECONDS, trust_env=False)
        return answer.status_code == 200 and answer.json() == {"ok": True}

    def connected(self) -> socket.socket:
        """Return a bare connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS)

    def stop(self, sign: signal.Signals = signal.SIGTERM) -> int:
        """Tell the process to stop, and return its exit code."""
        os.kill(self.pid, sign)
        return self.process.wait(SECONDS)
