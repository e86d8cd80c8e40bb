"""Worker processes that answer one request after the other, and a pool of idle ones."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock, Timer
from typing import Generic, TypeVar

IDLE_SECONDS = 60.0


class WorkerProcess:
    """A process that runs one of our scripts, and exchanges data over its streams.

    Without ``environ`` it inherits the environment.
    """

    def __init__(
        self, script: Path, *, environ: Mapping[str, str] | None = None, folder: Path | None = None
    ) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own file, and no word of the caller's
            [sys.executable, "-I", str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environ,
            cwd=folder,
        )

    @property
    def lives(self) -> bool:
        """Whether the process is running; others may have ended it."""
        return self._process.poll() is None

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()


P = TypeVar("P", bound=WorkerProcess)


class IdleProcesses(Generic[P]):
    """Idle processes, each for ``IDLE_SECONDS`` at most."""

    def __init__(self) -> None:
        self._idle: list[tuple[P, Timer]] = []
        self._lock = Lock()
        self._closed = False

    def take(self) -> P | None:
        """Return the process that was used last, or ``None``."""
        while True:
            with self._lock:
                if not self._idle:
                    return None
                process, timer = self._idle.pop()
            timer.cancel()
            if process.lives:
                return process
            process.end()

    def put_back(self, process: P) -> None:
        """Return a process to the pool; end it if the pool is closed."""
        timer = Timer(IDLE_SECONDS, self._retire, (process,))
        timer.daemon = True
        with self._lock:
            if not self._closed:
                self._idle.append((process, timer))
                timer.start()
                return
        process.end()

    def close(self) -> None:
        """End all idle processes, and close the pool."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for process, timer in idle:
            timer.cancel()
            process.end()

    def _retire(self, process: P) -> None:
        with self._lock:
            waiting = [entry for entry in self._idle if entry[0] is process]
            self._idle = [entry for entry in self._idle if entry[0] is not process]
        if waiting:
            process.end()
