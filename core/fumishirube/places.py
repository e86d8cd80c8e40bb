"""Places of lines as people see them: pages, slides, or rows of a sheet."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Literal, NamedTuple
from urllib.parse import unquote

from fumishirube.text.controls import ESCAPED_IN_CITATIONS

PlaceKind = Literal["page", "slide", "row"]

_RANGE = re.compile(
    r"(?:(?P<mark>[ps])|(?P<sheet>[^!@#\s]+)!R)(?P<first>[1-9]\d{0,8})"
    r"(?:-(?:(?P=mark)|R)(?P<last>[1-9]\d{0,8}))?"
)
_UNSAFE_SHEET = re.compile(rf"[%!@#?\s\"<>\\^`{{|}}/:()\[\],;'{ESCAPED_IN_CITATIONS}]")
_MARKS: dict[PlaceKind, str] = {"page": "p", "slide": "s"}
_KINDS: dict[str | None, PlaceKind] = {"p": "page", "s": "slide", None: "row"}


class Place(NamedTuple):
    """A place that begins at a ``line`` of a document's text and ends at the next place.

    That is a page, by its number from 1, with the ``label`` printed on it if it differs; or a
    slide; or a row of a sheet: each line below is one row further.
    """

    line: int
    page: int | None = None
    label: str | None = None
    slide: int | None = None
    sheet: str | None = None
    row: int | None = None


class PlaceRange(NamedTuple):
    """Pages, slides, or rows of a sheet, from the first to the last, as in a citation."""

    kind: PlaceKind
    first: int
    last: int
    sheet: str | None = None

    def __str__(self) -> str:
        mark = _MARKS.get(self.kind, "R")
        sheet = "" if self.sheet is None else f"{escaped(_UNSAFE_SHEET, self.sheet)}!"
        last = f"-{mark}{self.last}" if self.last != self.first else ""
        return f"{sheet}{mark}{self.first}{last}"

    @classmethod
    def parse(cls, text: str) -> PlaceRange | None:
        """Parse ``p12``, ``p12-p14``, ``s3`` or ``Sheet1!R12-R14``; return ``None`` for others."""
        match = _RANGE.fullmatch(text)
        if match is None:
            return None
        first = int(match["first"])
        last = int(match["last"]) if match["last"] else first
        sheet = None if match["sheet"] is None else unquote(match["sheet"])
        return cls(_KINDS[match["mark"]], first, last, sheet) if first <= last else None


def named_place(wanted: PlaceRange) -> str:
    """Return a place in words: ``page 12``, ``rows 3 to 5 of sheet Prices``."""
    several = wanted.last != wanted.first
    numbers = f"{wanted.first} to {wanted.last}" if several else f"{wanted.first}"
    sheet = "" if wanted.sheet is None else f" of sheet {wanted.sheet}"
    return f"{wanted.kind}{'s' if several else ''} {numbers}{sheet}"


def place_at(places: Sequence[Place], line: int) -> Place | None:
    """Return the place of a line, with its own row; ``None`` above the first place."""
    number = bisect_right(places, line, key=lambda place: place.line) - 1
    if number < 0:
        return None
    place = places[number]
    return place if place.row is None else place._replace(row=place.row + line - place.line)


def place_range(places: Sequence[Place], first: int, last: int) -> PlaceRange | None:
    """Return the places of some lines, if all are of one kind, and of one sheet."""
    begin, end = place_at(places, first), place_at(places, last)
    if begin is None or end is None:
        return None
    if begin.page is not None and end.page is not None:
        return PlaceRange("page", begin.page, end.page)
    if begin.slide is not None and end.slide is not None:
        return PlaceRange("slide", begin.slide, end.slide)
    if begin.sheet is None or begin.sheet != end.sheet:
        return None
    rows = [place.row for place in _rows(places, first, last) if place.row is not None]
    return PlaceRange("row", rows[0], rows[-1], begin.sheet) if rows else None


def lines_of(places: Sequence[Place], wanted: PlaceRange, total: int) -> tuple[int, int] | None:
    """Return the first and last line of places, in a text of ``total`` lines."""
    if wanted.kind == "row":
        return _lines_of_rows(places, wanted, total)
    numbers = [getattr(place, wanted.kind) for place in places]
    within = [
        number
        for number, value in enumerate(numbers)
        if value is not None and wanted.first <= value <= wanted.last
    ]
    if not within:
        return None
    after = within[-1] + 1
    return places[within[0]].line, places[after].line - 1 if after < len(places) else total


def _lines_of_rows(
    places: Sequence[Place], wanted: PlaceRange, total: int
) -> tuple[int, int] | None:
    lines = [
        line
        for number, place in enumerate(places)
        if place.sheet == wanted.sheet and place.row is not None
        for line in range(
            place.line + max(0, wanted.first - place.row),
            min(_end(places, number, total), place.line + wanted.last - place.row) + 1,
        )
    ]
    return (lines[0], lines[-1]) if lines else None


def _rows(places: Sequence[Place], first: int, last: int) -> list[Place]:
    """Return the first and last row among some lines; lines above rows may be headings."""
    begins = bisect_right(places, last, key=lambda place: place.line) - 1
    inside = [p for p in places[: begins + 1] if p.line > first and p.row is not None]
    ends = (place_at(places, first), *inside, place_at(places, last))
    return [place for place in ends if place is not None and place.row is not None]


def _end(places: Sequence[Place], number: int, total: int) -> int:
    return places[number + 1].line - 1 if number + 1 < len(places) else total


def escaped(unsafe: re.Pattern[str], text: str) -> str:
    """Escape only characters that would break the form; Japanese stays readable."""
    return unsafe.sub(lambda match: "".join(f"%{b:02X}" for b in match.group().encode()), text)
