"""Worker processes of parsers: started on demand, ended after a limit, a crash or idle time."""

from __future__ import annotations

import json
import os
import time
from base64 import b64decode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen
from threading import Lock, Timer
from typing import Any, NamedTuple

from pydantic import JsonValue

from fumishirube import Document, Forbidden, Unreadable
from fumishirube.parsing import (
    IdleProcesses,
    PageView,
    Picture,
    TextCache,
    WorkerProcess,
    document_of,
)
from fumishirube_documents.part_texts import PartTexts

_START_SECONDS = 120.0
"""Seconds for the start of Python, and then for the import of a parser, on a busy machine."""
_PATIENCE = 3
"""How many times its limit, by the clock, a process may take that got too little processor time."""
_LONGEST_ANSWER = 512 * 1024 * 1024
_LARGEST_PICTURE = 16 * 1024 * 1024
_PNG = b"\x89PNG\r\n\x1a\n"
"""The first bytes of a picture."""
_ENVIRONMENT = ("SYSTEMROOT", "TESSDATA_PREFIX", "TZ")
"""The only environment variables that a worker inherits."""
_REASONS = {
    "parser_timeout": "parsing took longer than {seconds:g} seconds; raise {seconds_of}",
    "parser_memory": "parsing took more memory than {memory} bytes; raise parse_bytes",
    "parser_crashed": "the file crashes its parser",
    "damaged": "the file is damaged, or of another type",
}


class ParseRequest(NamedTuple):
    """A parser, as ``module:function``, its settings, and its limits in seconds and bytes.

    ``seconds_of`` is the setting of the loader that the seconds are from.
    """

    parser: str
    settings: Mapping[str, JsonValue]
    seconds: float
    memory: int
    seconds_of: str = "parse_seconds"


