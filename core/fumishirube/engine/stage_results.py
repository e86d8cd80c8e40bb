"""Checks of what stages return; a wrong result counts as a failure of its stage."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypeVar

from fumishirube.model import Hit, Ranking
from fumishirube.query import Run

T = TypeVar("T")


class WrongResult(ValueError):
    """A stage returned what its kind cannot return; the message quotes no text."""


def checked_plan(runs: Iterable[Run]) -> tuple[Run, ...]:
    """Return a fuser's plan; raise if it has no runs, or is no plan."""
    plan = _items(runs, Run)
    if not plan:
        raise WrongResult("a plan has one run or more")
    return plan


def checked_hits(result: Ranking | Iterable[Hit]) -> Ranking:
    """Return a stage's result as a ranking; raise if it is of another type."""
    if not isinstance(result, Ranking):
        result = Ranking(_items(result, Hit))
    elif not all(isinstance(hit, Hit) for hit in result.hits):
        raise WrongResult("a ranking contains hits, and nothing else")
    if not all(map(math.isfinite, [hit.score for hit in result.hits])):
        raise WrongResult("a score is not a finite number")
    return result


def checked_ranking(result: Ranking | Iterable[Hit]) -> Ranking:
    """Return the result of a fuser or refiner; raise too if a section is in it twice."""
    ranking = checked_hits(result)
    if len({hit.passage.key for hit in ranking.hits}) < len(ranking.hits):
        raise WrongResult("a section is in the ranking twice")
    return ranking


def _items(result: Iterable[T], kind: type[T]) -> tuple[T, ...]:
    if not isinstance(result, Iterable):
        raise WrongResult(f"it returned {type(result).__name__}")
    items = tuple(result)
    if not all(isinstance(item, kind) for item in items):
        raise WrongResult(f"it returned something else than a {kind.__name__}")
    return items
