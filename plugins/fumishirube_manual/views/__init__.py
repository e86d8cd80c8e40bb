"""The pages that show answers to people, in clients with MCP Apps."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

from fumishirube.tools import View

HITS = "ui://fumishirube/hits.html"


@lru_cache(maxsize=1)
def hits_view() -> View:
    """Return the page with the hits of a search and their lines."""
    return View(HITS, files(__name__).joinpath("hits.html").read_text(encoding="utf-8"))
