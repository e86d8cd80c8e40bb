"""The settings of the surface ``graph`` that its tools read."""

from __future__ import annotations

from typing import NamedTuple


class GraphSettings(NamedTuple):
    """See :class:`GraphSurface` for their meaning."""

    default_limit: int
    max_depth: int
    threshold_days: int
    max_nodes: int
    max_edges: int
    page_size: int