class _ParserLost(Exception):
    """The process did not answer; ``reason`` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _ParserProcess(WorkerProcess):
    def __init__(self) -> None:
        super().__init__(
            "fumishirube_documents.parser_worker:serve",
            environ={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
            folder=Path(__file__).parent,
        )
        with self._limited(_START_SECONDS):
            self._receive()

    def answer(
        self,
        request: ParseRequest,
        data: bytes,
        name: str,
        texts: PartTexts,
        view: PageView | None,
    ) -> dict[str, Any]:
        """Return the parser's answer for a file.

        Raises:
            _ParserLost: when the process is gone, or had to be ended.
        """
        head = json.dumps(
            {
                "parser": request.parser,
                "name": name,
                "view": view,
                "settings": dict(request.settings),
                "memory": request.memory,
            }
        ).encode()
        with self._limited(_START_SECONDS):
            self.channel.send(head)
            self.channel.send(data)
            message = self._message()
        if "started" not in message:
            return message
        with self._limited(request.seconds):
            message = self._message()
            while texts.answered(message, self.channel):
                message = self._message()
        return message

    def _message(self) -> dict[str, Any]:
        try:
            message = json.loads(self._receive())
        except ValueError:
            message = None
        if not isinstance(message, dict):
            raise _ParserLost("parser_crashed")
        return message

    @contextmanager
    def _limited(self, seconds: float) -> Iterator[None]:
        """End the process when it is lost, or after some seconds."""
        limit = TimeLimit(self._process, seconds)
        try:
            yield
        except _ParserLost as lost:
            self.end()
            raise _ParserLost("parser_timeout" if limit.exceeded else lost.reason) from None
        finally:
            limit.cancel()

    def _receive(self) -> bytes:
        try:
            answer = self.channel.receive(_LONGEST_ANSWER)
        except OverflowError:
            raise _ParserLost("parser_memory") from None
        if answer is None:
            raise _ParserLost("parser_crashed")
        return answer


class TimeLimit:
    """Kills a process that has used its seconds.

    These are seconds of the clock. Where the system says how much processor time the process used
    (Linux), it may go on until that is as long, but not beyond three times as many seconds: on a
    busy machine a file needs more time than its parser does.
    """

    def __init__(self, process: Popen[bytes], seconds: float) -> None:
        self.exceeded = False
        self._process = process
        self._seconds = seconds
        self._began = time.monotonic()
        self._used = _processor_seconds(process.pid)
        self._cancelled = False
        self._lock = Lock()
        self._wait(seconds)

    def cancel(self) -> None:
        """End the limit; the process may go on."""
        with self._lock:
            self._cancelled = True
            self._timer.cancel()

    def _wait(self, seconds: float) -> None:
        self._timer = Timer(seconds, self._check)
        self._timer.daemon = True
        self._timer.start()

    def _check(self) -> None:
        with self._lock:
            if self._cancelled:
                return
            if (left := self._left()) > 0:
                self._wait(left)
                return
            self.exceeded = True
            self._process.kill()

    def _left(self) -> float:
        """Return how many seconds the process has at least."""
        used = _processor_seconds(self._process.pid)
        if used is None or self._used is None:
            return 0.0
        taken = time.monotonic() - self._began
        return min(self._seconds - used + self._used, _PATIENCE * self._seconds - taken)


class ParserProcesses:
    """A pool of processes that parse files; each process parses one at a time."""

    def __init__(self) -> None:
        self._idle = IdleProcesses[_ParserProcess]()

    def parse(
        self, request: ParseRequest, data: bytes, path: str, texts: TextCache | None = None
    ) -> Document:
        """Return the document that a parser makes of a file's bytes, with ``texts`` of its parts.

        Raises:
            Unreadable: when the parser refuses the file, crashes, or exceeds a limit.
            Forbidden: when no process can be started at the moment.
        """
        answer = self._answer(request, data, path, texts)
        try:
            return document_of(answer["document"], path)
        except (KeyError, ValueError):
            raise _unreadable("damaged", "", request, path) from None

    def draw(self, request: ParseRequest, data: bytes, path: str, view: PageView) -> Picture:
        """Return the picture that the function of a request makes of a page.

        Raises:
            Unreadable: when it cannot be drawn, or exceeds a limit.
        """
        answer = self._answer(request, data, path, None, view)
        try:
            return _picture(answer)
        except (KeyError, ValueError):
            raise _unreadable("damaged", "", request, path) from None

    def _answer(
        self,
        request: ParseRequest,
        data: bytes,
        path: str,
        texts: TextCache | None,
        view: PageView | None = None,
    ) -> dict[str, Any]:
        try:
            process = self._idle.take() or _ParserProcess()
            exchange = PartTexts(texts, request.parser)
            answer = process.answer(request, data, Path(path).stem, exchange, view)
        except _ParserLost as lost:
            raise _unreadable(lost.reason, "", request, path) from None
        except OSError as error:  # no processes, files or memory are left at the moment
            message = "no process can be started to read this file; it is tried again"
            raise Forbidden(message, path=path) from error
        self._idle.put_back(process)
        if "unreadable" in answer:
            raise _unreadable(answer["unreadable"], answer["message"], request, path)
        return answer

    def close(self) -> None:
        """End all idle processes, and close the pool."""
        self._idle.close()


def _picture(answer: Mapping[str, Any]) -> Picture:
    data = b64decode(str(answer["picture"]), validate=True)
    if not data.startswith(_PNG) or len(data) > _LARGEST_PICTURE:
        raise ValueError("it is no picture of a page")
    return Picture(data, int(answer["marked"]))


def _unreadable(reason: str, message: str, request: ParseRequest, path: str) -> Unreadable:
    sentence = _REASONS.get(reason, "the file cannot be parsed").format(
        seconds=request.seconds, seconds_of=request.seconds_of, memory=request.memory
    )
    return Unreadable(message or sentence, reason, path=path)


def _processor_seconds(pid: int) -> float | None:
    """Return the processor time of a process and of those it has waited for, or ``None``."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, AttributeError):  # not Linux, or it has ended
        return None
