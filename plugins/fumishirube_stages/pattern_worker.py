"""The process for patterns that could hang or exhaust the server; it imports no other stage."""

from __future__ import annotations

import gc
import json
import re
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, AnyStr

if TYPE_CHECKING:
    from fumishirube.parsing import Channel

MEMORY = 512 * 1024 * 1024
LIMITS_ITSELF = hasattr(signal, "setitimer")
"""Whether the system ends this process in time."""


def serve(channel: Channel, _: bytes) -> None:
    """Answer requests until the input ends; the first answer says that the process is ready."""
    gc.enable()
    _limit_memory()
    channel.send(b"")
    searcher = _Searcher()
    while (frame := channel.receive()) is not None:
        request = json.loads(frame)
        act = searcher.compile if "pattern" in request else searcher.search
        answer = json.dumps(act(request)).encode()
        _end_within(0)  # while it waits
        channel.send(answer)


class _Searcher:
    """Searches with one compiled pattern at a time, and a time limit for each text."""

    def __init__(self) -> None:
        self._patience = 0.0
        self._by_line = False
        self._timed: Any = None
        self._plain: re.Pattern[str] | None = None

    def compile(self, request: dict[str, Any]) -> bool:
        """Compile a pattern; return whether ``re`` accepts it."""
        self._patience = request["patience"]
        self._by_line = request["by_line"]
        _end_within(request["deadline"])
        try:
            self._plain = re.compile(request["pattern"], request["flags"])
        except (re.error, RecursionError, OverflowError, MemoryError):
            return False
        self._timed = _timed(request["pattern"], request["flags"])
        return True

    def search(self, request: dict[str, Any]) -> list[list[tuple[int, int]] | str]:
        """Return for each text the spans of its first matches, ``late`` for one that takes long."""
        _end_within(request["seconds"])
        return [self._spans(text, request["most"]) for text in request["texts"]]

    def _spans(self, text: str, most: int | None) -> list[tuple[int, int]] | str:
        try:
            return [match.span() for match in self._matches(text, most)]
        except (TimeoutError, MemoryError):
            return "late"

    def _matches(self, text: str, most: int | None) -> Iterable[Any]:
        compiled: Any = self._plain if self._timed is None else self._timed
        limit = {} if self._timed is None else {"timeout": self._patience}
        if self._by_line and most == 1:
            return first_of_lines(partial(compiled.search, **limit), text, "\n")
        return islice(compiled.finditer(text, **limit), most)


def first_of_lines(
    search: Callable[[AnyStr, int], Any], text: AnyStr, newline: AnyStr
) -> Iterator[Any]:
    """Yield the first match in each line of a text, given the search from a place on."""
    place = 0
    while match := search(text, place):
        yield match
        place = text.find(newline, match.end()) + 1
        if not place:
            return


def _timed(pattern: str, flags: int) -> Any:
    """Compile a pattern for ``regex``, which has timeouts; ``None`` where that is impossible."""
    try:
        import regex  # noqa: PLC0415 - it is an extra; without it the other process watches alone

        names = ("ASCII", "IGNORECASE", "MULTILINE", "DOTALL")
        values = (getattr(regex, name) for name in names if flags & getattr(re, name))
        return regex.compile(pattern, regex.VERSION0 | sum(values))
    except Exception:  # the standard library's engine runs the pattern instead
        return None


def _limit_memory() -> None:
    with suppress(ImportError):
        import resource  # noqa: PLC0415 - there is none on Windows

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def _end_within(seconds: float) -> None:
    """End this process after some seconds, even if its parent is gone; not on Windows.

    0 is for no end.
    """
    if LIMITS_ITSELF:
        signal.setitimer(signal.ITIMER_REAL, seconds)
