"""What the configuration may say of the surface ``graph``."""

from __future__ import annotations

from typing import NamedTuple


class GraphSettings(NamedTuple):
    """The settings that the tools need."""

    default_limit: int
    max_depth: int
    threshold_days: int
    max_nodes: int
    max_edges: int
    page_size: int
