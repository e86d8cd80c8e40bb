"""Making sections: of a whole file, and with texts that can be written anywhere."""

from __future__ import annotations

import re

from fumishirube import Section
from fumishirube.text import Lines

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def whole(text: str, title: str, searched: str | None = None) -> tuple[Section]:
    """Return the one section of a file that is not divided."""
    section = Section(
        title=mended(title),
        start_line=1,
        end_line=Lines(text).total,
        start=0,
        end=len(text),
        extent=len(text),
        body=0,
        searched=None if searched is None else mended(searched),
    )
    return (section,)


def mended(text: str) -> str:
    """Return the text with U+FFFD for lone surrogates, which escapes can spell."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)
