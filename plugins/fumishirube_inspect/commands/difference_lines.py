"""The difference of two searches, as lines and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pydantic import JsonValue

from fumishirube import Span, Trace
from fumishirube.commands import filled, strip_controls, table, translated, word
from fumishirube_inspect.differences import RowChange, StageTiming, TraceDifference

_SIGNALS = 4


def difference_lines(difference: TraceDifference, *, stages: bool = False) -> Iterator[str]:
    """Yield the differences as lines; with ``stages``, also the times of the stages."""
    before, after = difference.before, difference.after
    if stages:
        yield f"A  {trace_line(before)}"
        yield f"B  {trace_line(after)}"
    yield from _query_lines(difference)
    if difference.settings:
        yield translated("configuration, A -> B:")
        yield from table(
            [
                (f"  {item.name}", f"{_value(item.before)} -> {_value(item.after)}")
                for item in difference.settings
            ]
        )
    yield from _ranking_lines(difference)
    if stages:
        yield translated("stages, A -> B:")
        yield from table([_stage_cells(item) for item in difference.stages])


def trace_line(trace: Trace) -> str:
    """Return a trace's id, manual and query in one line."""
    return filled("trace {0} of {1}: {2}", trace.id, trace.manual_id, strip_controls(trace.text))


def _query_lines(difference: TraceDifference) -> Iterator[str]:
    before, after = difference.before, difference.after
    if difference.query_fields:
        yield filled("their queries differ: {0}", ", ".join(difference.query_fields))
    if before.manual_id != after.manual_id:
        yield translated("they searched different manuals")
    elif before.origin.corpus != after.origin.corpus:
        yield translated("they saw the files at different times, or different files")
    if before.origin.recipe.makers != after.origin.recipe.makers:
        yield filled("plugins: {0} -> {1}", _makers(before), _makers(after))


def _makers(trace: Trace) -> str:
    makers = trace.origin.recipe.makers.items()
    return ", ".join(f"{k} ({v})" for k, v in makers) or word("plugins", "unknown")


def _value(value: JsonValue) -> str:
    return word("setting", "nothing") if value is None else json.dumps(value, ensure_ascii=False)


def _ranking_lines(difference: TraceDifference) -> Iterator[str]:
    rows = difference.rows
    if not difference.changed:
        yield filled("the ranking is the same, scores included: {0} hits", len(rows))
        return
    came = sum(row.before is None for row in rows)
    went = sum(row.after is None for row in rows)
    moved = sum(bool(row.ranks_gained) for row in rows)
    unmoved = sum(row.ranks_gained == 0 for row in rows)
    counts = moved, came, went, unmoved
    yield filled("ranking: {0} moved, {1} came, {2} went, {3} unchanged", *counts)
    head = ("  A", "B", translated("SCORE A"), "B", "", translated("SECTION"))
    yield from table([head, *(_hit_cells(row) for row in difference.changed)])


def _hit_cells(row: RowChange) -> tuple[str, ...]:
    ranks = [str(place.rank) if place else "-" for place in (row.before, row.after)]
    scores = ["" if score is None else f"{score:.2f}" for score in row.scores]
    details = [f"{row.row.path}#L{row.row.start_line}"]
    details += [f"({translated('other text')})"] if row.rewritten else []
    if row.before and row.after:
        pairs = sorted(row.signals.items(), key=lambda pair: -abs(pair[1][1] - pair[1][0]))
        details += [f"{name} {new - old:+.2f}" for name, (old, new) in pairs[:_SIGNALS]]
    return f"  {ranks[0]}", ranks[1], *scores, _way(row), "  ".join(details)


def _way(row: RowChange) -> str:
    if row.ranks_gained is None:
        return word("ranking", "new" if row.before is None else "gone")
    return f"{row.ranks_gained:+d}" if row.ranks_gained else "="


def _stage_cells(stage: StageTiming) -> tuple[str, str, str, str]:
    times = [f"{span.ms:.2f} ms" if span else "-" for span in (stage.before, stage.after)]
    rows = [_rows(span) for span in (stage.before, stage.after)]
    counts = (
        "" if rows[0] == rows[1] == "" else filled("{0} -> {1} rows", *(row or "-" for row in rows))
    )
    return "  " * len(stage.path) + stage.path[-1], times[0], times[1], counts


def _rows(span: Span | None) -> str:
    return "" if span is None or span.kind == "scorer" else str(len(span.rows))


def difference_json(difference: TraceDifference) -> dict[str, JsonValue]:
    """Return the difference as JSON, with null where one search has no value."""
    before, after = difference.before, difference.after
    return {
        "before": _side(before),
        "after": _side(after),
        "same_ranking": difference.same_ranking,
        "same_scores": difference.same_scores,
        "query_fields": [*difference.query_fields],
        "same_corpus": before.origin.corpus == after.origin.corpus,
        "settings": [item._asdict() for item in difference.settings],
        "hits": [_hit(item) for item in difference.rows],
        "stages": [_stage(item) for item in difference.stages],
    }


def _side(trace: Trace) -> JsonValue:
    recipe = trace.origin.recipe
    return {
        "trace_id": trace.id,
        "manual_id": trace.manual_id,
        "query": trace.text,
        "required_terms": [*trace.required],
        "corpus": trace.origin.corpus,
        "pipeline": recipe.fingerprint,
        "plugins": {**recipe.makers},
        "ms": trace.search.ms,
    }


def _hit(row: RowChange) -> JsonValue:
    ranks = [place.rank if place else None for place in (row.before, row.after)]
    return {
        "path": row.row.path,
        "start_line": row.row.start_line,
        "title": row.row.title,
        "rank": {"before": ranks[0], "after": ranks[1]},
        "score": {"before": row.scores[0], "after": row.scores[1]},
        "signals": {
            name: {"before": pair[0], "after": pair[1]} for name, pair in row.signals.items()
        },
        "text_changed": row.rewritten,
    }


def _stage(stage: StageTiming) -> JsonValue:
    sides = {"before": stage.before, "after": stage.after}
    return {
        "stage": [*stage.path],
        "ms": {name: span.ms if span else None for name, span in sides.items()},
        "rows": {name: len(span.rows) if span else None for name, span in sides.items()},
    }
