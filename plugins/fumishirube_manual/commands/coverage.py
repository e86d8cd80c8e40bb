"""``fumishirube coverage``: shows what a past search covered, and what is still unread."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from pydantic import JsonValue

from fumishirube import (
    Citation,
    CoverageReport,
    InvalidParameter,
    LeftOut,
    Skipped,
    TermReport,
    Trace,
)
from fumishirube.commands import (
    add_json,
    command,
    counted,
    filled,
    listed,
    opened,
    reason_text,
    search_context,
    show,
    table,
    translated,
    word,
)
from fumishirube_manual.commands.explanations import (
    LEGEND,
    add_explanations,
    show_fate,
    signals_line,
    tree_lines,
)
from fumishirube_manual.scopes import named_again


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    help_text = "the trace's id, as 'find --json' or manual_find returns it, or 8 characters of it"
    parser.add_argument("trace", metavar="TRACE", help=help_text)
    add_explanations(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Print the account of a stored search of any process."""
    with opened(options) as application:
        trace = application.traces.named(options.trace.strip())
        if options.why_not is not None:
            cite: Citation = options.why_not
            if cite.manual_id not in (trace.manuals or (trace.manual_id,)):
                others = "other manuals" if trace.manuals else "another manual"
                raise InvalidParameter(f"the trace is of {others}: {trace.manual_id}")
            return show_fate(trace, cite, search_context(application), options)
        return show(_plain(trace), options, lambda _: _lines(trace, options))


def _lines(trace: Trace, options: Namespace) -> Iterator[str]:
    account = CoverageReport.of(trace)
    yield filled("trace {0} of {1}: {2}", trace.id, trace.manual_id, trace.text)
    sections = translated(counted(account.scanned_sections, "section"))
    files = translated(counted(account.scanned_files, "file"))
    counts = sections, account.sections, files, account.files
    yield filled("searched {0} of {1} in {2} of {3}", *counts)
    yield from map(_skipped, account.skipped)
    yield from (_term(required, known=trace.report.counted) for required in account.terms)
    yield filled(
        "at least {0} matched; {1} returned" if account.at_least else "{0} matched; {1} returned",
        account.matched,
        account.returned,
    )
    if trace.degraded:
        yield filled("degraded: {0}", translated(trace.degraded))
    yield from _unread(trace, account)
    if options.explain:
        for rank, row in enumerate(trace.search.rows, 1):
            signals = signals_line(row, counted=trace.report.counted)
            yield f"{rank}. {row.path}#L{row.start_line}  {row.score:.2f}; {signals}"
        yield from tree_lines(trace)
        yield translated(LEGEND)
    follow_up = _follow_up(trace, account)
    if follow_up is not None:
        arguments = json.dumps(follow_up, ensure_ascii=False)
        yield filled("next: {0}", command(options, "call", "manual_find", arguments))


def _skipped(skipped: Skipped) -> str:
    number = translated(counted(skipped.number, skipped.unit))
    return filled("not searched: {0}, {1}", number, translated(reason_text(skipped.reason)))


def _term(required: TermReport, *, known: bool) -> str:
    if required.elsewhere:
        where = translated(counted(required.elsewhere, "section"))
        return filled(
            "required term {0}: in no file of --prefix, in {1} elsewhere", required.term, where
        )
    where = translated(counted(required.sections, "section"))
    if not known:
        where = word("sections", "at least {0}").format(where)
    if not required.near:
        return filled("required term {0}: in {1}", required.term, where)
    near = listed(required.near)
    return filled("required term {0}: in {1}; near it: {2}", required.term, where, near)


def _unread(trace: Trace, account: CoverageReport) -> Iterator[str]:
    if not account.unread and not account.unranked:
        yield translated(
            "nothing that matched is unread"
            if trace.report.counted
            else "further sections may match: they were not counted"
        )
        return
    yield translated("still unread:")
    yield from table(
        [(f"  {_place(trace, out)}", translated(reason_text(out.reason))) for out in account.unread]
    )
    if account.unranked:
        more = counted(account.unranked, "matching section")
        rest = f"and {more} that ranked too low to be named; a search for the rest names them"
        yield f"  {translated(rest)}"


def _follow_up(trace: Trace, account: CoverageReport) -> dict[str, JsonValue] | None:
    """Return the arguments of a find for the remaining matches, or ``None``."""
    terms: list[JsonValue] = [required.term for required in account.terms]
    if not account.unranked or not terms:
        return None
    return {
        "query": trace.text,
        "manual_id": named_again(trace),
        "required_terms": terms,
        "only_unscanned_from_trace_id": trace.id,
    }


def _place(trace: Trace, out: LeftOut) -> str:
    return str(Citation(*trace.file(out.path), out.start_line))


def _ref(trace: Trace, out: LeftOut) -> dict[str, JsonValue]:
    """Return a reference to the file, with the manual if there are several."""
    manual_id, path = trace.file(out.path)
    return {"manual_id": manual_id, "path": path} if trace.manuals else {"path": path}


def _plain(trace: Trace) -> JsonValue:
    account = CoverageReport.of(trace)
    return {
        "trace_id": trace.id,
        "manual_id": trace.manual_id,
        "query": trace.text,
        "scope": {"files": account.files, "sections": account.sections},
        "scanned": {"files": account.scanned_files, "sections": account.scanned_sections},
        "matched": account.matched,
        "matched_at_least": account.at_least,
        "returned": account.returned,
        "skipped": [
            {"reason": item.reason, "unit": item.unit, "count": item.number}
            for item in account.skipped
        ],
        "terms": [
            {"term": item.term, "sections": item.sections, "near": [*item.near]}
            for item in account.terms
        ],
        "unread": [
            {**_ref(trace, out), "start_line": out.start_line, "reason": out.reason}
            for out in account.unread
        ],
        "unranked": account.unranked,
        "follow_up": _follow_up(trace, account),
        "degraded": trace.degraded,
    }
