"""The pages, slides and rows of lines, and their citations."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import NamedTuple

from pydantic import JsonValue

from fumishirube import Citation, Document, Manual, Section, ToolError
from fumishirube.commands import digest
from fumishirube.parsing import PlaceRange, lines_of, place_at, place_range
from fumishirube.text import Lines
from fumishirube_manual.surface import ManualSurface


class CitedPlace(NamedTuple):
    """A place, the printed label of its page if that is not its number, and a hash of its text.

    The text is that of the whole page or slide, or of the rows.
    """

    place: PlaceRange
    label: str | None
    digest: str

    def keys(self) -> dict[str, JsonValue]:
        """Return the place as keys of an answer."""
        label: dict[str, JsonValue] = {} if self.label is None else {"label": self.label}
        return {"place": str(self.place), **label}

    def citation(self, manual_id: str, path: str) -> Citation:
        """Return the citation of the place."""
        return Citation(manual_id, path, digest=self.digest, place=self.place)


def cited_place(
    document: Document, first: int, last: int, lines: Lines | None = None
) -> CitedPlace | None:
    """Return the place of some lines of a document; ``None`` for a document with lines only.

    ``lines`` are those of its text, for a caller that has them.
    """
    place = place_range(document.places, first, last)
    if place is None:
        return None
    lines = lines or Lines(document.text)
    bounds = lines_of(document.places, place, lines.total) or (first, last)
    text = document.text[lines.start(bounds[0]) : lines.start(bounds[1] + 1)]
    begin = place_at(document.places, first)
    return CitedPlace(place, begin.label if begin else None, digest(text))


def place_in(manual: Manual, path: str, first: int, last: int) -> CitedPlace | None:
    """Return the place of some lines of a file; ``None`` also when it cannot be read."""
    try:
        placed = bool(manual.places(path))
        return cited_place(manual.document(path), first, last) if placed else None
    except ToolError:
        return None


def place_of_section(
    manual_of: Callable[[str], Manual], manual_id: str, path: str, first: int, own_digest: str
) -> CitedPlace | None:
    """Return the place of a section that a search returned; ``None`` if its text has changed."""
    try:
        manual = manual_of(manual_id)
        if not manual.places(path):
            return None
        document = manual.document(path)
    except ToolError:
        return None
    section = section_at(document, first, own_digest)
    return cited_place(document, first, section.end_line) if section else None


def section_at(document: Document, line: int, own_digest: str) -> Section | None:
    """Return the section that begins on a line; ``None`` if its text has another hash."""
    return next(
        (
            section
            for section in document.sections
            if section.start_line == line
            and has_hash(document.text[section.start : section.end], own_digest)
        ),
        None,
    )


def has_places(settings: ManualSurface) -> bool:
    """Return whether answers include places."""
    return "documents" in settings.extras


def has_hash(text: str, begins: str) -> bool:
    """Tell whether the hash of a text begins as a citation says, with up to 64 digits."""
    return sha256_of(text).startswith(begins)


def sha256_of(text: str) -> str:
    """Return the 64 digits of the hash of a text, of which citations show the first."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
