"""What a parser and the server exchange meanwhile: cached texts of parts, and pages read."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar

from fumishirube.parsing import Channel, TextCache, report_pages

LONGEST_KEY = 1000
"""The most characters of a key."""
_LONGEST_TEXT = 1_000_000
_MOST_OF_FILE = 64_000_000
"""The most characters of texts that are stored for one file."""
_MOST_PAGES = 10_000_000
_REPORT_SECONDS = 0.25
"""Seconds between two reports of pages."""
_CHANNEL: ContextVar[Channel | None] = ContextVar("_CHANNEL", default=None)
"""The channel of a worker, in the thread that parses: only one may use it."""
_REPORTED: ContextVar[float] = ContextVar("_REPORTED", default=0.0)


def cached_text(key: str, make: Callable[[], str]) -> str:
    """Return the text of a part of a file, made now, or stored when any file had that part.

    A parser calls this. ``key``, of at most 1,000 characters, names all that the text depends on,
    such as a hash of the part and the settings; keys of different parsers never meet. A text is
    stored as soon as it is made. Outside a worker process, and in threads
    that the parser starts, nothing is stored.
    """
    channel = _CHANNEL.get()
    if channel is None:
        return make()
    send(channel, {"wanted": key})
    text = json.loads(channel.receive() or b"")
    if text is None:
        text = make()
        send(channel, {"made": key, "text": text})
    return str(text)


def send_pages(done: int, total: int) -> None:
    """Report how many pages of the file are read, of how many; a few reports a second are sent.

    A parser may call this after each page. Outside a worker process, and in threads that the
    parser starts, nothing is sent.
    """
    channel, now = _CHANNEL.get(), time.monotonic()
    if channel is not None and now - _REPORTED.get() >= _REPORT_SECONDS:
        _REPORTED.set(now)
        send(channel, {"pages": [done, total]})


def connect(channel: Channel) -> None:
    """Exchange texts over the channel of this process, which is a worker."""
    _CHANNEL.set(channel)


def send(channel: Channel, message: object) -> None:
    """Send a message, which is JSON data."""
    channel.send(json.dumps(message).encode())


class PartTexts:
    """The server's side of the exchange for one file."""

    def __init__(self, cache: TextCache | None, parser: str) -> None:
        self._cache = cache
        self._parser = parser
        self._stored = 0

    def answered(self, message: Mapping[str, object], channel: Channel) -> bool:
        """Answer a message about parts; return whether it is one."""
        if "wanted" in message:
            send(channel, self._text(message["wanted"]))
        elif "made" in message:
            self._put(message["made"], message.get("text"))
        elif "pages" in message:
            _report(message["pages"])
        else:
            return False
        return True

    def _text(self, key: object) -> str | None:
        return self._cache.text(self._name(key)) if self._cache and _is_key(key) else None

    def _put(self, key: object, text: object) -> None:
        if self._cache is None or not _is_key(key) or not isinstance(text, str):
            return
        self._stored += len(text)
        if len(text) <= _LONGEST_TEXT and self._stored <= _MOST_OF_FILE:
            self._cache.put_text(self._name(key), text)

    def _name(self, key: object) -> str:
        return f"{self._parser}\0{key}"


def _is_key(key: object) -> bool:
    return isinstance(key, str) and len(key) <= LONGEST_KEY


def _report(pages: object) -> None:
    match pages:
        case [int(done), int(total)] if 0 <= done <= total <= _MOST_PAGES:
            report_pages(done, total)
