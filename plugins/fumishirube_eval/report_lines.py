"""The report of an evaluation as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from fumishirube.commands import counted, listed, strip_controls, table
from fumishirube_eval.gates import NONE
from fumishirube_eval.metrics import AMOUNTS, facets, summary
from fumishirube_eval.report import EvaluationReport, Measurement

_LEAST_FACETS = 2
_FACET_COLUMNS = ("hit_rate", "mrr", "sec_hit", "sec_mrr")


def report_lines(report: EvaluationReport) -> Iterator[str]:
    """Yield the lines of the report for a terminal."""
    ours, theirs = report.ours, report.theirs
    heading = f"{counted(len(ours.measured), 'case')}; configuration: {ours.name}"
    yield heading if theirs is None else f"{heading}; against: {theirs.name}"
    for measurement in (ours, theirs):
        if measurement is not None and measurement.errors:
            failed = [f"{code} ({number})" for code, number in measurement.errors.items()]
            yield f"failed searches with {measurement.name}: {listed(failed)}"
            for code, first in measurement.first_failures.items():
                reason = f"{code}, such as case {first.case.case_id}: {first.message}"
                yield strip_controls(f"  {reason}")
    yield ""
    if theirs is None:
        figures = summary(ours.measured, report.k)
        yield from table([(name, _figure(name, value)) for name, value in figures.items()])
    else:
        yield from table(list(_comparison_rows(report, theirs)))
    yield from _facet_lines(report)
    yield from _gate_lines(report)


def _comparison_rows(report: EvaluationReport, theirs: Measurement) -> Iterator[tuple[str, ...]]:
    yield "", "config", "against", "difference", "95 % interval", "p", "wins/losses/ties"
    paired = report.compared()
    figures = summary(report.ours.measured, report.k)
    others = summary(theirs.measured, report.k)
    for name in dict.fromkeys([*figures, *paired]):
        cells = [_figure(name, item[name]) if name in item else "" for item in (figures, others)]
        if name in paired:
            item = paired[name]
            bounds = f"{_signed(name, item.low)} .. {_signed(name, item.high)}"
            cells += [_signed(name, item.difference), bounds, f"{item.p:.4f}"]
            cells += [f"{item.wins}/{item.losses}/{item.ties}"]
        yield name, *cells, ""


def _facet_lines(report: EvaluationReport) -> Iterator[str]:
    by_facet = facets(report.ours.measured, report.k)
    if len(by_facet) < _LEAST_FACETS:
        return
    present = {name for figures in by_facet.values() for name in figures}
    columns = [f"{name}@{report.k}" for name in _FACET_COLUMNS if f"{name}@{report.k}" in present]
    rows = [("facet", "cases", *columns, "")]
    for facet, figures in by_facet.items():
        number = sum(result.case.facet == facet for result in report.ours.measured)
        cells = [_figure(name, figures[name]) if name in figures else "" for name in columns]
        rows.append((facet, str(number), *cells, ""))
    yield ""
    yield from table(rows)


def _gate_lines(report: EvaluationReport) -> Iterator[str]:
    if report.gate.name == NONE:
        return
    yield ""
    if report.passed:
        yield f"gate {report.gate.name}: passed"
        return
    yield f"gate {report.gate.name}: not passed"
    for threshold, value, passed in report.verdicts:
        if not passed:
            name, side = threshold.name, threshold.side.replace("_", " ")
            yield f"  {name} is {_figure(name, value)}; it has to be {side} {threshold.bound:g}"


def _figure(name: str, value: float) -> str:
    return f"{value:.1f}" if name.startswith(AMOUNTS) else f"{value:.4f}"


def _signed(name: str, value: float) -> str:
    return f"{value:+.1f}" if name.startswith(AMOUNTS) else f"{value:+.4f}"
