"""Citations: ``manual://id/path#L10-L24@a1b2c3``, for people, notes and agents."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote

from fumishirube.errors import InvalidParameter

SCHEME = "manual://"

_DIGEST_DIGITS = 6
_UNSAFE = re.compile(r"[%#?\s\"<>\\^`{|}]")
_UNSAFE_ID = re.compile(r"[%#?\s\"<>\\^`{|}/:@\[\]]")
_FORM = re.compile(
    r"^manual://(?P<id>[^/#]+)/(?P<path>[^#]+)"
    r"(?:#L(?P<start>[1-9]\d{0,9})(?:-L(?P<end>[1-9]\d{0,9}))?(?:@(?P<digest>[0-9a-f]{6,64}))?)?$"
)


class Citation(NamedTuple):
    """Lines of a file of a manual, and the start of a hash of what stood there."""

    manual_id: str
    path: str
    start_line: int | None = None
    end_line: int | None = None
    digest: str | None = None

    def __str__(self) -> str:
        text = f"{SCHEME}{_escaped(_UNSAFE_ID, self.manual_id)}/{_escaped(_UNSAFE, self.path)}"
        if self.start_line is not None:
            text += f"#L{self.start_line}"
            text += f"-L{self.end_line}" if self.end_line is not None else ""
            text += f"@{self.digest[:_DIGEST_DIGITS]}" if self.digest else ""
        return text

    @classmethod
    def parse(cls, text: str) -> Citation:
        """Read a citation.

        Raises:
            InvalidParameter: when it has another form.
        """
        match = _FORM.match(text.strip())
        if match is None:
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
        )


def _escaped(unsafe: re.Pattern[str], text: str) -> str:
    """Escape only what would break the form, or name a port or a user: Japanese stays readable."""
    return unsafe.sub(lambda match: "".join(f"%{b:02X}" for b in match.group().encode()), text)
