"""The limits of a search that the tool ``manual_find`` and the command ``find`` share."""

from __future__ import annotations

QUERY_CHARS = 100_000
TERM_CHARS = 200
"""The most characters of a required term, or of an alternative."""
TERMS = 2
"""The most required terms."""
TIME_MS = 60_000
CANDIDATES = 200
"""How many sections a search returns, unless its caller limits them."""
