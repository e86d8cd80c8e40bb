"""Citations: ``manual://id/path#L10-L24@a1b2c3``, for people, notes and agents.

Files with pages, slides or rows: ``#p12@a1b2c3``, ``#s3``, ``#Sheet1!R12-R14``.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote

from fumishirube.documents import Document
from fumishirube.errors import InvalidParameter, NotFound
from fumishirube.places import PlaceRange, escaped, lines_of, named_place
from fumishirube.text.controls import ESCAPED_IN_CITATIONS
from fumishirube.text.folding import Lines

SCHEME = "manual://"

_DIGEST_DIGITS = 6
_UNSAFE = re.compile(rf"[%#?\s\"<>\\^`{{|}}{ESCAPED_IN_CITATIONS}]")
_UNSAFE_ID = re.compile(rf"[%#?\s\"<>\\^`{{|}}/:@\[\]{ESCAPED_IN_CITATIONS}]")
_FORM = re.compile(
    r"^manual://(?P<id>[^/#]+)/(?P<path>[^#]+)"
    r"(?:#(?:L(?P<start>[1-9]\d{0,9})(?:-L?(?P<end>[1-9]\d{0,9}))?|(?P<place>[^@#]+))"
    r"(?:@(?P<digest>[0-9a-f]{6,64}))?)?$"
)


class Citation(NamedTuple):
    """Lines or a place in a file of a manual, and the start of a hash of the cited text.

    A ``place`` is what people see: pages, slides, or rows of a sheet. Its lines are those of a
    document, which :meth:`within` looks up.
    """

    manual_id: str
    path: str
    start_line: int | None = None
    end_line: int | None = None
    digest: str | None = None
    place: PlaceRange | None = None

    def __str__(self) -> str:
        text = f"{SCHEME}{escaped(_UNSAFE_ID, self.manual_id)}/{escaped(_UNSAFE, self.path)}"
        if self.place is not None:
            text += f"#{self.place}"
        elif self.start_line is not None:
            text += f"#L{self.start_line}"
            text += f"-L{self.end_line}" if self.end_line is not None else ""
        else:
            return text
        return text + (f"@{self.digest[:_DIGEST_DIGITS]}" if self.digest else "")

    @classmethod
    def parse(cls, text: str, manual_id: str | None = None) -> Citation:
        """Parse a citation; with ``manual_id``, ``manual://ID/`` may be missing.

        Raises:
            InvalidParameter: when it has another form.
        """
        text = text.strip()
        if manual_id is not None and "://" not in text:
            text = f"{SCHEME}{escaped(_UNSAFE_ID, manual_id)}/{text}"
        match = _FORM.match(text)
        place = PlaceRange.parse(match["place"]) if match and match["place"] else None
        if match is None or (match["place"] and place is None):
            raise InvalidParameter(
                "a citation has the form manual://id/path#L10-L24", parameter="ref"
            )
        start, end = match["start"], match["end"]
        return cls(
            unquote(match["id"]),
            unquote(match["path"]),
            int(start) if start else None,
            int(end) if end else None,
            match["digest"],
            place,
        )

    def within(self, document: Document) -> Citation:
        """Return the citation with the lines of its place in a document.

        Raises:
            NotFound: when the document has no such place.
        """
        if self.place is None:
            return self
        total = Lines(document.text).total
        lines = lines_of(document.places, self.place, total)
        if lines is None:
            raise NotFound(f"the file has no {named_place(self.place)}", path=self.path)
        return self._replace(start_line=lines[0], end_line=lines[1])
