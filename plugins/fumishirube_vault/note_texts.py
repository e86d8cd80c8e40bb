"""The texts of notes: their line ends, and the difference between two states."""

from __future__ import annotations

from bisect import bisect_left
from difflib import unified_diff

from fumishirube import Unreadable
from fumishirube.text import decode, unify_line_ends

LF, CRLF, CR = "\n", "\r\n", "\r"

_NO_NOTE = "/dev/null"


class LineEnds:
    """A text with its own line ends, ``own``, and with LF, ``text``."""

    def __init__(self, own: str) -> None:
        self.own = own
        self.text = unify_line_ends(own)
        self._pairs: list[int] = []
        place = own.find(CRLF)
        while place >= 0:
            self._pairs.append(place - len(self._pairs))
            place = own.find(CRLF, place + 2)

    def place(self, offset: int) -> int:
        """Return the offset in ``own`` of an offset in ``text``."""
        return offset + bisect_left(self._pairs, offset)

    def offset(self, place: int) -> int:
        """Return the offset in ``text`` of an offset in ``own``, which must not split a CRLF."""
        return place - self.own.count(CRLF, 0, place)

    @property
    def prevailing(self) -> str:
        """The most frequent line end; LF in a text without any."""
        pairs = len(self._pairs)
        often = {LF: self.own.count(LF) - pairs, CRLF: pairs, CR: self.own.count(CR) - pairs}
        return max(often, key=lambda end: often[end])


def difference(path: str, before: bytes | None, after: bytes | None) -> str:
    """Return a unified diff; ``None`` is a missing note. A binary file is only named."""
    if before == after:
        return ""
    try:
        old, new = _lines(before), _lines(after)
    except Unreadable:
        return f"{path}: it is not text, and it differs\n"
    was, now = (_NO_NOTE if data is None else path for data in (before, after))
    lines = list(unified_diff(old, new, was, now, lineterm=""))
    return "".join(f"{line}\n" for line in lines) or f"{path}: line ends or encoding differ\n"


def _lines(data: bytes | None) -> list[str]:
    text = decode(data or b"")
    return text.removesuffix("\n").split("\n") if text else []
