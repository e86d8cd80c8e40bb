"""Records what a session has read, so that a follow-up search can leave it out."""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter

from fumishirube import Document, SurfaceContext, ToolError
from fumishirube.tools import Session, TextPage


@dataclass
class DeliveredRanges:
    """The ranges of characters of one file's text that a session received, and when.

    ``ranges`` have their start, their end, and the last time at which they were received, in
    seconds since the epoch; they are in order and apart.
    """

    text_hash: int
    ranges: list[tuple[int, int, float]] = field(default_factory=list)

    def add(self, start: int, end: int, at: float) -> None:
        """Add a range received now, in place of what it covers."""
        if start >= end:
            return
        place = slice(self._after(start), bisect_left(self.ranges, end, key=itemgetter(0)))
        former = self.ranges[place]
        before = [(a, start, then) for a, _, then in former[:1] if a < start]
        behind = [(end, b, then) for _, b, then in former[-1:] if b > end]
        self.ranges[place] = [*before, (start, end, at), *behind]

    def holds(self, start: int, end: int, since: float) -> bool:
        """Tell whether every character of a range was received at a time or after it."""
        for a, b, at in islice(self.ranges, self._after(start), None):
            if a > start or at < since:
                return False
            if b >= end:
                return True
            start = b
        return False

    def _after(self, offset: int) -> int:
        """Return the index of the first range that ends behind an offset."""
        return bisect_right(self.ranges, offset, key=itemgetter(1))


class _Deliveries(dict[tuple[str, str], DeliveredRanges]):
    """What a session received of each file, by manual and path."""


def record(session: Session | None, manual_id: str, document: Document, page: TextPage) -> None:
    """Record the characters of a file that were returned."""
    if session is None:
        return
    text_hash = hash(document.text)
    place = (manual_id, document.path)
    deliveries = session.keep(_Deliveries)
    with session.lock:
        delivery = deliveries.get(place)
        if delivery is None or delivery.text_hash != text_hash:
            delivery = deliveries[place] = DeliveredRanges(text_hash)
        delivery.add(page.next_offset - len(page.text), page.next_offset, time.time())


def delivered(
    context: SurfaceContext, session: Session | None, manual_id: str, since: float
) -> frozenset[tuple[str, int]]:
    """Return the sections of a manual whose own text was read completely since a time.

    They are given by path and line, the time in seconds since the epoch.
    """
    if session is None:
        return frozenset()
    received = session.keep(_Deliveries)
    with session.lock:
        deliveries = [(path, d) for (manual, path), d in received.items() if manual == manual_id]
    sections = set()
    for path, delivery in deliveries:
        try:
            document = context.manual(manual_id).document(path)
        except ToolError:  # deleted, so there is nothing to leave out
            continue
        if hash(document.text) == delivery.text_hash:
            sections |= {
                (path, section.start_line)
                for section in document.sections
                if delivery.holds(section.start, section.end, since)
            }
    return frozenset(sections)
