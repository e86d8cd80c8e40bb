"""What the tool ``manual_find`` and the command ``find`` share: limits, and their alternatives."""

from __future__ import annotations

from collections.abc import Iterable

from fumishirube.text import fold

QUERY_CHARS = 100_000
TERM_CHARS = 200
"""The most characters of a required term, or of an alternative."""
TERMS = 2
"""The most required terms."""
MOST_ALTERNATIVES = 8
TIME_MS = 60_000
CANDIDATES = 200
"""How many sections a search returns, unless its caller limits them."""


def other_wordings(query: str, alternatives: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct alternatives, without blank ones and without the query."""
    texts = {fold(text): text.strip() for text in alternatives}
    known = ("", fold(query))
    return tuple(text for folded, text in texts.items() if folded not in known)
