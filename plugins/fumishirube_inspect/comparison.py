"""The page that compares two searches."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pydantic import JsonValue

from fumishirube import Trace
from fumishirube_inspect.bars import Scale
from fumishirube_inspect.differences import RowChange, TraceDifference
from fumishirube_inspect.frame import framed, isolated, milliseconds, place_of, trace_url
from fumishirube_inspect.markup import Content, Markup, table_of, tag
from fumishirube_inspect.ranks import Column, chart
from fumishirube_inspect.search import part
from fumishirube_inspect.session import InspectorSession
from fumishirube_inspect.stages import compared, letter

_MOST = 200


def comparison_page(session: InspectorSession, before: Trace, after: Trace) -> bytes:
    """Return the page."""
    difference = TraceDifference(before, after)
    same_question = before.text == after.text
    title = isolated(after.text) if same_question else "Two searches"
    return framed(
        f"{after.text[:60]}: A and B",
        session,
        tag(
            "div",
            tag("h1", title),
            tag("div", _side(session, before, "A"), _side(session, after, "B"), class_="sides"),
            class_="title",
        ),
        tag("p", _verdict(difference), class_="verdict"),
        _notices(difference),
        part("changes", "Settings that differ", _settings(difference)),
        part("ranks", "Ranks", _ranks(difference)) if difference.rows else None,
        part("hits", "Hits", _hits(difference)),
        part("stages", "Times", tag("div", compared(difference.stages), class_="scroll")),
        manual=after.manual_id,
    )


def _side(session: InspectorSession, trace: Trace, side: str) -> Markup:
    name = session.configuration_of(trace)
    recipe = trace.origin.recipe
    return tag(
        "p",
        letter(side),
        tag("a", isolated(trace.text), href=trace_url(trace)),
        tag("span", isolated(trace.manual_id)),
        tag("span", f"{len(trace.search.rows)} hits"),
        tag("span", milliseconds(trace.search.ms)),
        tag("span", name or f"pipeline {recipe.name}", " ", tag("code", recipe.fingerprint[:8])),
        class_="facts",
    )


def _verdict(difference: TraceDifference) -> str:
    if difference.same_scores:
        return f"The same ranking, scores included: {len(difference.rows)} hits."
    if difference.same_ranking:
        return f"The same ranking: {len(difference.rows)} hits; scores differ."
    rows = difference.rows
    counts = (
        (sum(bool(row.ranks_gained and row.ranks_gained > 0) for row in rows), "up"),
        (sum(bool(row.ranks_gained and row.ranks_gained < 0) for row in rows), "down"),
        (sum(row.ranks_gained == 0 for row in rows), "as before"),
        (sum(row.before is None for row in rows), "new"),
        (sum(row.after is None for row in rows), "gone"),
    )
    return "The ranking differs: " + ", ".join(f"{n} {word}" for n, word in counts if n) + "."


def _notices(difference: TraceDifference) -> Iterator[Markup]:
    before, after = difference.before, difference.after
    if before.manual_id != after.manual_id:
        yield tag("p", "They searched different manuals.", class_="notice")
    elif before.origin.corpus != after.origin.corpus:
        message = "The files changed between the two searches."
        yield tag("p", message, class_="notice")
    if difference.query_fields:
        names = ", ".join(difference.query_fields)
        yield tag("p", f"The queries differ: {names}.", class_="notice")
    if before.origin.recipe.makers != after.origin.recipe.makers:
        yield tag("p", "The plugins had different versions.", class_="notice")


def _settings(difference: TraceDifference) -> Content:
    if not difference.settings:
        return tag("p", "None: both were configured alike.", class_="quiet")
    rows = [
        tag("tr", tag("th", setting.name, scope="row"), tag("td", _value(setting.before)),
            tag("td", _value(setting.after)))
        for setting in difference.settings
    ]  # fmt: skip
    heads = (("Setting", ""), (letter("A"), ""), (letter("B"), ""))
    return tag("div", table_of(heads, rows, "settings"), class_="scroll")


def _value(value: JsonValue) -> Markup:
    if value is None or value == []:
        return tag("span", "none", class_="quiet")
    if isinstance(value, list):
        return tag("span", [tag("span", str(item), class_="chip") for item in value])
    return tag("code", json.dumps(value, ensure_ascii=False))


def _ranks(difference: TraceDifference) -> Markup:
    titles, ranks = {}, ({}, {})  # type: tuple[dict[str, str], tuple[dict[str, int], ...]]
    for number, row in enumerate(difference.rows):
        key = str(number)  # two manuals may have the same path
        titles[key] = row.row.title or row.row.path
        for side, place in zip(ranks, (row.before, row.after), strict=True):
            if place:
                side[key] = place.rank
    columns = [Column("search", name, side) for name, side in zip("AB", ranks, strict=True)]
    return chart(columns, titles)


def _hits(difference: TraceDifference) -> Content:
    if not difference.rows:
        return tag("p", "Neither found anything.", class_="quiet")
    scale = Scale.of([difference.before, difference.after])
    items = [_hit(str(key), row, scale) for key, row in enumerate(difference.rows[:_MOST])]
    note = tag("p", "The upper bar and score are A's, the lower ones B's.", class_="quiet")
    return scale.legend(), note, tag("ol", items, class_="hits pairs")


def _hit(key: str, row: RowChange, scale: Scale) -> Markup:
    ranks = [str(place.rank) if place else "–" for place in (row.before, row.after)]
    bars = [
        scale.bar(place.row) if place else tag("span", class_="bar none")
        for place in (row.before, row.after)
    ]
    scores = ["–" if score is None else f"{score:.2f}" for score in row.scores]
    changes = [
        tag("tr", tag("th", name, scope="row"), tag("td", f"{old:.3f}", class_="number"),
            tag("td", f"{new:.3f}", class_="number"),
            tag("td", f"{new - old:+.3f}", class_="number"))
        for name, (old, new) in row.signals.items()
    ]  # fmt: skip
    head = tag(
        "summary",
        tag("span", f"{ranks[0]} → {ranks[1]}", class_="rank"),
        _way(row),
        tag("span", isolated(row.row.title or row.row.path, "name"), place_of(row.row),
            tag("span", "other text", class_="chip") if row.rewritten else None, class_="what"),
        tag("span", bars, class_="two"),
        tag("span", tag("span", scores[0]), tag("span", scores[1]), class_="score"),
        data_item=True,
    )  # fmt: skip
    inside = (
        tag("table", tag("tbody", changes), class_="signals")
        if changes
        else tag("p", "No signal differs.", class_="quiet")
    )
    return tag("li", tag("details", head, tag("div", inside, class_="inside")), data_hit=key)


def _way(row: RowChange) -> Markup:
    if row.ranks_gained is None:
        return tag("span", "new" if row.before is None else "gone", class_="way lost")
    if not row.ranks_gained:
        return tag("span", "=", class_="way level", aria_label="the same rank")
    word = "up" if row.ranks_gained > 0 else "down"
    arrow = "▲" if row.ranks_gained > 0 else "▼"
    label = f"{abs(row.ranks_gained)} {word}"
    return tag("span", f"{arrow}{abs(row.ranks_gained)}", class_=f"way {word}", aria_label=label)
