"""Line ends: the same place in a text with its own, and in the text where all of them are LF."""

from __future__ import annotations

from bisect import bisect_left

from fumishirube.text import unify_line_ends

LF, CRLF, CR = "\n", "\r\n", "\r"


class LineEnds:
    """A text with its own line ends, ``own``, and with LF alone, ``text``."""

    def __init__(self, own: str) -> None:
        self.own = own
        self.text = unify_line_ends(own)
        self._pairs: list[int] = []
        place = own.find(CRLF)
        while place >= 0:
            self._pairs.append(place - len(self._pairs))
            place = own.find(CRLF, place + 2)

    def place(self, offset: int) -> int:
        """Return where in ``own`` the character stands that stands at ``offset`` in ``text``."""
        return offset + bisect_left(self._pairs, offset)

    def offset(self, place: int) -> int:
        """Return where in ``text`` a place of ``own`` is; not inside a CRLF."""
        return place - self.own.count(CRLF, 0, place)

    @property
    def prevailing(self) -> str:
        """The line end that most lines have; LF when there is none."""
        pairs = len(self._pairs)
        often = {LF: self.own.count(LF) - pairs, CRLF: pairs, CR: self.own.count(CR) - pairs}
        return max(often, key=lambda end: often[end])
