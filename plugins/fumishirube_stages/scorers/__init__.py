"""Scorers: query to hits."""

from collections.abc import Mapping
from typing import TypeAlias

from fumishirube import Passage

Candidates: TypeAlias = Mapping[tuple[str, int], Passage]
"""The passages that earlier scorers of a run have generated, by path and line."""
