"""What a parser and the server exchange meanwhile: cached texts of parts, and pages read."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import BinaryIO, NamedTuple, Protocol

from fumishirube.parsing.worker import frame, read_frame, write_frame

LONGEST_KEY = 1000
"""The most characters of a key."""
_LONGEST_TEXT = 1_000_000
_MOST_OF_FILE = 64_000_000
"""The most characters of texts that are stored for one file."""
_MOST_PAGES = 10_000_000
_REPORT_SECONDS = 0.25
"""Seconds between two reports of pages."""
_PIPES: ContextVar[tuple[BinaryIO, BinaryIO] | None] = ContextVar("_PIPES", default=None)
"""The pipes of a worker, in the thread that parses: only one may use them."""
_REPORTED: ContextVar[float] = ContextVar("_REPORTED", default=0.0)


class PagesRead(NamedTuple):
    """How many pages of a file are read, of how many."""

    done: int
    total: int


PageReporter = Callable[[PagesRead], None]
_REPORTER: ContextVar[PageReporter | None] = ContextVar("_REPORTER", default=None)


class TextCache(Protocol):
    """Stores texts by keys; any thread may use it."""

    def text(self, key: str) -> str | None:
        """Return a stored text, or ``None``."""
        ...

    def put_text(self, key: str, text: str) -> None:
        """Store a text, if possible."""
        ...


def cached_text(key: str, make: Callable[[], str]) -> str:
    """Return the text of a part of a file, made now, or stored when any file had that part.

    A parser calls this. ``key``, of at most 1,000 characters, names all that the text depends on,
    such as a hash of the part and the settings; keys of different parsers never meet. A text is
    stored as soon as it is made. Outside a worker process, and in threads
    that the parser starts, nothing is stored.
    """
    pipes = _PIPES.get()
    if pipes is None:
        return make()
    source, target = pipes
    _write(target, {"wanted": key})
    text = json.loads(read_frame(source) or b"")
    if text is None:
        text = make()
        _write(target, {"made": key, "text": text})
    return str(text)


def report_pages(done: int, total: int) -> None:
    """Report how many pages of the file are read, of how many; a few reports a second are sent.

    A parser may call this after each page. Outside a worker process, and in threads that the
    parser starts, nothing is sent.
    """
    pipes, now = _PIPES.get(), time.monotonic()
    if pipes is not None and now - _REPORTED.get() >= _REPORT_SECONDS:
        _REPORTED.set(now)
        _write(pipes[1], {"pages": [done, total]})


@contextmanager
def reporting_pages(reporter: PageReporter) -> Iterator[None]:
    """Call ``reporter`` with the pages of files that this thread loads in other processes."""
    token = _REPORTER.set(reporter)
    try:
        yield
    finally:
        _REPORTER.reset(token)


def report_start() -> None:
    """Report that the parser is imported: from now on, its time is limited."""
    pipes = _PIPES.get()
    if pipes is not None:
        _write(pipes[1], {"started": True})


def connect(source: BinaryIO, target: BinaryIO) -> None:
    """Exchange texts over the pipes of this process, which is a worker."""
    _PIPES.set((source, target))


def _write(target: BinaryIO, message: object) -> None:
    write_frame(target, json.dumps(message).encode())


class PartTexts:
    """The server's side of the exchange for one file."""

    def __init__(self, cache: TextCache | None, parser: str) -> None:
        self._cache = cache
        self._parser = parser
        self._stored = 0
        self._reporter = _REPORTER.get()

    def reply(self, message: Mapping[str, object]) -> bytes | None:
        """Return the frame that answers a message about parts; ``None`` for other messages."""
        if "wanted" in message:
            return frame(json.dumps(self._text(message["wanted"])).encode())
        if "made" in message:
            self._put(message["made"], message.get("text"))
            return b""
        if "pages" in message:
            self._report(message["pages"])
            return b""
        return None

    def _text(self, key: object) -> str | None:
        return self._cache.text(self._name(key)) if self._cache and _is_key(key) else None

    def _put(self, key: object, text: object) -> None:
        if self._cache is None or not _is_key(key) or not isinstance(text, str):
            return
        self._stored += len(text)
        if len(text) <= _LONGEST_TEXT and self._stored <= _MOST_OF_FILE:
            self._cache.put_text(self._name(key), text)

    def _report(self, pages: object) -> None:
        if self._reporter is None:
            return
        match pages:
            case [int(done), int(total)] if 0 <= done <= total <= _MOST_PAGES:
                self._reporter(PagesRead(done, total))

    def _name(self, key: object) -> str:
        return f"{self._parser}\0{key}"


def _is_key(key: object) -> bool:
    return isinstance(key, str) and len(key) <= LONGEST_KEY
