"""Shows the difference between two states of a note."""

from __future__ import annotations

from difflib import unified_diff

from fumishirube import Unreadable
from fumishirube.text import decode

_NO_NOTE = "/dev/null"


def difference(path: str, before: bytes | None, after: bytes | None) -> str:
    """Return a unified diff; ``None`` is a missing note. A binary file is only named."""
    if before == after:
        return ""
    try:
        old, new = _lines(before), _lines(after)
    except Unreadable:
        return f"{path}: it is not text, and it differs\n"
    was, now = (_NO_NOTE if data is None else path for data in (before, after))
    lines = list(unified_diff(old, new, was, now, lineterm=""))
    return "".join(f"{line}\n" for line in lines) or f"{path}: line ends or encoding differ\n"


def _lines(data: bytes | None) -> list[str]:
    text = decode(data or b"")
    return text.removesuffix("\n").split("\n") if text else []
