"""Worker processes of parsers: started when needed, ended when they overrun, fall or idle."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock, Timer
from typing import Any, NamedTuple

from pydantic import JsonValue

from fumishirube.documents import Document
from fumishirube.errors import Unreadable
from fumishirube.parsing import worker
from fumishirube.parsing.records import document_of

IDLE_SECONDS = 60.0
_START_SECONDS = 60.0
_LONGEST_ANSWER = 512 * 1024 * 1024
_ENVIRONMENT = ("SYSTEMROOT", "TZ")
"""All that a worker sees of the environment."""
_REASONS = {
    "parser_timeout": "parsing took longer than {seconds:g} seconds; raise parse_seconds",
    "parser_memory": "parsing took more memory than {memory} bytes; raise parse_bytes",
    "parser_crashed": "the file crashes its parser",
    "damaged": "the file is damaged, or no such file at all",
}


class ParseRequest(NamedTuple):
    """A parser, as ``module:function``, its settings, and its limits."""

    parser: str
    settings: Mapping[str, JsonValue]
    seconds: float
    memory: int


class _ParserLost(Exception):
    """The process has not answered; ``reason`` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _ParserProcess:
    def __init__(self) -> None:
        self._late = False
        environ = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        self._process = subprocess.Popen(  # noqa: S603 - our own file, and no word of the caller's
            [sys.executable, "-I", str(Path(worker.__file__))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environ,
            cwd=Path(worker.__file__).parent,
        )
        self._exchange(b"", _START_SECONDS)

    @property
    def lives(self) -> bool:
        """Whether the process is there."""
        return self._process.poll() is None

    def ask(self, request: ParseRequest, data: bytes, name: str) -> Any:
        """Return what the parser says of a file.

        Raises:
            _ParserLost: when the process is gone, or had to be ended.
        """
        said = json.dumps(
            {
                "parser": request.parser,
                "name": name,
                "settings": dict(request.settings),
                "memory": request.memory,
                "path": [entry for entry in sys.path if entry],
            }
        ).encode()
        frame = worker.HEAD.pack(len(said), len(data)) + said + data
        return json.loads(self._exchange(frame, request.seconds))

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()

    def _exchange(self, frame: bytes, seconds: float) -> bytes:
        source, sink = self._process.stdout, self._process.stdin
        assert source is not None
        assert sink is not None
        timer = Timer(seconds, self._overrun)
        timer.daemon = True
        timer.start()
        try:
            sink.write(frame)
            sink.flush()
            head = source.read(worker.ANSWER.size)
            size = worker.ANSWER.unpack(head)[0] if len(head) == worker.ANSWER.size else -1
            answer = source.read(size) if 0 <= size <= _LONGEST_ANSWER else b""
        except OSError:
            size, answer = -1, b""
        finally:
            timer.cancel()
        if size != len(answer):
            self.end()
            too_long = "parser_memory" if size > _LONGEST_ANSWER else "parser_crashed"
            raise _ParserLost("parser_timeout" if self._late else too_long)
        return answer

    def _overrun(self) -> None:
        self._late = True
        self._process.kill()


class ParserProcesses:
    """Processes that parse one file after the other; a file has one of its own meanwhile."""

    def __init__(self) -> None:
        self._idle: list[tuple[_ParserProcess, Timer]] = []
        self._lock = Lock()
        self._closed = False

    def parse(self, request: ParseRequest, data: bytes, path: str) -> Document:
        """Return the document that a parser makes of a file's bytes.

        Raises:
            Unreadable: when the parser refuses the file, falls over it, or takes too much.
        """
        try:
            process = self._taken()
            said = process.ask(request, data, Path(path).stem)
        except _ParserLost as lost:
            raise _unreadable(lost.reason, "", request, path) from None
        self._put_back(process)
        if "document" not in said:
            raise _unreadable(said["unreadable"], said["message"], request, path)
        try:
            return document_of(said["document"], path)
        except ValueError:
            raise _unreadable("damaged", "", request, path) from None

    def close(self) -> None:
        """End all processes that idle, and keep none from now on."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for process, timer in idle:
            timer.cancel()
            process.end()

    def _taken(self) -> _ParserProcess:
        while True:
            with self._lock:
                if not self._idle:
                    break
                process, timer = self._idle.pop()
            timer.cancel()
            if process.lives:
                return process
            process.end()
        return _ParserProcess()

    def _put_back(self, process: _ParserProcess) -> None:
        timer = Timer(IDLE_SECONDS, self._retire, (process,))
        timer.daemon = True
        with self._lock:
            if not self._closed:
                self._idle.append((process, timer))
                timer.start()
                return
        process.end()

    def _retire(self, process: _ParserProcess) -> None:
        with self._lock:
            waiting = [entry for entry in self._idle if entry[0] is process]
            self._idle = [entry for entry in self._idle if entry[0] is not process]
        if waiting:
            process.end()


def _unreadable(reason: str, message: str, request: ParseRequest, path: str) -> Unreadable:
    said = _REASONS.get(reason, "the file cannot be parsed").format(
        seconds=request.seconds, memory=request.memory
    )
    return Unreadable(message or said, reason, path=path)
