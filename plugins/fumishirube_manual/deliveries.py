"""Records what a session has read, so that a follow-up search can leave it out."""

from __future__ import annotations

from fumishirube import Document, SurfaceContext, ToolError
from fumishirube.tools import DeliveredRanges, Session, TextPage


def record(session: Session | None, manual_id: str, document: Document, page: TextPage) -> None:
    """Record the characters of a file that were returned."""
    if session is None:
        return
    text_hash = hash(document.text)
    place = (manual_id, document.path)
    with session.lock:
        delivery = session.deliveries.get(place)
        if delivery is None or delivery.text_hash != text_hash:
            delivery = session.deliveries[place] = DeliveredRanges(text_hash)
        delivery.add(page.next_offset - len(page.text), page.next_offset)


def delivered(
    context: SurfaceContext, session: Session | None, manual_id: str
) -> frozenset[tuple[str, int]]:
    """Return the sections of a manual whose own text was read completely, by path and line."""
    if session is None:
        return frozenset()
    with session.lock:
        deliveries = [
            (p, d) for (manual, p), d in session.deliveries.items() if manual == manual_id
        ]
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
