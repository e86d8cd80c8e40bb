"""The lines of a search in a terminal: its hits, the account of it, and the next command."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator

from fumishirube import SurfaceContext, Trace, TraceRow
from fumishirube.commands import (
    Emphasised,
    clipped,
    command,
    counted,
    emphasised,
    listed,
    reason_text,
    strip_controls,
    terminal_width,
    translated,
    width,
)
from fumishirube.text import places_of
from fumishirube_manual.commands.explanations import LEGEND, signals_line, tree_lines
from fumishirube_manual.commands.results import SearchResults, TracedHit
from fumishirube_manual.coverage import loose_lines, unread_lines
from fumishirube_manual.evidence.excerpts import excerpt, line_weight
from fumishirube_manual.evidence.reader import EvidenceReader
from fumishirube_manual.vocabulary import vocabulary_of

_LINES = 3
_INDENT = "   "
_SHORT_ID = 8
"""Characters of a trace's id that commands print and take; see ``TraceStore.named``."""

_HARMLESS = frozenset({"navigation_file"})


def result_lines(
    results: SearchResults, context: SurfaceContext, options: Namespace
) -> Iterator[str | Emphasised]:
    """Yield the hits with their lines, then notes on the search."""
    columns = terminal_width()
    reader = EvidenceReader(context, results.trace)
    for rank, hit in enumerate(results.shown(), 1):
        yield from _head(rank, hit, columns)
        yield from _hit_lines(reader, hit.row, columns)
        if options.explain:
            yield _INDENT + signals_line(hit.row)
        yield ""
    for note in _notes(results, options):
        yield emphasised(translated(note), "note")


def _notes(results: SearchResults, options: Namespace) -> Iterator[str]:
    """Yield what was searched, and what to do next; with ``--verbose`` all that is known."""
    hits = results.trace.search.rows
    everything = options.verbose or options.explain
    if not hits:
        yield "nothing found"
    if everything or results.required or not hits:
        yield from _terms_lines(results)
    if everything:
        yield from _vocabulary_lines(results)
    aside = None if everything else _aside_line(results)
    yield "; ".join(filter(None, (_summary_line(results), aside)))
    yield from _outside_lines(results) if everything else ()
    yield from (f"degraded: {line}" for line in results.degraded())
    if options.explain:
        yield from tree_lines(results.trace)
        yield LEGEND
    if everything:
        yield f"account: {command(options, 'coverage', results.trace.id[:_SHORT_ID])}"
    yield _next_line(results, options)


def _head(rank: int, hit: TracedHit, columns: int) -> Iterator[Emphasised]:
    row = hit.row
    head = f"{rank}. "
    tail = f"  {row.score:.2f}"
    title = clipped(strip_controls(row.title), columns - len(head) - len(tail))
    yield Emphasised(head + title + tail, [(len(head), len(head) + len(title))], "title")
    cite = _INDENT + hit.cite
    yield Emphasised(cite, [(len(_INDENT), len(cite))], "place")


def _hit_lines(reader: EvidenceReader, row: TraceRow, columns: int) -> Iterator[Emphasised]:
    """Yield up to three lines of a hit, by number; none when its text has changed or gone."""
    weights = reader.weights(row)
    lines = reader.evidence(row, _LINES * columns).lines
    best = sorted(lines, key=lambda line: -line_weight(line.text, weights))[:_LINES]
    for number, line in sorted(best):
        head, text = f"{_INDENT}{number}: ", strip_controls(line).strip()
        room = columns - len(head)
        if width(text) > room:
            # An East Asian character takes two columns, and so do the marks of what was cut off.
            most = (room - 4) * len(text) // width(text)
            text = clipped(excerpt(text, most, weights), room)
        spans = places_of(row.matched, text)
        shifted = [(start + len(head), end + len(head)) for start, end in spans]
        yield Emphasised(head + text, shifted)


def _terms_lines(results: SearchResults) -> Iterator[str]:
    """Describe the required terms, who chose them, and where they failed."""
    if results.required:
        required_labels = [_required(term, results.trace) for term in results.required]
        yield f"required terms: {', '.join(required_labels)}"
        return
    chosen = results.trace.report.picked
    if chosen:
        where = listed(results.manuals)
        terms = [_picked(term, results.trace) for term in chosen]
        yield f"picked terms: {', '.join(terms)} (the rarest words of the query in {where})"
    elif chosen is not None:
        yield "no terms were picked; searched with the whole query"


def _vocabulary_lines(results: SearchResults) -> Iterator[str]:
    """List words of the glossary; suggest the manual's own, if those of the query are not there."""
    for word, others in results.trace.origin.query.synonyms:
        yield f"glossary: searched {', '.join(map(strip_controls, others))} beside {word}"
    words = vocabulary_of(results.trace)
    if words:
        yield f"the manual's words: {', '.join(map(strip_controls, words))}"


def _summary_line(results: SearchResults) -> str:
    manuals = counted(len(results.manuals), "manual")
    files = f"{counted(results.account.scanned_files, 'file')} of {manuals}"
    sections = counted(results.trace.sections, "section")
    return f"searched {sections} in {files}; {_outcome(results)}"


def _aside_line(results: SearchResults) -> str | None:
    """Count the files that were not searched, unless they hold no text of their own."""
    skipped = sum(reason not in _HARMLESS for _, _, reason in results.skipped())
    unread = sum(row.count for rows in results.unread.values() for row in rows)
    files = skipped + unread + len(results.loose)
    return f"{counted(files, 'file')} not searched (-v: which)" if files else None


def _outside_lines(results: SearchResults) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for manual, path, reason in results.skipped():
        reasons.setdefault(reason, []).append(f"{manual}/{path}")
    for reason, paths in sorted(reasons.items()):
        yield f"skipped {counted(len(paths), 'file')}, {reason_text(reason)}: {listed(paths)}"
    for manual, rows in results.unread.items():
        yield from unread_lines([row.model_dump() for row in rows], manual)
    yield from loose_lines(results.loose, "manuals")


def _next_line(results: SearchResults, options: Namespace) -> str:
    shown = results.shown()
    if not shown and (present := _in_headings(results)):
        following = command(options, "grep", places=present)
    elif not shown and results.trace.manuals:
        following = command(options, "ls")
    elif not shown:
        following = command(options, "toc", places=[results.trace.manual_id])
    elif shown[0].row.path.lower().endswith(".json"):
        line = ("--line", str(shown[0].row.start_line))
        following = command(options, "scan", line, places=shown[0].place)
    else:
        following = command(options, "read", shown[0].cite)
    return f"next: {following}"


def _in_headings(results: SearchResults) -> list[str]:
    """Return the terms that only headings without text have, which no search ranks."""
    rows = results.trace.report.terms
    return [row.term for row in rows if row.sections] if not results.account.matched else []


def _outcome(results: SearchResults) -> str:
    account = results.account
    matched, ranked = account.matched, len(results.trace.search.rows)
    shown, least = len(results.shown()), "at least " if account.at_least else ""
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


def _required(term: str, trace: Trace) -> str:
    report = next((row for row in trace.report.terms if row.term == term), None)
    if report is None:
        return term
    if not report.sections:
        hint = f"; near it: {listed(report.near)}" if report.near else ""
        return f"{term} (in no section; searched without it{hint})"
    where = f"in {counted(report.sections, 'section')}"
    dropped = _is_dropped(term, trace)
    return f"{term} ({where}: too common, not applied)" if dropped else f"{term} ({where})"


def _is_dropped(term: str, trace: Trace) -> bool:
    return any(row.dropped for row in trace.report.filtered if row.term == term)
