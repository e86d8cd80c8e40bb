"""The lines below the hits: which terms were used, what was searched, and what to type next."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence

from fumishirube import Trace
from fumishirube.commands import command, counted, listed, reason_text
from fumishirube_manual.commands.results import SearchResults, picked
from fumishirube_manual.unread import loose_lines, unread_lines


def terms_lines(results: SearchResults) -> Iterator[str]:
    """Say which terms the sections should hold, who chose them, and where that failed."""
    if results.required:
        required_labels = [_required(term, results.traces) for term in results.required]
        yield f"required terms: {', '.join(required_labels)}"
        return
    groups: dict[tuple[str, ...], list[str]] = {}
    for trace in results.traces:
        chosen = picked(trace)
        if chosen is not None:
            labels = tuple(_picked(term, trace) for term in chosen)
            groups.setdefault(labels, []).append(trace.manual_id)
    for terms, manuals in groups.items():
        where = listed(manuals)
        if terms:
            yield f"picked terms: {', '.join(terms)} (the rarest words of the query in {where})"
        else:
            yield f"no word of the query stands in {where}; searched with the whole query"


def coverage_lines(results: SearchResults) -> Iterator[str]:
    """Say what was searched, how much of it matched, and what was not searched, and why."""
    scope = (
        f"searched {counted(results.sections(), 'section')} "
        f"in {counted(results.searched_files(), 'file')} of {_manuals(results)}"
    )
    yield f"{scope}; {_outcome(results)}"
    reasons: dict[str, list[str]] = {}
    for manual, row in results.skipped():
        reasons.setdefault(row.reason, []).append(f"{manual}/{row.path}")
    for reason, paths in sorted(reasons.items()):
        yield f"skipped {counted(len(paths), 'file')}, {reason_text(reason)}: {listed(paths)}"
    for manual, rows in results.unread.items():
        yield from unread_lines([row.model_dump() for row in rows], manual)
    yield from loose_lines(results.loose, "manuals")
    for line in results.degraded():
        yield f"degraded: {line}"


def account_line(results: SearchResults, options: Namespace) -> str:
    """Return the command that lists what is still unread, and the ids of manuals with matches."""
    accounts = zip(results.traces, results.accounts(), strict=True)
    traces = [trace for trace, account in accounts if account.matched] or results.traces
    if len(traces) == 1:
        return f"account: {command(options, 'coverage', traces[0].id)}"
    labels = [f"{trace.id} ({trace.manual_id})" for trace in traces]
    return f"account: {command(options, 'coverage')} TRACE; traces: {', '.join(labels)}"


def next_line(results: SearchResults, options: Namespace) -> str:
    """Return the command that takes the reader on."""
    shown = results.shown()
    if not shown:
        alone = len(results.traces) == 1
        words = ["toc", results.traces[0].manual_id] if alone else ["ls"]
    elif shown[0].row.path.lower().endswith(".json"):
        best = shown[0]
        words = ["scan", best.trace.manual_id, best.row.path, "--line", str(best.row.start_line)]
    else:
        words = ["read", shown[0].cite]
    return f"next: {command(options, *words)}"


def _manuals(results: SearchResults) -> str:
    return counted(len(results.traces), "manual")


def _outcome(results: SearchResults) -> str:
    matched, ranked = results.matched(), len(results.ranked())
    shown, least = len(results.shown()), results.least()
    if not matched:
        return "none matched"
    if shown == matched:
        return "1 matched and is listed" if matched == 1 else f"{matched} matched and are listed"
    if ranked == matched:
        return f"showing {shown} of {least}{matched}"
    if shown == ranked:
        return f"{least}{matched} matched; the best {ranked} are listed"
    return f"{least}{matched} matched; showing {shown} of the best {ranked}"


def _picked(term: str, trace: Trace) -> str:
    return f"{term} (too common, not applied)" if _is_dropped(term, trace) else term


def _required(term: str, traces: Sequence[Trace]) -> str:
    reports = [row for trace in traces for row in trace.report.terms if row.term == term]
    if not reports:
        return term
    total = sum(row.sections for row in reports)
    if not total:
        near = listed(dict.fromkeys(near for row in reports for near in row.near))
        hint = f"; near it: {near}" if near else ""
        return f"{term} (in no section; searched without it{hint})"
    where = f"in {counted(total, 'section')}"
    dropped = all(_is_dropped(term, trace) for trace in traces)
    return f"{term} ({where}: too common, not applied)" if dropped else f"{term} ({where})"


def _is_dropped(term: str, trace: Trace) -> bool:
    return any(row.dropped for row in trace.report.filtered if row.term == term)
