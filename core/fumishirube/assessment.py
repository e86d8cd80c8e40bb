"""What is said of a finished search: where its answer came from, and how good it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

CacheMode: TypeAlias = Literal["bypass", "miss", "exact", "semantic", "guard_revalidate"]


class CacheOutcome(NamedTuple):
    """What the cache had to do with an answer.

    ``score`` is the similarity of a semantic hit; ``saved_ms`` is how much longer the search took
    whose answer was given again, and never negative. ``guard_revalidate`` is a search made anew
    because the kept answer had too many gaps or conflicts.
    """

    mode: CacheMode = "bypass"
    score: float | None = None
    saved_ms: float | None = None

    @property
    def used(self) -> bool:
        """Whether the cache was asked at all."""
        return self.mode != "bypass"

    @property
    def hit(self) -> bool:
        """Whether the answer came from the cache."""
        return self.mode in ("exact", "semantic")


class Thresholds(NamedTuple):
    """When a result counts as thin, by its rows, or as lopsided, by the share of one file."""

    candidate_low: int = 3
    file_bias: float = 0.8


@dataclass(frozen=True, kw_only=True)
class SearchAssessment:
    """What a surface made of a search, for the cache's guards and for the statistics.

    ``recall_ok`` says whether one of the best rows holds a requested term that stands in the
    manual. ``tokens`` is the estimate for the answer; ``marginal_gain`` is the share of rows that
    are new among all rows of the searches that this one follows up.
    """

    status: str | None
    cutoff_reason: str | None = None
    recall_ok: bool | None = None
    gaps: int = 0
    conflicts: int = 0
    unscanned: int | None = None
    tokens: int | None = None
    marginal_gain: float | None = None
