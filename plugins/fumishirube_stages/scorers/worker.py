"""The process that runs the patterns that could hang or exhaust the one that serves.

It is started by its path and knows nothing of the rest: frames come in on standard input, and
answers go out on standard output, each with its length in front.
"""

from __future__ import annotations

import json
import re
import signal
import struct
import sys
from typing import Any

MEMORY = 512 * 1024 * 1024
HEAD = struct.Struct("<I")


def main() -> None:
    """Answer until standard input ends."""
    _limit_memory()
    searcher = _Searcher()
    _answer("ready")
    while (frame := _frame()) is not None:
        kind, data = frame[:1], frame[1:]
        _answer(searcher.compile(json.loads(data)) if kind == b"p" else searcher.search(data))


class _Searcher:
    """One compiled pattern at a time, and how long it may look through one text."""

    def __init__(self) -> None:
        self._patience = 0.0
        self._timed: Any = None
        self._plain: re.Pattern[str] | None = None

    def compile(self, request: dict[str, Any]) -> bool:
        """Take a pattern; whether it is one, ``re`` decides."""
        self._patience = request["patience"]
        _end_within(request["deadline"])
        try:
            self._plain = re.compile(request["pattern"], request["flags"])
        except (re.error, RecursionError, OverflowError, MemoryError):
            return False
        self._timed = _timed(request["pattern"], request["flags"])
        return True

    def search(self, data: bytes) -> list[int] | str | None:
        """Return where the pattern first matches, ``None``, or ``late``."""
        text = data.decode("utf-8", "surrogatepass")
        _end_within(2 * self._patience + 1)
        try:
            if self._timed is not None:
                match = self._timed.search(text, timeout=self._patience)
            else:
                assert self._plain is not None
                match = self._plain.search(text)
        except (TimeoutError, MemoryError):
            return "late"
        return None if match is None else [*match.span()]


def _timed(pattern: str, flags: int) -> Any:
    """Return the pattern for the engine that watches the clock, if that is there and takes it."""
    try:
        import regex  # noqa: PLC0415 - it is an extra; without it the other process watches alone

        names = ("ASCII", "IGNORECASE", "MULTILINE", "DOTALL")
        known = (getattr(regex, name) for name in names if flags & getattr(re, name))
        return regex.compile(pattern, regex.VERSION0 | sum(known))
    except Exception:  # whatever is wrong with it there, it is a pattern for the other engine
        return None


def _limit_memory() -> None:
    try:
        import resource  # noqa: PLC0415 - there is none on Windows
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def _end_within(seconds: float) -> None:
    """See to it that this process ends even if nobody is there to end it."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _frame() -> bytes | None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)
    head = sys.stdin.buffer.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    (size,) = HEAD.unpack(head)
    return sys.stdin.buffer.read(size)


def _answer(value: object) -> None:
    data = json.dumps(value).encode()
    sys.stdout.buffer.write(HEAD.pack(len(data)) + data)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
