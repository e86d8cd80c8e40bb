"""The pages with charts of evaluations and of agents' runs."""

from __future__ import annotations

from collections.abc import Sequence

from fumishirube_inspect.frame import framed, isolated
from fumishirube_inspect.markup import Markup, meter, table_of, tag
from fumishirube_inspect.reports import Mean, Report
from fumishirube_inspect.search import part
from fumishirube_inspect.session import InspectorSession

_WIDE, _TALL = 400, 18
_MOST = 400
"""The most questions shown."""


def report_page(session: InspectorSession, report: Report) -> bytes:
    """Return the page of one file."""
    return framed(
        report.name,
        session,
        tag(
            "div",
            tag("h1", isolated(report.name)),
            tag("p", f"{report.kind}; each line is a mean with its 95 % interval", class_="facts"),
            class_="title",
        ),
        part("measures", "Measures", _legend(report.runs), _measures(report)),
        part("questions", "Characters printed, by question", _questions(report))
        if report.questions
        else None,
    )


def _legend(runs: Sequence[str]) -> Markup:
    keys = [
        tag("li", tag("span", class_=f"key run{place % 2}"), isolated(run))
        for place, run in enumerate(runs)
    ]
    return tag("ul", keys, class_="legend", aria_label="Runs")


def _measures(report: Report) -> Markup:
    rows = []
    for measure, by_run in report.measures.items():
        least = min(0.0, *(shown.low for shown in by_run.values()))
        whole = 1.0 if "@" in measure or measure.endswith("_rate") or measure == "points" else 0.0
        most = max(whole, *(shown.high for shown in by_run.values()))
        for place, run in enumerate(report.runs):
            if run in by_run:
                head = tag("th", measure if place == 0 else "", scope="row")
                rows.append(_measure_row(head, by_run[run], (least, most), place))
    heads = (("Measure", ""), ("Mean", "number"), ("", "line"), ("95 % interval", "number"))
    return tag("div", table_of(heads, rows, "means"), class_="scroll")


def _measure_row(head: Markup, shown: Mean, bounds: tuple[float, float], place: int) -> Markup:
    least, most = bounds
    span = most - least or 1.0
    at, start, end = (_WIDE * (v - least) / span for v in (shown.value, shown.low, shown.high))
    middle = _TALL // 2
    picture = tag(
        "svg",
        tag("line", x1=0, x2=_WIDE, y1=middle, y2=middle, class_="axis"),
        tag("line", x1=round(start, 1), x2=round(end, 1), y1=middle, y2=middle, class_="interval"),
        tag("circle", cx=round(min(max(at, 4), _WIDE - 4), 1), cy=middle, r=4),
        viewBox=f"0 0 {_WIDE} {_TALL}",
        class_=f"mean run{place % 2}",
        role="img",
        aria_label=f"{shown.value:.3f}, from {shown.low:.3f} to {shown.high:.3f}",
    )
    return tag(
        "tr",
        head,
        tag("td", _shown(shown.value), class_="number"),
        tag("td", picture, class_="line"),
        tag("td", f"{_shown(shown.low)} to {_shown(shown.high)}", class_="number quiet"),
        data_item=True,
        tabindex=0,
    )


def _questions(report: Report) -> Markup:
    most = max((v for _, values in report.questions for v in values.values()), default=0.0) or 1.0
    rows = [
        tag(
            "tr",
            tag("th", isolated(name), scope="row"),
            tag("td", _shown(value), class_="number"),
            tag("td", meter(value / most, f"bar run{report.runs.index(run) % 2}"), class_="line"),
        )
        for name, values in report.questions[:_MOST]
        for run, value in values.items()
    ]
    return tag("div", tag("table", tag("tbody", rows), class_="means"), class_="scroll")


def _shown(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3f}"  # noqa: PLR2004 - three digits
