"""The report of an evaluation, as JSON or as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fumishirube_eval.gates import NONE, Gate, ThresholdResult
from fumishirube_eval.metrics import CaseResult, case_metrics, facets, summary
from fumishirube_eval.paired import PairedComparison, paired

_DIGITS = 6


@dataclass(frozen=True)
class Measurement:
    """The results of one configuration on the cases, and its name."""

    name: str
    measured: Sequence[CaseResult]

    @property
    def errors(self) -> dict[str, int]:
        """The number of failed searches, by code."""
        failures = Counter(result.error for result in self.measured if result.error)
        return dict(sorted(failures.items()))

    @property
    def first_failures(self) -> dict[str, CaseResult]:
        """The first failed search of each code."""
        failed = [result for result in self.measured if result.error]
        return {code: next(it for it in failed if it.error == code) for code in self.errors}


@dataclass(frozen=True)
class EvaluationReport:
    """The results of one configuration or two, and the verdict of the gate on the first."""

    k: int
    ours: Measurement
    theirs: Measurement | None
    gate: Gate

    @property
    def verdicts(self) -> list[ThresholdResult]:
        """The thresholds of the gate, each with its measured figure."""
        return self.gate.judge(self.ours.measured)

    @property
    def passed(self) -> bool:
        """Whether every threshold passes."""
        return all(verdict.passed for verdict in self.verdicts)

    def compared(self) -> dict[str, PairedComparison]:
        """Return the paired comparison of every metric that both configurations have."""
        if self.theirs is None:
            return {}
        pairs = list(zip(self.ours.measured, self.theirs.measured, strict=True))
        return paired(case_metrics(self.k), pairs)

    def plain(self) -> dict[str, Any]:
        """Return the report as JSON."""
        data: dict[str, Any] = {"cases": len(self.ours.measured), "k": self.k}
        data |= _plain(self.ours, self.k)
        data["gate"] = {
            "name": self.gate.name,
            "passed": self.passed if self.gate.name != NONE else None,
            "thresholds": [_plain_verdict(verdict) for verdict in self.verdicts],
        }
        if self.theirs is not None:
            compared = {name: rounded(asdict(item)) for name, item in self.compared().items()}
            data["against"] = _plain(self.theirs, self.k) | {"paired": compared}
        return data


def rounded(figures: dict[str, float]) -> dict[str, float]:
    """Round figures to their significant digits."""
    return {name: round(value, _DIGITS) for name, value in figures.items()}


def _plain(measurement: Measurement, k: int) -> dict[str, Any]:
    by_facet = facets(measurement.measured, k)
    return {
        "configuration": measurement.name,
        "metrics": rounded(summary(measurement.measured, k)),
        "facets": {name: rounded(figures) for name, figures in by_facet.items()},
        "errors": measurement.errors,
        "first_failures": {
            code: {"case_id": first.case.case_id, "message": first.message}
            for code, first in measurement.first_failures.items()
        },
    }


def _plain_verdict(verdict: ThresholdResult) -> dict[str, Any]:
    threshold = verdict.threshold
    return {
        "metric": threshold.name,
        threshold.side: threshold.bound,
        "value": round(verdict.value, _DIGITS),
        "passed": verdict.passed,
    }
