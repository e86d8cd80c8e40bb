"""The page of a hit: which one it is, and its picture with the best lines of the hit marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fumishirube import Manual, NotFound, Trace, TraceRow
from fumishirube.parsing import PagePictures, Picture, Place, place_at
from fumishirube_inspect.session import InspectorSession


class HitPage(NamedTuple):
    """A page that can be drawn: its number, the label that is printed on it, and its lines."""

    pictures: PagePictures
    number: int
    label: str | None
    lines: Sequence[int]


def page_of_hit(
    session: InspectorSession, trace: Trace, row: TraceRow, evidence: Sequence[tuple[int, str]]
) -> HitPage | None:
    """Return the page where the best lines of a hit begin; ``None`` if nothing draws it."""
    lines = [number for number, _ in evidence]
    pictures, places = session.read(trace, row.path, _pages) or (None, ())
    place = place_at(places, min(lines, default=row.start_line))
    if pictures is None or place is None or place.page is None:
        return None
    return HitPage(pictures, place.page, place.label, lines)


def _pages(manual: Manual, path: str) -> tuple[PagePictures | None, Sequence[Place]]:
    pictures = manual.pictures(path)
    return pictures, manual.places(path) if pictures else ()


def picture_of_hit(session: InspectorSession, trace: Trace, path: str, line: int) -> Picture:
    """Draw the page of the hit whose section begins at a line.

    Raises:
        NotFound: when there is no such hit, or nothing draws its page.
        Unreadable: when its page cannot be drawn.
    """
    for row in trace.search.rows:
        if (row.path, row.start_line) == (path, line):
            with session.application_of(trace):  # it draws
                page = page_of_hit(session, trace, row, session.evidence(trace, row))
                if page is not None:
                    return page.pictures.draw(page.number, page.lines)
    raise NotFound("no page of such a hit can be drawn")
