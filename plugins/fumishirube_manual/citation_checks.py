"""Checks whether citations still hold: valid, moved, changed or gone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from fumishirube import Citation, Document, InvalidParameter, Manual, ToolError
from fumishirube.commands import digest
from fumishirube.text import Lines
from fumishirube_manual.cited_places import cited_place

CitationState = Literal["valid", "moved", "changed", "gone"]

# A citation with lines ends after them; one without ends at a character that is rare in paths.
_CITED = re.compile(
    r"manual://(?:(?!manual://)[^\s#\"<>`{|}\\^])+?"
    r"#(?:L[1-9]\d*(?:-L[1-9]\d*)?|([ps])[1-9]\d*(?:-\1[1-9]\d*)?"
    r"|[^\s#!@\"<>`{|}\\^]+!R[1-9]\d*(?:-R[1-9]\d*)?)(?:@[0-9a-f]{6,64})?(?![0-9a-f@-])"
    r"|manual://[^\s#\"<>`{|}\\^()\[\]、。，．「」『』（）]+"
)
_TRAILING = ".,;:!?'*_"


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

    def check(self, text: str) -> CheckedCitation:
        """Check one citation."""
        try:
            cited = Citation.parse(text)
        except InvalidParameter as error:
            return CheckedCitation(text, "gone", str(error))
        try:
            manual = self._manual(cited.manual_id)
        except ToolError as error:
            return CheckedCitation(text, "gone", str(error))
        document, reason = _opened(manual, cited.path)
        try:
            cited = cited.within(document) if document else cited
        except ToolError as error:
            document, reason = None, str(error)
        if document and _holds(document, cited):
            return CheckedCitation(text, "valid", "the text is there")
        moved = self._elsewhere(manual, cited)
        if moved:
            return CheckedCitation(text, "moved", f"the same text is now at {moved}", moved)
        if document is None:
            return CheckedCitation(text, "gone", reason)
        if not _has_lines(document, cited):
            return CheckedCitation(text, "gone", f"the file has {Lines(document.text).total} lines")
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
        same = [
            place
            for place in by_digest.get(cited.digest[:6], ())
            if _alike(place.digest, cited.digest)
        ]
        same.sort(key=lambda place: (place.path != cited.path, place.path, place.start_line or 0))
        return same[0] if same else None


def find_citations(text: str) -> list[str]:
    """Return the distinct citations in a text, in order."""
    citations = [match.group().rstrip(_TRAILING) for match in _CITED.finditer(text)]
    return list(dict.fromkeys(citations))


def _opened(manual: Manual, path: str) -> tuple[Document | None, str]:
    try:
        return manual.document(path), ""
    except ToolError as error:
        return None, str(error)


def _holds(document: Document, cited: Citation) -> bool:
    """Return whether the lines contain the cited text; without a hash, whether they exist."""
    if cited.digest is None:
        return _has_lines(document, cited)
    if cited.place is not None and cited.start_line and cited.end_line:
        lines = Lines(document.text)
        start, end = lines.start(cited.start_line), lines.start(cited.end_line + 1)
        return _alike(digest(document.text[start:end]), cited.digest)
    return any(
        place.start_line == cited.start_line
        and place.end_line == (cited.end_line or place.end_line)
        and _alike(place.digest, cited.digest)
        for place in _placed(document, cited.manual_id)
    )


def _has_lines(document: Document, cited: Citation) -> bool:
    last = cited.end_line or cited.start_line or 1
    return (cited.start_line or 1) <= last <= Lines(document.text).total


def _sections(manual: Manual) -> Iterator[Citation]:
    for path in manual.paths():
        document, _ = _opened(manual, path)
        if document:
            yield from _placed(document, manual.id)


def _placed(document: Document, manual_id: str) -> Iterator[Citation]:
    for section in document.sections:
        own = digest(document.text[section.start : section.end])
        yield Citation(manual_id, document.path, section.start_line, section.end_line, own)
        if place := cited_place(document, section.start_line, section.end_line):
            yield place.citation(manual_id, document.path)


def _alike(digest_start: str | None, other: str) -> bool:
    """Compare the common length of two hash prefixes."""
    return digest_start is not None and (
        digest_start.startswith(other) or other.startswith(digest_start)
    )
