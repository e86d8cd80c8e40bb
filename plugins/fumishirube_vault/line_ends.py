"""Maps offsets between a text with its own line ends and the text with LF."""

from __future__ import annotations

from bisect import bisect_left

from fumishirube.text import unify_line_ends

LF, CRLF, CR = "\n", "\r\n", "\r"


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
