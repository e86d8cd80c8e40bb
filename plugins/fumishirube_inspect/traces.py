"""The first page: the search form and the list of searches."""

from __future__ import annotations

from collections.abc import Sequence

from fumishirube import Trace
from fumishirube_inspect.frame import clock, framed, isolated, milliseconds, select, trace_url
from fumishirube_inspect.markup import Markup, meter, table_of, tag
from fumishirube_inspect.session import InspectorSession

_MOST = 200


def listing_page(session: InspectorSession) -> bytes:
    """Return the page."""
    traces, damaged = session.traces()
    return framed(
        "Searches",
        session,
        tag("h1", "Searches"),
        _search_form(session),
        _reports(session),
        _damaged(damaged),
        _listed(session, traces[:_MOST]) if traces else _nothing(session),
        _unlisted(len(traces)),
        manual=None,
    )


def _search_form(session: InspectorSession) -> Markup | None:
    manuals = session.manuals()
    if not manuals:
        return None
    configurations = session.configurations
    current, others = configurations.current, configurations.others()
    return tag(
        "form",
        _field(
            "Question",
            tag("input", name="q", required=True, autocomplete="off", data_search=True),
            "wide",
        ),
        _manuals(manuals),
        _field(
            "Required terms",
            tag("input", name="require", placeholder="none", autocomplete="off"),
        ),
        _field("Configuration", select("config", [current, *others], "", "Configuration")),
        _field(
            "Against",
            select("against", [*others, current], configurations.against, "Against", "nothing"),
        ),
        tag("button", "Search", class_="main"),
        action="/find",
        method="post",
        class_="panel search-form",
    )


def _manuals(manuals: Sequence[str]) -> Markup | None:
    """Return a box for each manual; none checked means all. A single one needs no choice."""
    if len(manuals) < 2:  # noqa: PLR2004 - one is no choice
        return None
    boxes = [
        tag("label", tag("input", type="checkbox", name="manual", value=name), isolated(name))
        for name in manuals
    ]
    return tag(
        "fieldset", tag("legend", "Manuals (none: all of them)"), boxes, class_="field wide boxes"
    )


def _reports(session: InspectorSession) -> Markup | None:
    if not session.reports:
        return None
    links = [
        tag("li", tag("a", isolated(report.name), href=f"/report/{number}", data_item=True),
            f" {report.kind}")
        for number, report in enumerate(session.reports)
    ]  # fmt: skip
    return tag("section", tag("h2", "Reports"), tag("ul", links, class_="plain"), class_="panel")


def _field(label: str, control: Markup, class_: str = "") -> Markup:
    return tag("label", tag("span", label), control, class_=f"field {class_}".strip())


def _nothing(session: InspectorSession) -> Markup:
    message = (
        "Ask a question above, or make a search anywhere else in this workspace: it appears here."
        if session.manuals()
        else "There are no manuals in this workspace yet: put files into manuals/<manual>/ first."
    )
    return tag(
        "section",
        tag("h2", "No recent searches"),
        tag("p", message),
        tag("pre", tag("code", "fumishirube find 'a question'")),
        class_="panel empty",
    )


def _damaged(names: Sequence[str]) -> Markup | None:
    if not names:
        return None
    message = "cannot be read and is left out" if len(names) == 1 else "cannot be read; left out"
    files = [(", " if place else "", tag("code", name)) for place, name in enumerate(names)]
    return tag(
        "p",
        files,
        f" in .fumishirube/traces {message}. Delete it to hide this note.",
        class_="notice bad",
    )


def _listed(session: InspectorSession, traces: Sequence[Trace]) -> Markup:
    slowest = max((trace.search.ms for trace in traces), default=0.0) or 1.0
    later = traces[1].id if len(traces) > 1 else ""
    rows = [
        _row(session, trace, slowest, a=trace.id == later, b=place == 0)
        for place, trace in enumerate(traces)
    ]
    labels = ("A", "B", "When", "Question", "Manual", "Hits", "Time")
    names = ("pick", "pick", "when", "", "manual", "number", "number")
    return tag(
        "form",
        table_of(zip(labels, names, strict=True), rows, "traces"),
        tag("p", tag("button", "Compare A with B"), class_="actions") if len(traces) > 1 else None,
        action="/compare",
        class_="panel",
    )


def _unlisted(number: int) -> Markup | None:
    if number <= _MOST:
        return None
    message = f"These are the newest {_MOST} of {number} searches; all are in "
    return tag("p", message, tag("code", "fumishirube trace ls"), ".", class_="quiet")


def _row(session: InspectorSession, trace: Trace, slowest: float, *, a: bool, b: bool) -> Markup:
    name = session.configuration_of(trace)
    flags = [
        tag("span", name, class_="chip") if name else None,
        tag("span", "degraded", class_="chip bad", title=trace.degraded)
        if trace.degraded
        else None,
        tag("span", "from the cache", class_="chip") if trace.cache.hit else None,
    ]
    return tag(
        "tr",
        tag("td", _pick("a", trace, checked=a), class_="pick"),
        tag("td", _pick("b", trace, checked=b), class_="pick"),
        tag("td", clock(trace.created), class_="when"),
        tag(
            "td",
            tag("a", isolated(trace.text), href=trace_url(trace), data_item=True),
            flags,
            class_="what",
        ),
        tag("td", isolated(trace.manual_id), class_="manual"),
        tag("td", len(trace.search.rows), class_="number"),
        tag(
            "td",
            milliseconds(trace.search.ms),
            meter(trace.search.ms / slowest, "meter", 3),
            class_="number",
        ),
    )


def _pick(side: str, trace: Trace, *, checked: bool) -> Markup:
    label = f"{side.upper()}: {trace.text[:60]}"
    return tag("input", type="radio", name=side, value=trace.id, checked=checked, aria_label=label)
