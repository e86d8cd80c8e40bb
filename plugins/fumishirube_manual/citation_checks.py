"""Whether citations still hold: valid, moved, changed or gone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from fumishirube import Citation, Document, InvalidParameter, Manual, ToolError
from fumishirube.commands import digest
from fumishirube.text import Lines
from fumishirube_manual.cited_places import cited_place

CitationState = Literal["valid", "moved", "changed", "gone"]

# With lines a citation ends where they do; without, at a sign that is rarely part of a path.
_CITED = re.compile(
    r"manual://(?:(?!manual://)[^\s#\"<>`{|}\\^])+?"
    r"#(?:L[1-9]\d*(?:-L[1-9]\d*)?|([ps])[1-9]\d*(?:-\1[1-9]\d*)?"
    r"|[^\s#!@\"<>`{|}\\^]+!R[1-9]\d*(?:-R[1-9]\d*)?)(?:@[0-9a-f]{6,64})?(?![0-9a-f@-])"
    r"|manual://[^\s#\"<>`{|}\\^()\[\]、。，．「」『』（）]+"
)
_TRAILING = ".,;:!?'*_"


class CheckedCitation(NamedTuple):
    """A citation, what became of it, and in a few words why; ``now`` is where it moved to."""

    text: str
    state: CitationState
    explanation: str
    now: Citation | None = None


class CitationChecker:
    """Checks citations against manuals as they are now; each file is read once.

    ``manual`` returns a manual by its id, or raises ``ToolError`` when there is none.
    """

    def __init__(self, manual: Callable[[str], Manual]) -> None:
        self._manual = manual
        self._places: dict[str, dict[str, list[Citation]]] = {}

    def check(self, text: str) -> CheckedCitation:
        """Say what became of one citation."""
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
            return CheckedCitation(text, "valid", "it stands there")
        moved = self._elsewhere(manual, cited)
        if moved:
            return CheckedCitation(text, "moved", f"the same text is now at {moved}", moved)
        if document is None:
            return CheckedCitation(text, "gone", reason)
        if not _has_lines(document, cited):
            return CheckedCitation(text, "gone", f"the file has {Lines(document.text).total} lines")
        return CheckedCitation(text, "changed", "the text of these lines is another one now")

    def _elsewhere(self, manual: Manual, cited: Citation) -> Citation | None:
        """Return where the cited text stands now, the same file first."""
        if cited.digest is None:
            return None
        known = self._places.get(manual.id)
        if known is None:
            known = self._places[manual.id] = {}
            for place in _sections(manual):
                known.setdefault((place.digest or "")[:6], []).append(place)
        same = [
            place for place in known.get(cited.digest[:6], ()) if _alike(place.digest, cited.digest)
        ]
        same.sort(key=lambda place: (place.path != cited.path, place.path, place.start_line or 0))
        return same[0] if same else None


def find_citations(text: str) -> list[str]:
    """Return the citations that stand in a text, in order, each once."""
    citations = [match.group().rstrip(_TRAILING) for match in _CITED.finditer(text)]
    return list(dict.fromkeys(citations))


def _opened(manual: Manual, path: str) -> tuple[Document | None, str]:
    try:
        return manual.document(path), ""
    except ToolError as error:
        return None, str(error)


def _holds(document: Document, cited: Citation) -> bool:
    """Tell whether the cited lines hold the cited text; without a hash, whether they are there."""
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
    """Compare two beginnings of hashes, as far as both go."""
    return digest_start is not None and (
        digest_start.startswith(other) or other.startswith(digest_start)
    )
