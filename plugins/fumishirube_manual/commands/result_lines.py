"""The lines of a search in a terminal: its hits, the account of it, and the next command."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import Any

from fumishirube import SurfaceContext, Trace, TraceRow
from fumishirube.commands import (
    Emphasised,
    clipped,
    command,
    counted,
    emphasised,
    filled,
    listed,
    reason_text,
    strip_controls,
    terminal_width,
    translated,
    width,
    word,
)
from fumishirube.text import fold, places_of
from fumishirube_manual.commands.explanations import LEGEND, signals_line, tree_lines
from fumishirube_manual.commands.results import CitedHit, SearchResults
from fumishirube_manual.commands.unread import loose_lines, unread_lines
from fumishirube_manual.diagnosis import answerable
from fumishirube_manual.evidence.annotations import stored_of
from fumishirube_manual.evidence.excerpts import excerpt, line_weight
from fumishirube_manual.evidence.names import nowhere_of
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
    for rank, hit in enumerate(results.shown, 1):
        yield from _head(rank, hit, columns)
        yield from _hit_lines(reader, hit.row, columns)
        yield from (emphasised(_INDENT + note, "note") for note in _tags(results.trace, hit.row))
        if options.explain:
            yield _INDENT + signals_line(hit.row)
        yield ""
    for note in _notes(results, options):
        yield emphasised(note, "note")


def _notes(results: SearchResults, options: Namespace) -> Iterator[str]:
    """Yield what was searched, and what to do next; with ``--verbose`` all that is known."""
    hits = results.trace.search.rows
    everything = options.verbose or options.explain
    if not hits:
        yield translated("nothing found")
    if everything or results.trace.required or not hits:
        yield from _terms_lines(results)
    yield from _absent_lines(results.trace)
    if everything:
        yield from _vocabulary_lines(results)
    aside = None if everything else _aside_line(results)
    yield translated("; ".join(filter(None, (_summary_line(results), aside))))
    yield from _outside_lines(results) if everything else ()
    yield from (filled("degraded: {0}", translated(line)) for line in results.degraded())
    if options.explain:
        yield from tree_lines(results.trace)
        yield translated(LEGEND)
    if everything:
        yield filled("account: {0}", command(options, "coverage", results.trace.id[:_SHORT_ID]))
    yield _next_line(results, options)


def _head(rank: int, hit: CitedHit, columns: int) -> Iterator[Emphasised]:
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


def _tags(trace: Trace, row: TraceRow) -> Iterator[str]:
    """Say which lines of a hit address an agent, with the reasons, which are not translated."""
    tags: list[Any] = stored_of(trace, "addressed", row)
    for tag in tags:
        note = "lines {0} to {1} address an AI agent: {2}"
        yield filled(note, tag["start_line"], tag["end_line"], ", ".join(tag["reasons"]))


def _terms_lines(results: SearchResults) -> Iterator[str]:
    """Describe the required terms, who chose them, and where they failed."""
    if results.trace.required:
        required_labels = [_required(term, results.trace) for term in results.trace.required]
        yield filled("required terms: {0}", ", ".join(required_labels))
        return
    chosen, where = results.trace.report.picked, _listed(results.manuals)
    if chosen:
        terms = ", ".join(_picked(term, results.trace) for term in chosen)
        yield filled("picked terms: {0} (the rarest words of the query in {1})", terms, where)
    elif chosen is not None:
        yield "no terms were picked; searched with the whole query"


def _absent_lines(trace: Trace) -> Iterator[str]:
    """Name the words that are in no section; say so if no section has those of the query."""
    required = {*map(fold, trace.required)}
    if words := [word for word in nowhere_of(trace) if fold(word) not in required]:
        yield filled("in no section: {0}", ", ".join(map(strip_controls, words)))
    unproven = trace.report.incomplete or trace.report.out_of_time
    if trace.search.rows and not unproven and answerable(trace) == "no":
        yield translated(
            "no searched section has the words of the question together; it may have no answer"
        )


def _vocabulary_lines(results: SearchResults) -> Iterator[str]:
    """List words of the glossary; suggest the manual's own, if those of the query are not there."""
    for term, others in results.trace.origin.query.synonyms:
        synonyms = ", ".join(map(strip_controls, others))
        yield filled("glossary: searched {0} beside {1}", synonyms, term)
    words = vocabulary_of(results.trace)
    if words:
        yield filled("the manual's words: {0}", ", ".join(map(strip_controls, words)))


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
        files, why = translated(counted(len(paths), "file")), translated(reason_text(reason))
        yield filled("skipped {0}, {1}: {2}", files, why, _listed(paths))
    for manual, rows in results.unread.items():
        yield from unread_lines([row.model_dump() for row in rows], manual)
    yield from loose_lines(results.loose, "manuals")


def _next_line(results: SearchResults, options: Namespace) -> str:
    shown = results.shown
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
    return filled("next: {0}", following)


def _in_headings(results: SearchResults) -> list[str]:
    """Return the terms that only headings without text have, which no search ranks."""
    rows = results.trace.report.terms
    return [row.term for row in rows if row.sections] if not results.account.matched else []


def _outcome(results: SearchResults) -> str:
    account = results.account
    matched, ranked = account.matched, len(results.trace.search.rows)
    shown, least = len(results.shown), "at least " if account.at_least else ""
    if not matched:
        return "none matched"
    if shown == matched and not account.at_least:
        return "1 matched and is listed" if matched == 1 else f"{matched} matched and are listed"
    if ranked == matched:
        return f"showing {shown} of {least}{matched}"
    if shown == ranked:
        return f"{least}{matched} matched; the best {ranked} are listed"
    return f"{least}{matched} matched; showing {shown} of the best {ranked}"


def _picked(term: str, trace: Trace) -> str:
    return filled("{0} (too common, not applied)", term) if _is_dropped(term, trace) else term


def _required(term: str, trace: Trace) -> str:
    report = next((row for row in trace.report.terms if row.term == term), None)
    if report is None:
        return term
    if report.elsewhere:
        where = translated(counted(report.elsewhere, "section"))
        note = "{0} (in no file of --prefix, in {1} elsewhere; searched without it)"
        return filled(note, term, where)
    if not report.sections:
        if not report.near:
            return filled("{0} (in no section; searched without it)", term)
        near = _listed(report.near)
        return filled("{0} (in no section; searched without it; near it: {1})", term, near)
    where = translated(counted(report.sections, "section"))
    if _is_dropped(term, trace):
        return filled("{0} (in {1}: too common, not applied)", term, where)
    return word("term", "{0} (in {1})").format(term, where)


def _listed(names: Sequence[str]) -> str:
    """Return names as :func:`listed` does; its own words are translated, and they are not."""
    return filled(listed(f"{{{number}}}" for number, _ in enumerate(names)), *names)


def _is_dropped(term: str, trace: Trace) -> bool:
    return any(row.dropped for row in trace.report.filtered if row.term == term)
