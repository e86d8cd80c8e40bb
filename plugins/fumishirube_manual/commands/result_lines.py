"""The lines of a search in a terminal: its hits, the account of it, and the next command."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence

from fumishirube import SurfaceContext, Trace, TraceRow
from fumishirube.commands import (
    Emphasised,
    clipped,
    command,
    counted,
    listed,
    reason_text,
    strip_controls,
    width,
)
from fumishirube.text import places_of
from fumishirube_manual.commands.results import SearchResults
from fumishirube_manual.evidence.concept_weights import ConceptWeight
from fumishirube_manual.evidence.excerpts import excerpt, line_weight
from fumishirube_manual.evidence.reader import EvidenceReader
from fumishirube_manual.unread import loose_lines, unread_lines
from fumishirube_manual.vocabulary import vocabulary_of

LINES = 3
_INDENT = "   "
SHORT_ID = 8
"""Characters of a trace's id that commands print and take; see ``TraceStore.named``."""

_HARMLESS = frozenset({"navigation_file"})


class HitLines:
    """Shows the lines of a search's hits that bear most on its question."""

    def __init__(self, context: SurfaceContext, trace: Trace, columns: int) -> None:
        self._reader = EvidenceReader(context, trace)
        self._columns = columns

    def of(self, row: TraceRow) -> Iterator[Emphasised]:
        """Yield up to three lines of a hit, by number; none when its text has changed or gone."""
        weights = self._reader.weights(row)
        lines = self._reader.evidence(row, LINES * self._columns).lines
        best = sorted(lines, key=lambda line: -line_weight(line.text, weights))[:LINES]
        for number, line in sorted(best):
            head = f"{_INDENT}{number}: "
            text = self._fitting(strip_controls(line).strip(), len(head), weights)
            spans = places_of(row.matched, text)
            shifted = [(start + len(head), end + len(head)) for start, end in spans]
            yield Emphasised(head + text, shifted)

    def _fitting(self, text: str, indent: int, weights: Sequence[ConceptWeight]) -> str:
        """Cut a line to the width that remains, around what matters."""
        room = self._columns - indent
        if width(text) <= room:
            return text
        # An East Asian character takes two columns, and so do the marks of what was cut off.
        return clipped(excerpt(text, (room - 4) * len(text) // width(text), weights), room)


def terms_lines(results: SearchResults) -> Iterator[str]:
    """Describe the required terms, who chose them, and where they failed."""
    if results.required:
        required_labels = [_required(term, results.trace) for term in results.required]
        yield f"required terms: {', '.join(required_labels)}"
        return
    chosen, where = results.trace.report.picked, listed(results.manuals)
    if chosen:
        terms = [_picked(term, results.trace) for term in chosen]
        yield f"picked terms: {', '.join(terms)} (the rarest words of the query in {where})"
    elif chosen is not None:
        yield f"no word of the query occurs in {where}; searched with the whole query"


def vocabulary_lines(results: SearchResults) -> Iterator[str]:
    """List words of the glossary; suggest the manual's own, if those of the query are not there."""
    for word, others in results.trace.origin.query.synonyms:
        yield f"glossary: searched {', '.join(map(strip_controls, others))} beside {word}"
    words = vocabulary_of(results.trace)
    if words:
        yield f"the manual's words: {', '.join(map(strip_controls, words))}"


def summary_line(results: SearchResults) -> str:
    """Describe what was searched, and how much of it matched, in one line."""
    scope = (
        f"searched {counted(results.trace.sections, 'section')} "
        f"in {counted(results.account.scanned_files, 'file')} of {_manuals(results)}"
    )
    return f"{scope}; {_outcome(results)}"


def aside_line(results: SearchResults) -> str | None:
    """Count the files that were not searched, unless they hold no text of their own."""
    skipped = sum(reason not in _HARMLESS for _, _, reason in results.skipped())
    unread = sum(row.count for rows in results.unread.values() for row in rows)
    files = skipped + unread + len(results.loose)
    return f"{counted(files, 'file')} not searched (-v: which)" if files else None


def outside_lines(results: SearchResults) -> Iterator[str]:
    """Describe what was not searched, and why."""
    reasons: dict[str, list[str]] = {}
    for manual, path, reason in results.skipped():
        reasons.setdefault(reason, []).append(f"{manual}/{path}")
    for reason, paths in sorted(reasons.items()):
        yield f"skipped {counted(len(paths), 'file')}, {reason_text(reason)}: {listed(paths)}"
    for manual, rows in results.unread.items():
        yield from unread_lines([row.model_dump() for row in rows], manual)
    yield from loose_lines(results.loose, "manuals")


def degraded_lines(results: SearchResults) -> Iterator[str]:
    """Describe what went wrong in the search."""
    for line in results.degraded():
        yield f"degraded: {line}"


def account_line(results: SearchResults, options: Namespace) -> str:
    """Return the command that lists the unread matches, with the beginning of the trace's id."""
    return f"account: {command(options, 'coverage', results.trace.id[:SHORT_ID])}"


def next_line(results: SearchResults, options: Namespace) -> str:
    """Return the next command for the reader."""
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


def _manuals(results: SearchResults) -> str:
    return counted(len(results.manuals), "manual")


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
