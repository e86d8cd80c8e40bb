"""The terms of equations that are written on a line."""

from __future__ import annotations

import re

_ALONE = re.compile(r"[\w.]*|.|\([^()]*\)", re.DOTALL)


def term(text: str) -> str:
    """Return a text that is one term of an equation, in parentheses where it needs them."""
    return text if _ALONE.fullmatch(text) else f"({text})"
