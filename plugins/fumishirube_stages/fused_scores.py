"""What fusers share: a setting, and scores in proportion to the highest one."""

from typing import Annotated

from pydantic import Field

from fumishirube import Ranking

RrfK = Annotated[int, Field(ge=1, le=1_000_000)]
"""A setting for the constant of reciprocal rank fusion."""


def normal(value: float, top: float) -> float:
    """Return a value divided by the top value; 0 when that is 0."""
    return value / top if top > 0 else 0.0


def top_score(*rankings: Ranking) -> float:
    """Return the highest score of the best hits of some rankings; 0 when there are none."""
    return max((ranking.hits[0].score for ranking in rankings if ranking.hits), default=0.0)
