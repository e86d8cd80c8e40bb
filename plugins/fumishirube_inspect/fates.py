"""The page that shows what happened to one section in a search."""

from __future__ import annotations

from fumishirube import Trace
from fumishirube.commands import FateStep, section_fate
from fumishirube_inspect.frame import framed, isolated, trace_url
from fumishirube_inspect.markup import Content, Markup, table_of, tag
from fumishirube_inspect.search import part
from fumishirube_inspect.session import InspectorSession


def why_page(session: InspectorSession, trace: Trace, path: str, line: int) -> bytes:
    """Return the page."""
    start = session.section(trace, path, line)
    fate = section_fate(trace, path, start)
    rows = [_row(step) for step in fate.steps]
    verdict = "verdict good" if fate.rank else "verdict bad"
    heads = (("Stage", ""), ("Rank", "number"), ("", "line"), ("Score", "number"))
    return framed(
        f"{path}#L{start}",
        session,
        _title(trace, "Why " if fate.rank else "Why not ", isolated(path), f"#L{start}?"),
        tag("p", f"{fate.explanation[0].upper()}{fate.explanation[1:]}.", class_=verdict),
        part(
            "steps",
            "What each stage did",
            tag("div", table_of(heads, rows, "stages"), class_="scroll")
            if rows
            else tag("p", "No fuser and no refiner ran."),
        ),
        manual=trace.manual_id,
    )


def sections_page(session: InspectorSession, trace: Trace, path: str) -> bytes:
    """Return the page with the sections of a file, each with a link to what became of it."""
    sections = session.sections(trace, path)
    ranked = {(row.path, row.start_line): n for n, row in enumerate(trace.search.rows, 1)}
    entries = [
        tag(
            "li",
            tag("a", isolated(headings), href=trace_url(trace, "/why", path=path, line=line),
                data_item=True),
            tag("span", f" line {line}", class_="path"),
            tag("span", f"rank {ranked[path, line]}", class_="chip")
            if (path, line) in ranked else None,
        )
        for line, headings in sections
    ]  # fmt: skip
    return framed(
        path,
        session,
        _title(trace, "Which section of ", isolated(path), "?"),
        part("sections", "Sections", tag("ol", entries, class_="plain")),
        manual=trace.manual_id,
    )


def _title(trace: Trace, *heading: Content) -> Markup:
    """Return the heading of a page about a search, with the way back to that."""
    back = tag("p", tag("a", "← ", isolated(trace.text), href=trace_url(trace)))
    return tag("div", back, tag("h1", heading), class_="title")


def _row(step: FateStep) -> Markup:
    kind, _, name = step.stage.partition(" ")
    left = step.left_out.replace("_", " ") if step.left_out else None
    where = f"{step.rank} of {step.rows}" if step.rank else f"not among {step.rows}"
    return tag(
        "tr",
        tag(
            "td",
            tag("span", kind, class_=f"kind {kind}"),
            f" {name}",
            tag("span", f"left out: {left}", class_="chip bad") if left else None,
            class_=f"stage d{min(step.depth - 1, 8)}",
        ),
        tag("td", where, class_="number" if step.rank else "number quiet"),
        tag("td", _strip(step), class_="line"),
        tag("td", f"{step.score:.2f}" if step.score is not None else "–", class_="number"),
    )


def _strip(step: FateStep) -> Markup:
    """Return a bar with the rank of the section; the best rank is at the left."""
    mark = None
    if step.rank:
        share = (step.rank - 1) / max(1, step.rows - 1)
        mark = tag("circle", cx=round(8 + 184 * share, 2), cy=8, r=5)
    return tag(
        "svg",
        tag("line", x1=4, x2=196, y1=8, y2=8),
        mark,
        viewBox="0 0 200 16",
        class_="strip",
        aria_hidden="true",
    )
