"""The line ends of notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fumishirube.text import unify_line_ends

LF, CRLF, CR = "\n", "\r\n", "\r"


class LineEnds:
    """A text with its own line ends, ``own``, and with LF, ``text``."""

    def __init__(self, own: str) -> None:
        self.own = own
        self.text = unify_line_ends(own)

    def place(self, offset: int) -> int:
        """Return the offset in ``own`` of an offset in ``text``."""
        return next(self.places([offset]))

    def places(self, offsets: Iterable[int]) -> Iterator[int]:
        """Yield the offsets in ``own`` of ascending offsets in ``text``."""
        pairs = last = 0  # how many CRLF there are before an offset in ``own``, which splits none
        for offset in offsets:
            while last < (place := offset + pairs):
                place += self.own[place - 1 : place + 1] == CRLF
                pairs += self.own.count(CRLF, last, place)
                last = place
            yield last

    def offset(self, place: int) -> int:
        """Return the offset in ``text`` of an offset in ``own``, which must not split a CRLF."""
        return place - self.own.count(CRLF, 0, place)

    @property
    def prevailing(self) -> str:
        """The most frequent line end; LF in a text without any."""
        pairs = self.own.count(CRLF)
        often = {LF: self.own.count(LF) - pairs, CRLF: pairs, CR: self.own.count(CR) - pairs}
        return max(often, key=lambda end: often[end])
