"""Globs over paths: ``**`` matches folders, ``*`` and ``?`` within one, ``[]`` and ``{a,b}``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

_PARTS = re.compile(r"\*\*/|\*\*|\*|\?|\[[!^]?\]?[^\]/]*\]|[{},]|.", re.DOTALL)
_SET_SIGNS = re.compile(r"[\\\[&~|]|(?<=-)-")
"""Signs that stand for themselves in a set of a glob, and not in one of a pattern."""
_SIMPLE = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]", "{": "(?:"}


@lru_cache(maxsize=64)
def matcher(globs: Sequence[str]) -> Callable[[str], bool]:
    """Return a function that matches a whole path against any of the globs.

    Raises:
        ValueError: for an invalid glob.
    """
    pattern = re.compile("|".join(f"(?:{_regular(glob)})" for glob in globs) or "(?!)")
    return lambda path: pattern.fullmatch(path) is not None


def _regular(glob: str) -> str:
    """Return a glob as a regular expression."""
    written: list[str] = []
    depth = 0
    star: int | None = None
    """Where a ``*`` begins behind which nothing but single characters is written yet."""
    for part in _PARTS.findall(glob):
        if part == "*" and star is not None:
            # The next one matches all that a later end of this one would: try the first only.
            written[star:] = ["(?>[^/]*?", *written[star + 1 :], ")"]
        if part in {"*", "**", "**/", "{"} or (depth and part in "},"):
            star = len(written) if part == "*" else None
        if part in _SIMPLE:
            depth += part == "{"
            written.append(_SIMPLE[part])
        elif part == "}" and depth:
            depth -= 1
            written.append(")")
        elif part == "," and depth:
            written.append("|")
        elif len(part) > 1:
            written.append(_set(part[1:-1]))
        else:
            written.append(re.escape(part))
    if depth:
        raise ValueError(f"the glob {glob!r} has a brace that nothing closes")
    try:
        re.compile("".join(written))
    except re.error as error:
        raise ValueError(f"the glob {glob!r} cannot be read") from error
    return "".join(written)


def _set(signs: str) -> str:
    inner = _SET_SIGNS.sub(r"\\\g<0>", signs)
    return f"[{'^/' + inner[1:] if inner[:1] in '!^' else inner}]"
