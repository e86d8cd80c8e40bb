"""The pages, slides and rows of lines, their citations, and whether citations still hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Literal, NamedTuple

from pydantic import JsonValue

from fumishirube import Citation, Document, InvalidParameter, Manual, Section, ToolError
from fumishirube.commands import digest
from fumishirube.parsing import PlaceRange, lines_of, place_at, place_range
from fumishirube.text import Lines

CitationState = Literal["valid", "moved", "changed", "gone"]

# A citation with lines ends after them; one without ends at a character that is rare in paths.
_CITED = re.compile(
    r"manual://(?:(?!manual://)[^\s#\"<>`{|}\\^])+?"
    r"#(?:L[1-9]\d*(?:-L[1-9]\d*)?|([ps])[1-9]\d*(?:-\1[1-9]\d*)?"
    r"|[^\s#!@\"<>`{|}\\^]+!R[1-9]\d*(?:-R[1-9]\d*)?)(?:@[0-9a-f]{6,64})?(?![0-9a-f@-])"
    r"|manual://[^\s#\"<>`{|}\\^()\[\]、。，．「」『』（）]+"
)
_NO_CITATION = "it is no citation: manual://ID/PATH#L10-L24@HASH has 6 to 64 of 0-9a-f as HASH"
_TRAILING = ".,;:!?'*_"
_LATEST = 4
"""The files whose lines are kept for further citations of them."""


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


def place_of_section(
    manual_of: Callable[[str], Manual], manual_id: str, path: str, first: int, own_digest: str
) -> CitedPlace | None:
    """Return the place of a section that a search returned; ``None`` if its text has changed."""
    with suppress(ToolError):
        manual = manual_of(manual_id)
        if manual.places(path):
            document = manual.document(path)
            section = section_at(document, first, own_digest)
            return cited_place(document, first, section.end_line) if section else None
    return None


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


def has_hash(text: str, begins: str) -> bool:
    """Tell whether the hash of a text begins as a citation says, with up to 64 digits."""
    return digest(text, len(begins)) == begins


class CheckedCitation(NamedTuple):
    """A citation, its state, and a short explanation; ``now`` is the new place of a moved one."""

    text: str
    state: CitationState
    explanation: str
    now: Citation | None = None


class CitationChecker:
    """Checks citations against the present manuals; reads each file once.

    ``manual`` returns a manual by its id, or raises ``ToolError``.
    """

    def __init__(self, manual: Callable[[str], Manual]) -> None:
        self._manual = manual
        self._places: dict[str, dict[str, list[Citation]]] = {}
        self._lines = lru_cache(_LATEST)(Lines)

    def check(self, text: str) -> CheckedCitation:
        """Check one citation."""
        try:
            cited = Citation.parse(text)
        except InvalidParameter:
            return CheckedCitation(text, "gone", _NO_CITATION)
        try:
            manual = self._manual(cited.manual_id)
        except ToolError as error:
            return CheckedCitation(text, "gone", str(error))
        document, reason = _opened(manual, cited.path)
        try:
            cited = cited.within(document) if document else cited
        except ToolError as error:
            document, reason = None, str(error)
        lines = self._lines(document.text) if document else None
        if document and lines and _holds(document, lines, cited):
            return CheckedCitation(text, "valid", "the text is there")
        moved = self._elsewhere(manual, cited)
        if moved:
            return CheckedCitation(text, "moved", f"the same text is now at {moved}", moved)
        if lines is None:
            return CheckedCitation(text, "gone", reason)
        if not _has_lines(lines, cited):
            return CheckedCitation(text, "gone", _why_no_lines(lines, cited))
        return CheckedCitation(text, "changed", "the text of these lines has changed")

    def _elsewhere(self, manual: Manual, cited: Citation) -> Citation | None:
        """Return the present place of the cited text, first in the same file, or ``None``."""
        if cited.digest is None:
            return None
        by_digest = self._places.get(manual.id)
        if by_digest is None:
            by_digest = self._places[manual.id] = {}
            for place in _sections(manual):
                by_digest.setdefault((place.digest or "")[:6], []).append(place)
        places = by_digest.get(cited.digest[:6], ())
        same = [place for place in places if _alike(place.digest, cited.digest)]
        same.sort(key=lambda place: (place.path != cited.path, place.path, place.start_line or 0))
        return next(iter(same), None)


def find_citations(text: str) -> list[str]:
    """Return the distinct citations in a text, in order."""
    citations = [match.group().rstrip(_TRAILING) for match in _CITED.finditer(text)]
    return list(dict.fromkeys(citations))


def _opened(manual: Manual, path: str) -> tuple[Document | None, str]:
    try:
        return manual.document(path), ""
    except ToolError as error:
        return None, str(error)


def _holds(document: Document, lines: Lines, cited: Citation) -> bool:
    """Return whether the lines are the cited text; without a hash, whether they exist.

    A first line alone is that of a section, or is meant itself.
    """
    if not _has_lines(lines, cited):
        return False
    if cited.digest is None:
        return True
    if cited.start_line is None:
        return has_hash(document.text, cited.digest)
    ends = (each.end_line for each in document.sections if each.start_line == cited.start_line)
    last = cited.end_line or next(ends, cited.start_line)
    text = document.text[lines.start(cited.start_line) : lines.start(last + 1)]
    return has_hash(text, cited.digest)


def _has_lines(lines: Lines, cited: Citation) -> bool:
    last = cited.end_line or cited.start_line or 1
    return (cited.start_line or 1) <= last <= lines.total


def _why_no_lines(lines: Lines, cited: Citation) -> str:
    if cited.end_line and cited.end_line < (cited.start_line or 1):
        return "its last line is before its first"
    return f"the file has {lines.total} lines"


def _sections(manual: Manual) -> Iterator[Citation]:
    for path in manual.paths():
        document, _ = _opened(manual, path)
        if document:
            yield from _placed(document, manual.id)


def _placed(document: Document, manual_id: str) -> Iterator[Citation]:
    lines = Lines(document.text)
    for section in document.sections:
        own = digest(document.text[section.start : section.end])
        yield Citation(manual_id, document.path, section.start_line, section.end_line, own)
        if place := cited_place(document, section.start_line, section.end_line, lines):
            yield place.citation(manual_id, document.path)


def _alike(digest_start: str | None, other: str) -> bool:
    """Compare the common length of two hash prefixes."""
    return digest_start is not None and (
        digest_start.startswith(other) or other.startswith(digest_start)
    )
