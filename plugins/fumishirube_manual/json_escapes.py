"""JSON as it reads: letters that a file has as escapes, as many programs write all but ASCII."""

from __future__ import annotations

import re

_SUFFIX = ".json"
_ESCAPE = re.compile(
    r"\\(?:u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|u(?P<code>[0-9a-fA-F]{4})|.)"
)
_FIRST, _ASCII = 0x10000, 0x80
"""The first character of a pair of escapes, and the end of ASCII."""


def unescaped(path: str, text: str) -> str:
    """Return the text of a file with letters for their escapes, if it is JSON; line by line.

    Escapes of ASCII, which may mean something to JSON, and of what cannot be printed remain.
    """
    if "\\u" not in text or not path.lower().endswith(_SUFFIX):
        return text
    return _ESCAPE.sub(_letter, text)


def _letter(match: re.Match[str]) -> str:
    if match["high"]:
        code = _FIRST + ((int(match["high"], 16) & 0x3FF) << 10 | int(match["low"], 16) & 0x3FF)
    elif match["code"]:
        code = int(match["code"], 16)
    else:
        return match.group()
    letter = chr(code)
    return letter if code >= _ASCII and letter.isprintable() else match.group()
