"""The requests of a corpus: sections to read, and counts."""

from __future__ import annotations

from typing import Any

from fumishirube import Passage
from fumishirube.text import mentions
from fumishirube_opensearch.clauses import Body

ORDER: list[Any] = [{"_score": "desc"}, {"of": "asc"}, {"line": "asc"}]
"""Best first, then by place."""


def unheld(text: str) -> Body:
    """Refuse a text: what narrows texts contains none."""
    raise ValueError(f"what narrows a text holds no text itself: {text!r}")


def holds_text(passage: Passage, text: str) -> bool:
    """Tell whether a section contains a folded text in any form."""
    return any(mentions(field, text) for field in passage.fields.values())


def read_first(query: Body, size: int, most: int) -> Body:
    """Return the request for the first sections by place, and their number up to ``most``."""
    return {
        "query": {"constant_score": {"filter": query}},
        "size": size,
        "sort": ORDER[1:],
        "track_total_hits": most + 1,
    }


def counted(query: Body, cap: int | None) -> Body:
    """Return the request for a number of sections, exact up to ``cap``."""
    most: int | bool = True if cap is None else cap + 1
    return {"query": {"constant_score": {"filter": query}}, "size": 0, "track_total_hits": most}
