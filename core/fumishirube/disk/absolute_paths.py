"""Absolute paths in texts: what others should not learn of this disk."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import PurePath, PureWindowsPath

_END = r"\s'\"`<>|,;()\[\]{}"
_PATH = re.compile(
    rf"(?<![A-Za-z0-9_./\\-])(?:(?P<drive>/*[A-Za-z]:[\\/])[^{_END}]+|/[^{_END}]+|\\\\[^{_END}]+)"
)
"""What may be an absolute path: of a drive, of POSIX, or of a share; also in a URL of a file."""
_BEFORE_RELATIVE = frozenset("~%+@*?$&#!^)]}")
"""Signs that stand before a slash inside of relative paths and patterns, as letters do."""


def absolute_paths(text: str, *, by_form: bool = False) -> Iterator[str]:
    """Yield the absolute paths in a text.

    One of POSIX is known by its first folder, which this machine has; ``by_form`` suffices for a
    text that is meant for programs, such as a setting.
    """
    if by_form and text.startswith("/") and text.strip("/ "):
        yield text
    for match in _PATH.finditer(text):
        if _is_absolute(match, by_form=by_form):
            yield match[0]


def shorten_paths(text: str) -> str:
    """Replace the absolute paths in a text by their last names."""
    return _PATH.sub(_name, text)


def _name(match: re.Match[str]) -> str:
    if not _is_absolute(match, by_form=False):
        return match[0]
    posix = match[0].startswith("/") and not match["drive"]
    return (PurePath if posix else PureWindowsPath)(match[0]).name


def _is_absolute(match: re.Match[str], *, by_form: bool) -> bool:
    path, text = match[0], match.string
    if match["drive"] or not path.startswith("/"):
        return True
    names = path.strip("/").split("/")
    before = text[max(0, match.start() - 1) : match.start()]
    of_host = before == ":" and path[2:] == path.lstrip("/")  # as in http://host/a
    of_tag = before == "<" and len(names) == 1 and text.startswith(">", match.end())
    if of_host or of_tag or not names[0]:
        return False
    joined = before.isalnum() or before in _BEFORE_RELATIVE
    if by_form and not joined:
        return True
    known = names[: 2 if joined else 1]  # 資料/lib/a.md is hardly in a folder /lib
    place = "/" + "/".join(known)
    return len(known) > joined and os.path.exists(place)  # noqa: PTH110 - Path's fails at long names
