"""Paired comparison of two configurations on the same cases.

The interval is the percentile bootstrap of the mean difference (Efron 1979). The p-value is that
of Fisher's sign-flip test (1935): how often random signs give a mean difference as large.
"""

from __future__ import annotations

import itertools
import math
import operator
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Generic, TypeVar

R = TypeVar("R")

RESAMPLES = 10_000
LEAST_RESAMPLES = 1_000
DRAWS = 5_000_000
"""About the most random numbers of a comparison; with very many cases it resamples less often."""

_SEED = 20_117
_CONFIDENCE = 0.95
_EXACTLY = 12
_TINY = 1e-12


@dataclass(frozen=True)
class Metric(Generic[R]):
    """A figure of a result, or ``None``; for a set of results it is the mean."""

    name: str
    of: Callable[[R], float | None]
    more_is_better: bool = True


@dataclass(frozen=True)
class PairedComparison:
    """The mean of ``ours - theirs`` with its interval and p-value.

    ``low`` and ``high`` bound the 95 % interval. ``wins`` counts the cases in which ours is better,
    whichever direction is better for the metric.
    """

    difference: float
    low: float
    high: float
    p: float
    wins: int
    losses: int
    ties: int


def paired(
    metrics: Iterable[Metric[R]], pairs: Sequence[tuple[R, R]]
) -> dict[str, PairedComparison]:
    """Compare pairs of results by every metric that some pair has on both sides, by its name."""
    compared: dict[str, PairedComparison] = {}
    for metric in metrics:
        figures = [(metric.of(ours), metric.of(theirs)) for ours, theirs in pairs]
        both = [(a, b) for a, b in figures if a is not None and b is not None]
        if both:
            left, right = zip(*both, strict=True)
            compared[metric.name] = compare(left, right, more_is_better=metric.more_is_better)
    return compared


def compare(
    ours: Sequence[float], theirs: Sequence[float], *, more_is_better: bool = True
) -> PairedComparison:
    """Compare the figures of two configurations, case by case, in the same order.

    The result is deterministic; exchanging the two sides negates it.

    Raises:
        ValueError: when there are no figures, or the numbers of figures differ.
    """
    differences = [a - b for a, b in zip(ours, theirs, strict=True)]
    low, high = interval(differences)
    above = sum(difference > 0 for difference in differences)
    below = sum(difference < 0 for difference in differences)
    wins, losses = (above, below) if more_is_better else (below, above)
    ties = len(differences) - above - below
    p = sign_flip_p(differences)
    return PairedComparison(fmean(differences), low, high, p, wins, losses, ties)


def interval(differences: Sequence[float]) -> tuple[float, float]:
    """Return the bootstrap's 95 % interval of the mean.

    Only differences other than 0 are drawn; their number in a resample is binomial.
    """
    size = len(differences)
    changed = [difference for difference in differences if difference]
    if not changed:
        return 0.0, 0.0
    chance = random.Random(_SEED)  # noqa: S311 - statistics, not secrets
    resamples = _affordable(len(changed))
    drawn = _binomial(chance, size, len(changed), resamples)
    means = sorted(math.fsum(chance.choices(changed, k=number)) / size for number in drawn)
    outside = int((1 - _CONFIDENCE) / 2 * resamples)
    return means[outside], means[resamples - 1 - outside]


def sign_flip_p(differences: Sequence[float]) -> float:
    """Return how often random signs give a sum as far from 0; 1 if no figures differ.

    Few differences are enumerated with all signs, many are sampled.
    """
    sizes = sorted(abs(value) for value in differences if value)
    far = abs(math.fsum(differences)) - _TINY
    if len(sizes) <= _EXACTLY:
        signs = itertools.product((1, -1), repeat=len(sizes))
        sums = [abs(math.fsum(map(operator.mul, sizes, flips))) for flips in signs]
        return sum(value >= far for value in sums) / len(sums)
    chance = random.Random(_SEED)  # noqa: S311 - statistics, not secrets
    resamples = _affordable(len(sizes))
    groups = list(Counter(sizes).items())
    extreme = sum(abs(_flipped(groups, chance)) >= far for _ in range(resamples))
    # Count the observed signs as one of the random ones.
    return (extreme + 1) / (resamples + 1)


def _flipped(groups: Sequence[tuple[float, int]], chance: random.Random) -> float:
    """Return the sum of all sizes with random signs; equal sizes share one draw of bits."""
    return math.fsum(
        size * (2 * chance.getrandbits(count).bit_count() - count) for size, count in groups
    )


def _binomial(chance: random.Random, size: int, marked: int, times: int) -> list[int]:
    """Return ``times`` draws of the binomial count of ``marked`` among ``size``."""
    if marked == size:
        return [size] * times
    share = marked / size
    weights = [
        math.exp(
            math.lgamma(size + 1)
            - math.lgamma(met + 1)
            - math.lgamma(size - met + 1)
            + met * math.log(share)
            + (size - met) * math.log1p(-share)
        )
        for met in range(size + 1)
    ]
    return chance.choices(range(size + 1), weights, k=times)


def _affordable(draws: int) -> int:
    return max(LEAST_RESAMPLES, min(RESAMPLES, DRAWS // draws))
