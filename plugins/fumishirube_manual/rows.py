"""The rows of a trace in the form of the tools' answers, and the signals of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pydantic import JsonValue

from fumishirube import Citation, Ranking, SurfaceContext, Trace, TraceRow
from fumishirube.text import fold
from fumishirube_manual.evidence.annotations import key_of, stored, stored_of, wording_of
from fumishirube_manual.evidence.lines import EvidenceLine
from fumishirube_manual.evidence.reader import Copy, ShownHit
from fumishirube_manual.sentences import defines, excepts

Json = dict[str, JsonValue]

SCORE_DIGITS = 4
CITED_DIGITS = 6
HEADING_SEPARATOR = " > "
_SCHEME, _MARKS = "manual://", frozenset("%#")
_EXCEPTIONS = "exceptions"

_OF_STAGES = frozenset(
    {
        "exact",
        "required_term",
        "required_term_and",
        "required_terms_rrf",
        "gate_rrf",
        "phrase",
        "anchor",
        "number_context",
        "proximity",
        "code_exact",
        "prf",
        "exploration",
        "query_decomp_rrf",
    }
)


def candidate(trace: Trace, row: TraceRow, extras: Sequence[str]) -> Json:
    """Return a row of ``candidates``; the answer gives the id of a single manual only once."""
    ref = ref_of(trace, row.path, row.start_line)
    if not trace.manuals:
        del ref["manual_id"]
    return {"ref": ref, **_scored(trace, row, extras)}


def integrated(trace: Trace, row: TraceRow, extras: Sequence[str]) -> Json:
    """Return a row of ``integrated_top``, with the title and the id of the manual."""
    ref = ref_of(trace, row.path, row.start_line)
    return {"ref": ref, "title": row.title, **_scored(trace, row, extras)}


def _scored(trace: Trace, row: TraceRow, extras: Sequence[str]) -> Json:
    item: Json = {"score": round(row.score, SCORE_DIGITS), "matched_tokens": _longest(row.matched)}
    if "cite" in extras or "lines" in extras:
        item["end_line"] = row.end_line
    if "cite" in extras:
        item["cite"] = f"@{row.digest[:CITED_DIGITS]}"
    if "lines" in extras and row.ancestors:
        item["headings"] = HEADING_SEPARATOR.join(row.ancestors)
    for extra in ("refers_to", "addressed"):
        if extra in extras and (values := stored_of(trace, extra, row)):
            item[extra] = values
    return item


def ref_of(trace: Trace, path: str, start_line: int | None) -> Json:
    """Return the reference to a section, or to a file, that other tools accept."""
    manual_id, inner = trace.file(path)
    return {"manual_id": manual_id, "path": inner, "start_line": start_line}


def cited_path(path: str, manual_id: str | None = None) -> str:
    """Return the place of a file, as the beginning of a citation if its manual must be named.

    Marks of citations in its path are escaped, so that it can be read back.
    """
    if _MARKS.isdisjoint(path):
        return path if manual_id is None else f"{_SCHEME}{manual_id}/{path}"
    cited = str(Citation(manual_id or "-", path))
    return cited if manual_id is not None else cited.removeprefix(f"{_SCHEME}-/")


def shown_row(trace: Trace, item: Json, hit: ShownHit) -> Json:
    """Return a row with its evidence and its copies."""
    extra: Json = {}
    if wording := wording_of(hit.row):
        extra["alternative"] = wording
    if hit.evidence.block:
        extra["within"] = hit.evidence.block
    if hit.evidence.lines:
        extra["lines"] = line_pairs(hit.evidence.lines)
        if hit.evidence.whole:
            extra["whole"] = True
    if (place := hit.evidence.place) is not None:
        extra |= place.keys()
        if "cite" in item:
            extra["cite"] = f"#{place.place}@{place.digest[:CITED_DIGITS]}"
    if hit.evidence.exceptions:
        extra["exceptions"] = [hit.row.end_line + 1, hit.evidence.exceptions]
    if hit.copies:
        extra["also"] = [_copy(trace, copy, hit.row.path) for copy in hit.copies]
    return item | extra


def _copy(trace: Trace, copy: Copy, path: str) -> JsonValue:
    """Return the place of a copy, without the path if it is ``path``, and in what it differs.

    The manual is named if it is another one than that of ``path``.
    """
    manual_id, inner = trace.file(copy.row.path)
    other = manual_id if manual_id != trace.file(path)[0] else None
    place = "" if copy.row.path == path else cited_path(inner, other)
    ref = f"{place}#L{copy.row.start_line}"
    differences: Json = {}
    if copy.lacks:
        differences["lacks"] = [*copy.lacks]
    if copy.lines:
        differences["lines"] = line_pairs(copy.lines)
    return {"at": ref, **differences} if differences else ref


def line_pairs(lines: Sequence[EvidenceLine]) -> list[JsonValue]:
    """Return lines in the form of the answers: pairs of a number and a text."""
    return [[line.number, line.text] for line in lines]


def _longest(spans: Sequence[str]) -> list[JsonValue]:
    """Return each span once, without those that are part of another."""
    each = dict.fromkeys(spans)
    return [span for span in each if not any(span in other for other in each if other != span)]


def with_exceptions(context: SurfaceContext, trace: Trace, rank: Callable[[], Ranking]) -> Trace:
    """Store which hits have a word of exceptions, if the query asks for exceptions and has time."""
    known = _EXCEPTIONS in trace.annotations or trace.report.out_of_time
    if known or not excepts(fold(trace.text)):
        return trace
    passages = [hit.passage for hit in rank().hits]
    excepting = [each for each in passages if excepts("\n".join(each.fields.values()))]
    return context.annotate(trace, _EXCEPTIONS, [key_of(*each.key) for each in excepting])


def signals(trace: Trace, row: TraceRow) -> list[str]:
    """Return the signals of a hit, sorted."""
    names = _OF_STAGES.intersection(row.labels)
    if defines(fold(row.title)) and defines(fold(trace.text)):
        names |= {"definition_title"}
    if key_of(row.path, row.start_line) in (stored(trace, _EXCEPTIONS, list) or ()):
        names |= {"exceptions"}
    return sorted(names)
