"""Worker processes that answer one request after the other, and a pool of idle ones."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock, Timer
from time import monotonic
from typing import Generic, TypeVar

from fumishirube.parsing import worker

IDLE_SECONDS = 60.0


class WorkerProcess:
    """A process in which a function, named as ``module:function``, answers requests.

    It gets the channel to this process and the ``setup``, after the first message, which is empty
    and says that Python has started. It is called with garbage collection off, for what it imports.
    Without ``environ`` it inherits the environment.
    """

    def __init__(
        self,
        function: str,
        setup: bytes = b"",
        *,
        environ: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> None:
        import subprocess  # noqa: PLC0415 - most searches start no process

        self._process = subprocess.Popen(  # noqa: S603 - our own file, and no word of the caller's
            [sys.executable, "-I", worker.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environ,
            cwd=folder,
        )
        assert self._process.stdout is not None
        assert self._process.stdin is not None
        self.channel = worker.Channel(self._process.stdout, self._process.stdin)
        path = [entry for entry in sys.path if entry]
        self.channel.send(json.dumps({"serve": function, "path": path}).encode())
        self.channel.send(setup)

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
        self._idle: list[tuple[P, float]] = []
        self._lock = Lock()
        self._timer: Timer | None = None
        self._closed = False

    def take(self) -> P | None:
        """Return the process that was used last, or ``None``."""
        while True:
            with self._lock:
                if not self._idle:
                    return None
                process, _ = self._idle.pop()
            if process.lives:
                return process
            process.end()

    def put_back(self, process: P) -> None:
        """Return a process to the pool; end it if the pool is closed."""
        with self._lock:
            if not self._closed:
                self._idle.append((process, monotonic() + IDLE_SECONDS))
                # One thread for all: to start one for each would take longer than a short request.
                if self._timer is None:
                    self._retire_after(IDLE_SECONDS)
                return
        process.end()

    def close(self) -> None:
        """End all idle processes, and close the pool."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            if self._timer is not None:
                self._timer.cancel()
        for process, _ in idle:
            process.end()

    def _retire_after(self, seconds: float) -> None:
        self._timer = Timer(seconds, self._retire)
        self._timer.daemon = True
        self._timer.start()

    def _retire(self) -> None:
        """End the processes whose time is up, and wait for that of the next one."""
        now = monotonic()
        with self._lock:
            retired = [process for process, until in self._idle if until <= now]
            self._idle = [entry for entry in self._idle if entry[1] > now]
            self._timer = None
            if self._idle:
                self._retire_after(min(until for _, until in self._idle) - now)
        for process in retired:
            process.end()
