"""Gates: thresholds for the metrics of a set of cases."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from fumishirube import ConfigError
from fumishirube.commands import did_you_mean
from fumishirube_eval.cases import Case
from fumishirube_eval.files import name_of
from fumishirube_eval.metrics import (
    AMOUNTS,
    CaseResult,
    case_metrics,
    mean_ceiling,
    precision_ceiling,
    recall_ceiling,
    summary,
)

DEFAULT, NONE = "default", "none"

_SIDES = ("at_least", "at_most")
_LATENCIES = ("p50_latency_ms", "p95_latency_ms")
_SECTIONS = ("sec_hit", "sec_mrr")
_CEILINGS = {"precision": precision_ceiling, "recall": recall_ceiling}
_ANY_K = 5
_MOST_DIGITS = 9
_TINY = 1e-9


class Threshold(NamedTuple):
    """A bound of a metric, whose name has no ``@k``; ``k`` is 0 for metrics without it."""

    metric: str
    k: int
    side: str
    bound: float

    @property
    def name(self) -> str:
        """The full name of the metric, such as ``hit_rate@5``."""
        return f"{self.metric}@{self.k}" if self.k else self.metric


class ThresholdResult(NamedTuple):
    """A threshold, the measured figure, and whether it passes."""

    threshold: Threshold
    value: float
    passed: bool


@dataclass(frozen=True)
class Gate:
    """Thresholds that must all pass."""

    name: str
    thresholds: tuple[Threshold, ...]

    def judge(self, measured: Sequence[CaseResult]) -> list[ThresholdResult]:
        """Compare the results with every threshold."""
        ks = {threshold.k or _ANY_K for threshold in self.thresholds}
        figures = {k: summary(measured, k) for k in ks}
        return [
            _threshold_result(threshold, figures[threshold.k or _ANY_K][threshold.name])
            for threshold in self.thresholds
        ]


DEFAULT_GATE = Gate(
    DEFAULT,
    (
        Threshold("hit_rate", 5, "at_least", 0.90),
        Threshold("recall", 5, "at_least", 0.85),
        Threshold("mrr", 5, "at_least", 0.75),
        Threshold("precision_norm", 5, "at_least", 0.80),
        Threshold("gap_rate", 0, "at_most", 0.25),
        Threshold("conflict_rate", 0, "at_most", 0.20),
        Threshold("error_rate", 0, "at_most", 0.0),
    ),
)


def load_gate(chosen: str, cases: Sequence[Case]) -> Gate:
    """Return the gate ``default``, ``none``, or the one in a TOML file.

    Raises:
        ConfigError: when the file is invalid, or a threshold cannot be reached with these cases.
    """
    if chosen == NONE:
        return Gate(NONE, ())
    if chosen == DEFAULT:
        return DEFAULT_GATE
    file = Path(chosen)
    name = file.name
    thresholds: list[Threshold] = []
    for side, bounds in _read(file).items():
        if side not in _SIDES:
            raise ConfigError(f"{name}: {side}: expected the tables {' and '.join(_SIDES)}")
        if not isinstance(bounds, dict):
            raise ConfigError(f"{name}: {side}: expected metrics and their bounds")
        thresholds += [_threshold(key, side, bound, name) for key, bound in bounds.items()]
    if not thresholds:
        raise ConfigError(f"{name}: it sets no threshold; --gate none measures without any")
    _check_ceilings(name, thresholds, cases)
    return Gate(name, tuple(thresholds))


def _read(file: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(file.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError as error:
        message = f"there is no such file; the gate is a file, {DEFAULT!r} or {NONE!r}"
        raise ConfigError(f"--gate {name_of(file)}: {message}") from error
    except OSError as error:
        raise ConfigError(f"--gate {name_of(file)}: it cannot be read; is it a file?") from error
    except (ValueError, RecursionError) as error:  # also for a number of too many digits
        raise ConfigError(f"{file.name}: it is not valid TOML: {error}") from error


def _threshold(key: str, side: str, bound: object, name: str) -> Threshold:
    where = f"{name}: {side}.{key}"
    if isinstance(bound, bool) or not isinstance(bound, int | float) or not _is_finite(bound):
        raise ConfigError(f"{where}: expected a number")
    metric, at, cut = key.partition("@")
    k = int(cut) if cut.isascii() and cut.isdigit() and len(cut) <= _MOST_DIGITS else 0
    names = _metric_names(k or _ANY_K)
    if key not in names:
        raise ConfigError(f"{where}: there is no such metric; {did_you_mean(key, names)}")
    if key.startswith(AMOUNTS):
        if bound < 0:
            raise ConfigError(f"{where}: expected a number from 0 on")
    elif not 0 <= bound <= 1:
        raise ConfigError(f"{where}: expected a share, from 0 to 1")
    return Threshold(metric if k else metric + at + cut, k, side, float(bound))


def _is_finite(bound: float) -> bool:
    return abs(bound) <= sys.float_info.max  # math.isfinite() raises for very large integers


def _metric_names(k: int) -> list[str]:
    names = [metric.name for metric in case_metrics(k) if metric.name != "latency_ms"]
    return [*names, f"precision_norm@{k}", *_LATENCIES]


def _check_ceilings(name: str, thresholds: Sequence[Threshold], cases: Sequence[Case]) -> None:
    for threshold in thresholds:
        where = f"{name}: {threshold.side}.{threshold.name}"
        if threshold.metric in _SECTIONS and not any(case.expected_lines for case in cases):
            raise ConfigError(f"{where}: no case says which sections are right (expected_lines)")
        if threshold.metric not in _CEILINGS or threshold.side != "at_least":
            continue
        ceiling = mean_ceiling(cases, threshold.k, _CEILINGS[threshold.metric])
        if threshold.bound > ceiling + _TINY:
            if threshold.metric == "recall":
                raise ConfigError(
                    f"{where}: {threshold.bound:g} is more than {ceiling:.4g}, the most that "
                    "these cases allow"
                )
            raise ConfigError(
                f"{where}: {threshold.bound:g} is more than {ceiling:.4g}, the most that these "
                f"cases allow; precision_norm@{threshold.k} does not depend on it"
            )


def _threshold_result(threshold: Threshold, value: float) -> ThresholdResult:
    short = threshold.bound - value if threshold.side == "at_least" else value - threshold.bound
    return ThresholdResult(threshold, value, passed=short <= _TINY)
