"""The frame of every page: head, search field, and formats of numbers and times."""

from __future__ import annotations

import time
from collections.abc import Sequence
from urllib.parse import quote, urlencode

from fumishirube import Trace, TraceRow
from fumishirube_inspect.markup import Content, Markup, page, tag
from fumishirube_inspect.session import InspectorSession

_KEYS = (
    ("/", "search"),
    ("j k", "next, previous hit"),
    ("Enter", "open or close it"),
    ("Esc", "clear the selection"),
    ("w", "why is it there"),
    ("a b c", "choose A, choose B, compare"),
    ("h", "all searches"),
)


def framed(
    title: str, session: InspectorSession, *content: Content, manual: str | None = ""
) -> bytes:
    """Return a whole page; its head searches ``manual`` first, or has no search for ``None``."""
    return page(
        tag(
            "html",
            tag(
                "head",
                tag("meta", charset="utf-8"),
                tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
                tag("meta", name="color-scheme", content="light dark"),
                tag("title", f"{title} · Fumishirube"),
                tag("link", rel="icon", href="/static/icon.svg", type="image/svg+xml"),
                tag("link", rel="stylesheet", href="/static/inspect.css"),
                tag("script", src="/static/inspect.js", defer=True),
            ),
            tag(
                "body",
                tag("a", "Skip to content", href="#content", class_="skip"),
                _head(session, manual),
                tag("main", content, id="content", tabindex=-1),
                tag("footer", [(tag("kbd", key), f" {meaning}  ") for key, meaning in _KEYS]),
            ),
            lang="en",
        )
    )


def _head(session: InspectorSession, manual: str | None) -> Markup:
    manuals = () if manual is None else session.manuals()
    chosen = manual if manual in manuals else None
    return tag(
        "header",
        tag("a", tag("b", "標"), " Fumishirube ", tag("span", "inspect"), href="/", class_="brand"),
        tag(
            "form",
            tag(
                "input",
                type="search",
                name="q",
                required=True,
                placeholder="Search the manuals",
                aria_label="Question",
                data_search=True,
                autocomplete="off",
            ),
            select("manual", manuals, chosen, "Manual", "all manuals" if len(manuals) > 1 else ""),
            tag("button", "Search"),
            action="/find",
            method="post",
            role="search",
        )
        if manuals
        else None,
    )


def select(
    name: str, options: Sequence[str], chosen: str | None, label: str, none: str = ""
) -> Markup:
    """Return a drop-down list; ``none`` is the label of the empty choice."""
    blank = [("", none)] if none else []
    shown = [*blank, *((value, value) for value in options)]
    return tag(
        "select",
        [tag("option", text, value=value, selected=value == chosen) for value, text in shown],
        name=name,
        aria_label=label,
    )


def error_page(session: InspectorSession, title: str, message: str, code: str) -> bytes:
    """Return a page with an error message and a link to all searches."""
    return framed(
        title,
        session,
        tag("h1", title),
        tag("p", message, " ", tag("code", code), class_="notice bad"),
        tag("p", tag("a", "All searches", href="/")),
    )


def isolated(text: str, class_: str | None = None) -> Markup:
    """Return untrusted text, isolated so that its direction does not affect the page."""
    return tag("bdi", text, class_=class_)


def place_of(row: TraceRow) -> Markup:
    """Return the place of a hit."""
    return tag("span", isolated(row.path), f"#L{row.start_line}", class_="path")


def key_of(row: TraceRow) -> str:
    """Return a key that identifies a section."""
    return name_of(row.path, row.start_line)


def name_of(path: str, line: int | None) -> str:
    """Return the name of a section, or of a whole file."""
    return path if line is None else f"{path}#L{line}"


def trace_url(trace: Trace, part: str = "", **query_fields: str | int) -> str:
    """Return the URL of a trace's page, or of a page below it."""
    query = f"?{urlencode(query_fields)}" if query_fields else ""
    return f"/trace/{quote(trace.id, safe='')}{part}{query}"


def milliseconds(ms: float) -> str:
    """Return a duration as text."""
    return f"{ms:.0f} ms" if ms >= 100 else f"{ms:.1f} ms" if ms >= 1 else f"{ms:.2f} ms"  # noqa: PLR2004 - three digits at most


def clock(moment: float) -> Markup:
    """Return a time; the title and the machine-readable value have the full date."""
    try:
        local = time.localtime(moment)
    except (OverflowError, ValueError, OSError):
        return tag("time", "at no time")
    today = time.strftime("%Y-%m-%d", local) == time.strftime("%Y-%m-%d")
    return tag(
        "time",
        time.strftime("%H:%M:%S" if today else "%Y-%m-%d %H:%M", local),
        datetime=time.strftime("%Y-%m-%dT%H:%M:%S%z", local),
        title=time.strftime("%Y-%m-%d %H:%M:%S", local),
    )
