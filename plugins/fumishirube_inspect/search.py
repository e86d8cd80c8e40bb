"""The page of one search: its hits, their ranks at each stage, its stages, and its settings."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pydantic import JsonValue

from fumishirube import CoverageReport, Span, Trace, TraceRow
from fumishirube.text import places_of
from fumishirube_inspect.bars import Scale
from fumishirube_inspect.frame import (
    clock,
    framed,
    isolated,
    key_of,
    milliseconds,
    name_of,
    place_of,
    select,
    trace_url,
)
from fumishirube_inspect.hit_pages import page_of_hit
from fumishirube_inspect.markup import Content, Markup, tag
from fumishirube_inspect.ranks import DEEPEST, chart, columns_of
from fumishirube_inspect.session import InspectorSession
from fumishirube_inspect.stages import gates, tree

_MOST = 200
"""The most hits shown."""
_WITH_TEXT = 50
"""The most hits shown with text."""
_MOST_FILES = 2_000
"""The most files in a drop-down list; the names of more are typed, with suggestions."""
_PARTS = (
    ("hits", "Hits"),
    ("ranks", "Ranks"),
    ("stages", "Stages"),
    ("why-not", "Why not?"),
    ("settings", "Settings"),
)


def search_page(session: InspectorSession, trace: Trace) -> bytes:
    """Return the page."""
    return framed(
        trace.text[:80],
        session,
        _head(session, trace),
        tag(
            "nav",
            [tag("a", label, href=f"#{part}") for part, label in _PARTS],
            tag("a", "Export", href=trace_url(trace, "/export"), download=True),
            class_="parts",
            aria_label="Parts of the page",
        ),
        _hits(session, trace),
        part("ranks", "Ranks on the way", gates(trace.search), _ranks(trace)),
        part("stages", "Stages", tag("div", tree(trace.search), class_="scroll")),
        part("why-not", "Why not?", _why_not(session, trace)),
        part("settings", "Settings", _settings(trace)),
        manual=trace.manual_id,
    )


def part(name: str, title: str, *content: Content) -> Markup:
    """Return a section of a page, with its heading."""
    heading = tag("h2", title, id=f"{name}-title")
    return tag(
        "section", heading, *content, id=name, class_="panel", aria_labelledby=f"{name}-title"
    )


def _head(session: InspectorSession, trace: Trace) -> Markup:
    account = CoverageReport.of(trace)
    least = "at least " if account.at_least else ""
    configuration = session.configuration_of(trace)
    facts: list[Content] = [
        isolated(trace.manual_id),
        clock(trace.created),
        f"{account.returned} hits of {least}{account.matched} that matched",
        f"{account.scanned_sections} sections searched",
        milliseconds(trace.search.ms),
        f"configured by {configuration}" if configuration else None,
        "answered from the cache" if trace.cache.hit else None,
    ]
    terms = [tag("span", isolated(required.term), class_="chip") for required in account.terms]
    return tag(
        "div",
        tag("h1", isolated(trace.text)),
        tag("p", [tag("span", fact) for fact in facts if fact], class_="facts"),
        tag("p", "required: ", terms, class_="facts") if terms else None,
        tag("p", trace.degraded, class_="notice bad") if trace.degraded else None,
        class_="title",
    )


# --- hits -----------------------------------------------------------------------------------


def _hits(session: InspectorSession, trace: Trace) -> Markup:
    rows = trace.search.rows
    if not rows:
        message = "Nothing was found. “Why not?” below says what became of a section."
        return part("hits", "Hits", tag("p", message))
    scale = Scale.of([trace])
    items = [_hit(session, trace, row, rank, scale) for rank, row in enumerate(rows[:_MOST], 1)]
    more = len(rows) - len(items)
    return part(
        "hits",
        "Hits",
        scale.legend(),
        tag("ol", items, class_="hits"),
        tag("p", f"and {more} more", class_="quiet") if more else None,
    )


def _hit(session: InspectorSession, trace: Trace, row: TraceRow, rank: int, scale: Scale) -> Markup:
    head = tag(
        "summary",
        tag("span", rank, class_="rank"),
        tag("span", isolated(row.title or row.path, "name"), place_of(row), class_="what"),
        scale.bar(row),
        tag("span", f"{row.score:.2f}", class_="score"),
        data_item=True,
    )
    text = session.passage(trace, row) if rank <= _WITH_TEXT else None
    best = session.evidence(trace, row) if rank <= _WITH_TEXT else ()
    why = trace_url(trace, "/why", path=row.path, line=row.start_line)
    known = trace.report.counted or row.coverage
    inside = tag(
        "div",
        _signals(row, scale),
        tag("p", _chips("covers", [f"{row.coverage:.0%} of the question"] if known else ()),
            _chips("marks", sorted(row.labels)), _chips("matched", row.matched), class_="chips"),
        tag("pre", _marked(text, row), dir="auto", class_="text") if text else None,
        _page(session, trace, row, best) if rank <= _WITH_TEXT else None,
        tag("p", tag("a", "What each stage did with it", href=why)),
        class_="inside",
    )  # fmt: skip
    return tag("li", tag("details", head, inside), _evidence(row, best), data_hit=key_of(row))


def _evidence(row: TraceRow, best: Sequence[tuple[int, str]]) -> Content:
    """Return the best lines of a hit for the query, with matches marked."""
    lines = [tag("li", _marked(line.strip(), row), value=str(number)) for number, line in best]
    return tag("ol", lines, dir="auto", class_="evidence") if lines else None


def _page(
    session: InspectorSession, trace: Trace, row: TraceRow, best: Sequence[tuple[int, str]]
) -> Content:
    """Return the picture of the page of a hit, which a browser loads when the hit is opened."""
    page = page_of_hit(session, trace, row, best)
    if page is None:
        return None
    name = f"Page {page.number}"
    label = (", printed as ", isolated(page.label)) if page.label else None
    picture = tag(
        "img",
        src=trace_url(trace, "/page", path=row.path, line=row.start_line),
        alt=f"{name} as it is printed",
        loading="lazy",
    )
    return tag("figure", tag("figcaption", name, label), picture, class_="page")


def _marked(line: str, row: TraceRow) -> list[Content]:
    content: list[Content] = []
    end = 0
    for start, stop in places_of(row.matched, line):
        content += [isolated(line[end:start]), tag("mark", isolated(line[start:stop]))]
        end = stop
    return [*content, isolated(line[end:])]


def _signals(row: TraceRow, scale: Scale) -> Markup:
    lines = [
        tag("tr", tag("th", name, scope="row"), tag("td", f"{value:.3f}", class_="number"),
            tag("td", scale.single(name, value), class_="line"))
        for name, value in row.signals.items()
    ]  # fmt: skip
    return tag("table", tag("tbody", lines), class_="signals")


def _chips(label: str, names: Sequence[str]) -> Content:
    if not names:
        return None
    chips = [tag("span", isolated(name), class_="chip") for name in names]
    return tag("span", f"{label} ", chips)


# --- the other parts ------------------------------------------------------------------------


def _ranks(trace: Trace) -> Content:
    shown = _charts(trace.search, ())
    if not shown:
        return tag("p", "No fuser and no refiner ran: the order is that of the scorers.")
    legend = tag(
        "ul",
        [
            tag("li", tag("span", class_=f"key {way}"), meaning)
            for way, meaning in (
                ("up", "climbed"),
                ("down", "fell"),
                ("level", "same rank"),
                ("lost", "was left out"),
            )
        ],
        tag("li", f"a small dot: below rank {DEEPEST}"),
        class_="legend",
    )
    return legend, shown


def _charts(span: Span, way: tuple[str, ...]) -> list[Content]:
    """Return a chart for a span, and for every run below it that has runs of its own."""
    charts: list[Content] = []
    columns = columns_of(span)
    if len(columns) > 1 and (not way or sum(column.kind == "run" for column in columns) > 1):
        heading = tag("h3", "inside ", " / ".join(way)) if way else None
        charts += [heading, chart(columns, _titles(span))]
    for child in span.children:
        if child.kind == "run":
            charts += _charts(child, (*way, child.name))
    return charts


def _titles(span: Span) -> dict[str, str]:
    rows = [*span.rows, *(row for child in span.children for row in child.rows)]
    return {key_of(row): row.title or row.path for row in rows}


def _why_not(session: InspectorSession, trace: Trace) -> Content:
    paths = session.paths(trace)
    few = len(paths) <= _MOST_FILES
    choices = tag("datalist", [tag("option", value=path) for path in paths], id="paths")
    named = tag("input", name="path", list="paths", required=True, autocomplete="off")
    picker = select("path", paths, None, "File") if few else (named, choices)
    left = {name_of(out.path, out.start_line): out for out in trace.search.left_out}
    names = [
        tag("li", tag("a", isolated(name),
            href=trace_url(trace, "/why", path=out.path, line=out.start_line or 1)),
            tag("span", out.reason.replace("_", " "), class_="chip quiet"))
        for name, out in left.items()
    ]  # fmt: skip
    return (
        tag("p", "Choose the file of a section that should be among the hits, then the section."),
        tag(
            "form",
            tag("label", tag("span", "File"), picker, class_="field wide"),
            tag("button", "Show its sections"),
            action=trace_url(trace, "/why"),
            class_="search-form",
        ) if paths else None,
        tag("details", tag("summary", f"{len(names)} left out by name"),
            tag("ul", names, class_="plain")) if names else None,
    )  # fmt: skip


def _settings(trace: Trace) -> Content:
    recipe = trace.origin.recipe
    if not recipe.stages:
        return tag("p", "An earlier version recorded this search without its settings.")
    makers = ", ".join(f"{name} ({version})" for name, version in recipe.makers.items())
    return (
        tag("p", [tag("span", f"pipeline {recipe.name} "), tag("code", recipe.fingerprint),
            tag("span", f"offered by {makers}")], class_="facts"),
        [_kind(kind, uses) for kind, uses in recipe.stages.items()],
    )  # fmt: skip


def _kind(kind: str, uses: JsonValue) -> Markup:
    listed = uses if isinstance(uses, list) else [uses]
    items = [_use(use) for use in listed if isinstance(use, dict)]
    return tag("div", tag("h3", kind), items or tag("p", "none", class_="quiet"), class_="kind-of")


def _use(use: dict[str, JsonValue]) -> Markup:
    name = str(use.get("as") or use.get("use"))
    settings = use.get("with")
    if not isinstance(settings, dict) or not settings:
        return tag("p", tag("code", name))
    rows = [
        tag("tr", tag("th", key, scope="row"), tag("td", json.dumps(value, ensure_ascii=False)))
        for key, value in settings.items()
    ]
    return tag("details", tag("summary", tag("code", name)), tag("table", tag("tbody", rows)))
