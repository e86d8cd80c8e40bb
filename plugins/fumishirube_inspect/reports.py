"""Files with results of evaluations and of agents' runs: means with their intervals."""

from __future__ import annotations

import json
import math
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import NormalDist, fmean, stdev
from typing import Any, NamedTuple

from fumishirube import ConfigError

_SEED = 20_260_101
_RESAMPLES = 1_000
_MOST_DRAWN = 500
"""The most numbers that are resampled."""
_LARGEST = 64 * 1024 * 1024
_OTHER_FILES = (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError)
"""What other files raise; the last two are of deep JSON, and of numbers beyond any measure."""


class Mean(NamedTuple):
    """The mean of some cases, and its 95 % interval."""

    value: float
    low: float
    high: float
    cases: int


class Report(NamedTuple):
    """The means of one file by measure and by run; ``kind`` is what was measured."""

    name: str
    kind: str
    runs: Sequence[str]
    measures: Mapping[str, Mapping[str, Mean]]
    questions: Sequence[tuple[str, Mapping[str, float]]] = ()
    """The main measure of each question of an agent, by run."""


def read_report(file: Path) -> Report:
    """Read the rows of ``fumishirube eval --rows``, or a run of ``fumishirube eval agents``.

    Raises:
        ConfigError: when the file is neither, or cannot be read.
    """
    try:
        if file.stat().st_size > _LARGEST:
            raise ConfigError(f"--report: {file.name} is too large")
        text = file.read_text(encoding="utf-8-sig")
        values = _json_values(text)
        is_agents = isinstance(values[0], dict) and "answers" in values[0]
        return _of_agents(file.name, values[0]) if is_agents else _of_cases(file.name, values)
    except OSError as error:
        raise ConfigError(f"--report: {file.name} cannot be read") from error
    except _OTHER_FILES as error:
        raise ConfigError(
            f"--report: {file.name} is neither of 'fumishirube eval --rows' nor a run.json of "
            "'fumishirube eval agents'"
        ) from error


def _json_values(text: str) -> list[Any]:
    """Return the JSON value of a text, or those of its lines."""
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        # splitlines() would also divide a question, at characters such as U+2028.
        return [*map(json.loads, text.removesuffix("\n").split("\n"))]


def _of_cases(name: str, rows: Iterable[Mapping[str, Any]]) -> Report:
    values: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    runs: dict[str, None] = {}
    for row in rows:
        runs[row["run"]] = None
        for measure, value in row["metrics"].items():
            if isinstance(value, (int, float)):
                values[measure][row["run"]].append(float(value))
    if not runs:
        raise ValueError
    return Report(name, "an evaluation", [*runs], _means(values))


def _of_agents(name: str, run: Mapping[str, Any]) -> Report:
    camp = str(run["camp"])
    values: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    questions = []
    for answer in run["answers"]:
        facts, calls = answer.get("facts"), answer["calls"]
        numbers = {
            "points": None if facts is None else sum(map(bool, facts)) / max(1, len(facts)),
            "calls": len(calls),
            "characters": sum(call.get("characters", 0) for call in calls),
            "seconds": answer.get("seconds"),
        }
        for measure, value in numbers.items():
            if value is not None:
                values[measure][camp].append(float(value))
        questions.append((str(answer["id"]), {camp: float(numbers["characters"] or 0)}))
    return Report(name, "an agent's run", [camp], _means(values), questions)


def _means(values: Mapping[str, Mapping[str, Sequence[float]]]) -> dict[str, dict[str, Mean]]:
    return {
        measure: {run: mean(numbers) for run, numbers in by_run.items()}
        for measure, by_run in values.items()
    }


def mean(numbers: Sequence[float]) -> Mean:
    """Return the mean with its 95 % interval.

    The interval is that of the percentile bootstrap (Efron, 1979); of many numbers, which it would
    take minutes to draw, that of the normal distribution, within their bounds.
    """
    size, average = len(numbers), fmean(numbers)
    least, most = min(numbers), max(numbers)
    if least == most:
        return Mean(least, least, least, size)
    if size > _MOST_DRAWN:
        reach = NormalDist().inv_cdf(0.975) * stdev(numbers, average) / math.sqrt(size)
        return Mean(average, max(least, average - reach), min(most, average + reach), size)
    chance = random.Random(_SEED)  # noqa: S311 - statistics, not secrets
    drawn = sorted(fmean(chance.choices(numbers, k=size)) for _ in range(_RESAMPLES))
    low, high = drawn[round(0.025 * _RESAMPLES)], drawn[round(0.975 * _RESAMPLES) - 1]
    return Mean(average, low, high, size)
