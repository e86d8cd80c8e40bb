"""The log of requests: a line each, of what was called and how it went; nothing of the texts."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from logging.handlers import RotatingFileHandler
from pathlib import Path
from time import monotonic

from pydantic import JsonValue
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shirube.calling import compact
from shirube.errors import InternalError
from shirube.http.problems import of_internal
from shirube.http.replies import reply
from shirube.wire import complain

LOG = logging.getLogger("shirube.http")

FILE = "http.log"
BYTES = 4 * 1024 * 1024
"""How large the file becomes before another is begun."""
KEPT = 3
"""How many full ones are kept."""
HUNG_UP = 499
"""The status of a request whose client did not wait for the answer."""
_SHOWN = 80
_LINES = 400


@dataclass
class Line:
    """What becomes known of a request while it is under way."""

    endpoint: str
    manual_name: str | None = None
    section_id: str | None = None
    result_count: int | None = None
    status: int = HUNG_UP
    error_id: str | None = None

    def know(self, arguments: object) -> None:
        """Note which manual and which section are asked for, and nothing else."""
        if isinstance(arguments, dict):
            self.manual_name = _shown(arguments.get("manual_name", arguments.get("manual_id")))
            self.section_id = _shown(arguments.get("section_id"))

    def count(self, answer: Mapping[str, JsonValue]) -> None:
        """Note how many results an answer holds, if it is that of a search."""
        results = answer.get("results")
        self.result_count = len(results) if isinstance(results, list) else None

    def written(self, seconds: float) -> str:
        """Return the line."""
        told: dict[str, JsonValue] = {
            "ts": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "endpoint": _shown(self.endpoint),
            "manual_name": self.manual_name,
            "section_id": self.section_id,
            "result_count": self.result_count,
            "status": self.status,
            "duration_ms": round(seconds * 1000, 1),
            "error_id": self.error_id,
        }
        return compact({name: value for name, value in told.items() if value is not None})


class Logged:
    """Writes a line for each request; what escapes from within becomes a 500 with an id."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and log how it went."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        line = Line(f"{scope['method']} {scope['path']}")
        scope.setdefault("state", {})["line"] = line
        started, answered = monotonic(), False

        async def watch(message: Message) -> None:
            nonlocal answered
            if message["type"] == "http.response.start":
                answered, line.status = True, message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watch)
        except Exception:
            failure = InternalError()
            line.status, line.error_id = 500, failure.error_id
            LOG.exception("error_id %s in %s", failure.error_id, line.endpoint)
            if not answered:
                await reply(of_internal(failure))(scope, receive, send)
        finally:
            LOG.info("%s", line.written(monotonic() - started))


class Wordless(logging.Formatter):
    """Tells of an exception the types and the places, but not the words: they may hold a text."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the lines of a record."""
        told = [record.getMessage()]
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            told += islice(_wordless(error, set()), _LINES)
        return "\n".join(map(_printable, told))


def _wordless(error: BaseException, known: set[int], indent: str = "  ") -> Iterator[str]:
    """Yield the type of an error and its places, the members of a group, and what caused it."""
    while id(error) not in known:
        known.add(id(error))
        yield f"{indent}{type(error).__name__}"
        for frame in traceback.extract_tb(error.__traceback__):
            yield f"{indent}  {frame.filename}:{frame.lineno} {frame.name}"
        if isinstance(error, BaseExceptionGroup):
            for member in error.exceptions:
                yield from _wordless(member, known, f"{indent}  | ")
        following = error.__cause__ or error.__context__
        if following is None:
            return
        error = following


class ToStandardError(logging.Handler):
    """Writes records to standard error, or drops them when nobody empties that pipe."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        for line in self.format(record).splitlines():
            complain(line)


class ToFile(RotatingFileHandler):
    """Writes records to a file, which is made with its folder when there is one to write."""

    def __init__(self, file: Path) -> None:
        super().__init__(file, maxBytes=BYTES, backupCount=KEPT, encoding="utf-8", delay=True)

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record; a disk that is full, or may not be written to, stops nothing."""
        with suppress(OSError):
            Path(self.baseFilename).parent.mkdir(parents=True, exist_ok=True)
            super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the parent's name
        """Tell nobody: standard error has the same record."""


def start_logging(level: str, folder: Path) -> None:
    """Let this server and what it stands on tell what goes on, there and on standard error."""
    handlers = [ToStandardError(), ToFile(folder / FILE)]
    for handler in handlers:
        handler.setFormatter(Wordless())
    for name, least in (("shirube", level), ("uvicorn", "WARNING"), ("mcp", "WARNING")):
        logger = logging.getLogger(name)
        logger.handlers = [*handlers]
        logger.setLevel(least)
        logger.propagate = False
    logging.captureWarnings(capture=True)


def _shown(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    short = value if len(value) <= _SHOWN else f"{value[: _SHOWN - 1]}…"
    return _printable(short)


def _printable(text: str) -> str:
    """Return a text whose control characters, and what else does not print, are escaped."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
