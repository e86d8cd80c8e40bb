"""The compact answer of ``manual_find``."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, JsonValue

from fumishirube import Answer, CoverageReport, SurfaceContext, Trace
from fumishirube.text import estimate_tokens, fold, mentions
from fumishirube.tools import OrAbsent, compact
from fumishirube_manual.coverage import (
    EXCLUDED,
    NEVER_SEARCHED,
    Coverage,
    UnreadRow,
    coverage_of,
    unread_rows,
)
from fumishirube_manual.diagnosis import Answerable, Diagnosis, Status, answerable, proves_nothing
from fumishirube_manual.evidence.names import APART, NOWHERE, absent_of, names_of
from fumishirube_manual.evidence.reader import EvidenceReader, ShownHit
from fumishirube_manual.evidence.shown_hits import LINE_CHARS, shown_hits
from fumishirube_manual.rows import integrated, line_pairs, ref_of, shown_row
from fumishirube_manual.surface import ManualSurface
from fumishirube_manual.vocabulary import vocabulary_of


class InlinePage(Answer):
    """The first page of ``integrated_top``.

    If copies are folded, ``manual_hits`` continues at ``next_offset``.
    """

    trace_id: str
    kind: Literal["integrated_top"]
    offset: int
    limit: int
    total: int
    items: tuple[dict[str, JsonValue], ...]
    next_offset: OrAbsent[int] = None


class ShownSize(NamedTuple):
    """The number of hits in an answer, and about the characters of their lines, if requested."""

    hits: int
    chars: int | None


class FindAnswer(Answer):
    """The compact answer; ``manual_hits`` returns the rest by the trace id."""

    trace_id: str
    candidates: int
    status: Status
    failure_reason: str | None
    next_actions: tuple[dict[str, JsonValue], ...]
    inline_hits: InlinePage
    answerable: Annotated[
        OrAbsent[Answerable],
        Field(description="Whether all that was asked stands together in what was found."),
    ] = None
    missing: Annotated[
        OrAbsent[tuple[str, ...]],
        Field(description="Words that stand in none of the best sections."),
    ] = None
    nowhere: Annotated[
        OrAbsent[tuple[str, ...]], Field(description="Those of the missing words in no section.")
    ] = None
    apart: Annotated[
        OrAbsent[tuple[str, ...]],
        Field(description="Those in no section that has the required terms."),
    ] = None
    vocabulary: Annotated[
        OrAbsent[tuple[str, ...]],
        Field(description="Words of this manual near the best hits, to add to the query."),
    ] = None
    glossary: Annotated[
        OrAbsent[dict[str, tuple[str, ...]]],
        Field(description="Words of the glossary, and what was searched beside each."),
    ] = None
    unmet: Annotated[
        OrAbsent[tuple[int, ...]],
        Field(description="Alternatives of which none of the best sections holds most."),
    ] = None
    names: Annotated[
        OrAbsent[tuple[dict[str, JsonValue], ...]],
        Field(description="Options, identifiers and codes of the wordings outside these hits."),
    ] = None
    terms: Annotated[
        OrAbsent[tuple[tuple[JsonValue, ...], ...]],
        Field(description="What each required term did, in how many sections it is, near words."),
    ] = None
    manuals: Annotated[
        OrAbsent[tuple[str, ...]], Field(description="The ids of the manuals, of several.")
    ] = None
    coverage: OrAbsent[Coverage] = None
    est_tokens: Annotated[OrAbsent[int], Field(description="About how many tokens this is.")] = None
    degraded: OrAbsent[str] = None
    unread_files: OrAbsent[tuple[UnreadRow, ...]] = None


def find_answer(
    context: SurfaceContext,
    trace: Trace,
    diagnosis: Diagnosis,
    account: CoverageReport,
    shown: ShownSize,
    settings: ManualSurface,
) -> FindAnswer:
    """Return the answer that every client gets, with the extra keys that the settings name."""
    rows, extras = trace.search.rows, settings.extras
    page = _page(context, trace, shown, extras)
    judged = "answerable" in extras and not proves_nothing(trace)
    answer = FindAnswer(
        trace_id=trace.id,
        candidates=len(rows),
        status=diagnosis.status,
        failure_reason=diagnosis.failure_reason,
        next_actions=(),
        inline_hits=InlinePage(
            trace_id=trace.id,
            kind="integrated_top",
            offset=0,
            limit=shown.hits,
            total=len(rows),
            items=page.items,
            next_offset=page.covered if page.covered != len(page.items) else None,
        ),
        answerable=answerable(trace) if judged else None,
        missing=page.missing or None if judged else None,
        nowhere=absent_of(trace, NOWHERE, page.missing) or None,
        apart=absent_of(trace, APART, page.missing) or None,
        unmet=page.unmet or None,
        names=page.names or None if "names" in extras else None,
        vocabulary=vocabulary_of(trace) or None if "vocabulary" in extras else None,
        glossary={row.word: row.others for row in trace.origin.query.synonyms} or None,
        terms=tuple(_term_effects(trace)) or None if "terms" in extras else None,
        manuals=trace.manuals or None,
        coverage=coverage_of(account, diagnosis.cutoff_reason)
        if _reports_coverage(account, diagnosis, extras)
        else None,
        degraded=trace.degraded if extras else None,
        unread_files=unread_rows(context, settings, *(trace.manuals or (trace.manual_id,))),
    )
    if "est_tokens" in extras:
        return answer.model_copy(update={"est_tokens": tokens(answer)})
    return answer


class _Page(NamedTuple):
    """The best hits, the number of rows that they cover, and missing words and wordings."""

    items: tuple[Any, ...]
    covered: int
    missing: tuple[str, ...] = ()
    unmet: tuple[int, ...] = ()
    names: tuple[Any, ...] = ()


def _page(context: SurfaceContext, trace: Trace, shown: ShownSize, extras: Sequence[str]) -> _Page:
    rows = trace.search.rows
    if "lines" not in extras:
        first = rows[: shown.hits]
        return _Page(tuple(integrated(trace, row, extras) for row in first), len(first))
    reader = EvidenceReader(context, trace, places="documents" in extras)
    hits, covered = shown_hits(reader, rows, shown.hits, shown.chars, folded="also" in extras)
    return _Page(
        tuple(_items(trace, hits, covered, extras)),
        covered,
        tuple(reader.missing_words(row for hit in hits for row in hit.rows)),
        tuple(reader.unmet_wordings(row for hit in hits for row in hit.rows)),
        tuple(_other_names(trace, reader, hits)),
    )


def _items(
    trace: Trace, hits: Sequence[ShownHit], covered: int, extras: Sequence[str]
) -> Iterator[dict[str, JsonValue]]:
    """Yield the hits; those below the covered rows, shown for a passage, with their rank."""
    ranks = {id(row): rank for rank, row in enumerate(trace.search.rows, 1)}
    for hit in hits:
        rank = ranks[id(hit.row)]
        later = {"rank": rank} if rank > covered else {}
        yield shown_row(trace, integrated(trace, hit.row, extras) | later, hit)


def _other_names(
    trace: Trace, reader: EvidenceReader, hits: Sequence[ShownHit]
) -> Iterator[dict[str, JsonValue]]:
    """Yield each rare name of the wordings that no hit shows, with its most relevant line."""
    texts = [text for hit in hits for text in (hit.row.title, *hit.row.ancestors)]
    shown = fold("\n".join([*texts, *(line.text for hit in hits for line in hit.evidence.lines)]))
    for place in names_of(trace):
        if mentions(shown, fold(place.name)):
            continue
        item: dict[str, JsonValue] = {"name": place.name, "sections": place.sections}
        section = reader.section(place.row) if place.sections else None
        if section and (line := section.line_with(place.name, LINE_CHARS)):
            item["ref"] = ref_of(trace, place.path, place.start_line)
            item["lines"] = line_pairs([line])
        yield item


def _reports_coverage(account: CoverageReport, diagnosis: Diagnosis, extras: Sequence[str]) -> bool:
    """Tell whether the answer reports coverage: always, or only if something was not searched.

    That is also so if there are no hits and something was excluded.
    """
    if "coverage" in extras:
        return True
    skipped = {row.reason for row in account.skipped}
    unsearched = skipped - NEVER_SEARCHED or (not account.returned and skipped & EXCLUDED)
    return "unsearched" in extras and bool(unsearched or diagnosis.cutoff_reason == "time_budget")


def _term_effects(trace: Trace) -> Iterator[tuple[JsonValue, ...]]:
    """Yield each required term with its effect and the number of sections that contain it.

    A term that occurs nowhere is followed by near spellings; what is incomplete proves nothing. One
    that is only outside the searched files has the number of sections there.
    """
    report = trace.report
    for term in report.terms:
        if term.elsewhere:
            yield (term.term, "elsewhere", term.elsewhere)
        elif not term.sections and not report.incomplete:
            yield (term.term, "nowhere", 0, *term.near)
        elif term.term not in report.effective:
            yield (term.term, "too_common", term.sections)
        else:
            yield (term.term, "ranked" if term.returned else "no_hits", term.sections)


def tokens(answer: Answer) -> int:
    """Return the approximate number of tokens of an answer, sent as one line of JSON."""
    return estimate_tokens(compact(answer.model_dump(mode="json")))
