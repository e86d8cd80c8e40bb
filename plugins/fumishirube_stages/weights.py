"""The weights by which a fuser lets scorers count, as both name them."""

from __future__ import annotations

from collections.abc import Callable

Weigh = Callable[[bool], tuple[float, float, float]]
