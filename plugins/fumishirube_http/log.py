"""The request log: one line a request, without any text of queries or documents."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from time import monotonic
from typing import TypeAlias
from urllib.parse import unquote

from pydantic import JsonValue
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fumishirube import Cancelled, InternalError, ToolError
from fumishirube.disk import open_own
from fumishirube.serving import escaped, log_event, start_logs
from fumishirube_http.problems import error_id_of, of_internal, of_tool, reply

LOG = logging.getLogger("fumishirube.http")

FILE = "http.log"
BYTES = 4 * 1024 * 1024
"""The size at which the file is rotated."""
BACKUPS = 3
"""The number of rotated files."""
HUNG_UP = 499
"""The logged status of a request whose client hung up."""
_SHOWN = 80
_LISTING, _ALL = "manual_ls", "manuals"
"""The tool whose ``id`` is that of a manual, of a folder in one, or of all."""


@dataclass
class RequestLogEntry:
    """The fields of a request's log line, set while it is in progress.

    ``tool`` is set for a call of a tool, ``person`` where people sign in. A ``part`` of a request
    is no request of its own.
    """

    endpoint: str
    manual_name: str | None = None
    section_id: str | None = None
    result_count: int | None = None
    status: int = HUNG_UP
    error_id: str | None = None
    tool: str | None = None
    person: str | None = None
    part: bool = False

    def note_arguments(self, arguments: object) -> None:
        """Record the manuals and the section in the arguments, and nothing else.

        A resource names its manual in its URI.
        """
        if isinstance(arguments, dict):
            manuals = dict.fromkeys(_manuals_in(arguments, self.tool))
            self.manual_name = _shown(", ".join(manuals)) or None
            self.section_id = _shown(arguments.get("section_id"))

    def count(self, answer: Mapping[str, JsonValue]) -> None:
        """Record the number of results in a search's answer."""
        results = answer.get("results")
        self.result_count = len(results) if isinstance(results, list) else None

    def write(self, seconds: float) -> None:
        """Write the line."""
        log_event(
            logging.INFO,
            LOG.name,
            endpoint=_shown(self.endpoint),
            person=self.person,
            manual_name=self.manual_name,
            section_id=self.section_id,
            result_count=self.result_count,
            status=self.status,
            duration_ms=round(seconds * 1000, 1),
            error_id=self.error_id,
        )


Recorder: TypeAlias = Callable[[RequestLogEntry, float], None]
"""Called after each request, and each call of a tool over MCP, with the seconds it took."""


@dataclass(frozen=True)
class CallRecorder:
    """Records each call that is only a part of a request, of a ``person`` where people sign in."""

    record: Recorder
    face: str
    person: str | None

    def __call__(
        self,
        tool: str,
        arguments: object,
        answer: Mapping[str, JsonValue],
        error: ToolError | Cancelled | None,
        seconds: float,
    ) -> None:
        """Record a call."""
        line = RequestLogEntry(f"{self.face} {tool}", tool=tool, person=self.person, part=True)
        line.note_arguments(arguments)
        line.count(answer)
        if error is None:
            line.status = HTTPStatus.OK
        elif isinstance(error, ToolError):
            line.status, line.error_id = of_tool(error).status, error_id_of(error)
        self.record(line, seconds)


class LoggingMiddleware:
    """Records every request, and turns an unhandled exception into a 500 with an id.

    A request is recorded before the end of its answer is sent: whoever has an answer finds it in
    the log. Inside another one it leaves the record to that one.
    """

    def __init__(self, app: ASGIApp, record: Recorder = RequestLogEntry.write) -> None:
        self._app = app
        self._record = record

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request, and log it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        inner = isinstance(state.get("line"), RequestLogEntry)
        line = state.setdefault("line", RequestLogEntry(f"{scope['method']} {scope['path']}"))
        started, answered, recorded = monotonic(), False, inner

        def record() -> None:
            nonlocal recorded
            if not recorded:
                recorded = True
                self._record(line, monotonic() - started)

        async def watch(message: Message) -> None:
            nonlocal answered
            if message["type"] == "http.response.start":
                answered, line.status = True, message["status"]
            elif message["type"] == "http.response.body" and not message.get("more_body"):
                record()
            await send(message)

        try:
            await self._app(scope, receive, watch)
        except Exception:
            failure = InternalError()
            line.status, line.error_id = 500, failure.error_id
            fields = {"endpoint": _shown(line.endpoint), "error_id": failure.error_id}
            LOG.exception("error_id %s", failure.error_id, extra={"fields": fields})
            if not answered:
                await reply(of_internal(failure))(scope, receive, send)
        finally:
            record()


class RotatingLogFile(RotatingFileHandler):
    """A rotating file handler that creates its folder at the first record, and follows no link.

    ``mode`` is that of its files.
    """

    def __init__(self, file: Path, mode: int = 0o666) -> None:
        self._mode = mode
        super().__init__(file, maxBytes=BYTES, backupCount=BACKUPS, encoding="utf-8", delay=True)

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; ignore a full or read-only disk."""
        with suppress(OSError):
            Path(self.baseFilename).parent.mkdir(parents=True, exist_ok=True)
            super().emit(record)

    def _open(self) -> TextIOWrapper:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        handle = open_own(Path(self.baseFilename), flags, self._mode)
        return os.fdopen(handle, "a", encoding=self.encoding, errors=self.errors)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the parent's name
        """Ignore the error: standard error has the same record."""


def start_logging(level: str, folder: Path, worker: int = 1) -> None:
    """Log to a file in a folder and to standard error, with tracebacks.

    Each worker process has a file of its own: only one process can rotate a file.
    """
    file = folder / (FILE if worker == 1 else f"http-{worker}.log")
    start_logs(level, RotatingLogFile(file), places=True)


def _manuals_in(arguments: object, tool: object) -> Iterator[str]:
    """Yield the manuals that some arguments name, those of ranges and of batched calls included."""
    if isinstance(arguments, str):
        scheme, _, rest = arguments.partition("://")
        if scheme == "manual":
            yield unquote(rest.partition("/")[0])
    elif isinstance(arguments, dict):
        for name in ("manual_name", "manual_id"):
            named = arguments.get(name)
            listed = named if isinstance(named, list) else [named]
            yield from (each for each in listed if isinstance(each, str))
        if tool == _LISTING and isinstance(folder := arguments.get("id"), str):
            named = folder.strip().removeprefix("dir::").removeprefix("file::").partition("::")[0]
            if named not in ("", _ALL):
                yield named
        for name in ("uri", "ref", "refs", "calls", "arguments"):
            yield from _manuals_in(arguments.get(name), arguments.get("tool"))
    elif isinstance(arguments, list):
        for each in arguments:
            yield from _manuals_in(each, tool)


def _shown(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    short = value if len(value) <= _SHOWN else f"{value[: _SHOWN - 1]}…"
    return escaped(short)
