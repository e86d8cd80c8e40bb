"""Records what a session has read, so that a follow-up search can leave it out."""

from __future__ import annotations

from dataclasses import dataclass, field

from fumishirube import Document, SurfaceContext, ToolError
from fumishirube.tools import Session, TextPage


@dataclass
class DeliveredRanges:
    """The ranges of characters of one file's text that a session received, merged."""

    text_hash: int
    ranges: list[tuple[int, int]] = field(default_factory=list)

    def add(self, start: int, end: int) -> None:
        """Add a range, and merge it with those that it touches."""
        apart = [(a, b) for a, b in self.ranges if b < start or a > end]
        joined = [(a, b) for a, b in self.ranges if (a, b) not in apart]
        whole = (min([start, *(a for a, _ in joined)]), max([end, *(b for _, b in joined)]))
        self.ranges = sorted([*apart, whole])

    def holds(self, start: int, end: int) -> bool:
        """Tell whether every character of a range was received."""
        return any(a <= start and end <= b for a, b in self.ranges)


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
        delivery.add(page.next_offset - len(page.text), page.next_offset)


def delivered(
    context: SurfaceContext, session: Session | None, manual_id: str
) -> frozenset[tuple[str, int]]:
    """Return the sections of a manual whose own text was read completely, by path and line."""
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
                if delivery.holds(section.start, section.end)
            }
    return frozenset(sections)
