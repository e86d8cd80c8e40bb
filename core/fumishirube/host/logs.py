"""The log of a server: a line of JSON for each event, without any text of documents."""

from __future__ import annotations

import logging
import threading
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import PurePath

from pydantic import JsonValue

from fumishirube.host.standard_streams import write_error_line
from fumishirube.tools.calls import compact, plain

LEVELS = ("debug", "info", "warning", "error")
_FRAMES = 24
"""The innermost frames of an exception that are logged, so that a line stays short."""
_ERRORS = 24
_LONGEST = 1000
QUIET_LEVEL = "warning"
"""The log level for clients that show standard error to people."""


def log_event(level: int, /, logger: str = "fumishirube", **fields: JsonValue) -> None:
    """Log an event by its fields; those that are ``None`` are left out."""
    logging.getLogger(logger).log(level, "", extra={"fields": fields})


def message_of(record: logging.LogRecord) -> str:
    """Return the message of a record, or where it was logged if its values do not fit it."""
    try:
        return record.getMessage()
    except Exception as error:  # no call of a log may raise in a plugin
        place = f"{PurePath(record.pathname).name}:{record.lineno}"
        return f"{place} logged what cannot be written: {type(error).__name__}"


class JsonLinesFormatter(logging.Formatter):
    """Formats a record as one line of JSON: time, level, and fields or message.

    Of exceptions it logs the types only, because messages may quote a text; with ``places`` also
    where they were raised.
    """

    def __init__(self, *, places: bool) -> None:
        super().__init__()
        self._places = places

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        line: dict[str, JsonValue] = {
            "ts": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
        }
        fields: dict[str, JsonValue] | None = getattr(record, "fields", None)
        if fields is None:
            line["message"] = escaped(message_of(record))[:_LONGEST]
        else:
            line |= {name: plain(value) for name, value in fields.items() if value is not None}
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            errors = [*islice(_chain(error, set()), _ERRORS)]
            line["exception"] = [*(type(cause).__name__ for cause in errors)]
            if self._places:
                places = [place for cause in errors for place in _places(cause)]
                line["where"] = [*places[-_FRAMES:]]
        return compact(line)


class StandardErrorHandler(logging.Handler):
    """Writes records to standard error, and drops them while that pipe is full."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        write_error_line(self.format(record))


def start_logs(level: str, *further: logging.Handler, places: bool) -> None:
    """Log records from a level on to standard error and ``further`` handlers, and no others.

    At the level ``debug``, ``places`` are always logged.
    """
    shown = level.upper()
    formatter = JsonLinesFormatter(places=places or shown == "DEBUG")
    handlers = [StandardErrorHandler(), *further]
    for handler in handlers:
        handler.setFormatter(formatter)
    least = "ERROR" if shown == "ERROR" else "WARNING"
    for name in ("fumishirube", "uvicorn", "mcp", "asyncio", "py.warnings"):
        logger = logging.getLogger(name)
        logger.handlers = [*handlers]
        logger.setLevel(shown if name == "fumishirube" else least)
        logger.propagate = False
    logging.captureWarnings(capture=True)
    threading.excepthook = _ended


def escaped(text: str) -> str:
    """Return a text with control characters and other unprintable ones escaped."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _ended(ended: threading.ExceptHookArgs) -> None:
    """Log the exception that ended a thread; Python would print its message."""
    if ended.exc_value is not None and ended.exc_type is not SystemExit:
        name = ended.thread.name if ended.thread else "a thread"
        logging.getLogger("fumishirube").error("%s ended", name, exc_info=ended.exc_value)


def _chain(error: BaseException, known: set[int]) -> Iterator[BaseException]:
    """Yield an exception, its causes, and the members of groups, each once."""
    current: BaseException | None = error
    while current is not None and id(current) not in known:
        known.add(id(current))
        yield current
        for member in current.exceptions if isinstance(current, BaseExceptionGroup) else ():
            yield from _chain(member, known)
        current = current.__cause__ or current.__context__


def _places(error: BaseException) -> Iterator[str]:
    for frame in traceback.extract_tb(error.__traceback__):
        yield f"{PurePath(frame.filename).name}:{frame.lineno} {frame.name}"
