"""The record of one search: the spans of its stages, and everything that decided it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from pydantic import JsonValue

from fumishirube.model import LeftOut, OutsideSearch, SearchReport, Skipped, TermReport
from fumishirube.query import Query

SpanKind: TypeAlias = Literal["search", "run", "scorer", "fuser", "refiner"]
CacheMode: TypeAlias = Literal["bypass", "miss", "exact", "semantic", "guard_revalidate"]


class CacheOutcome(NamedTuple):
    """The cache's part in an answer.

    ``score`` is the similarity of a semantic hit. ``saved_ms`` is the time that the cached answer
    saved, never negative. ``guard_revalidate`` is a search that was repeated because the cached
    answer had too many gaps or conflicts.
    """

    mode: CacheMode = "bypass"
    score: float | None = None
    saved_ms: float | None = None

    @property
    def used(self) -> bool:
        """Whether the cache was used at all."""
        return self.mode != "bypass"

    @property
    def hit(self) -> bool:
        """Whether the answer came from the cache."""
        return self.mode in ("exact", "semantic")


class Thresholds(NamedTuple):
    """When a result counts as thin, by its rows, or as lopsided, by the share of one file."""

    candidate_low: int = 3
    file_bias: float = 0.8


@dataclass(frozen=True, kw_only=True)
class SearchAssessment:
    """A surface's assessment of a search, for the cache's guards and the statistics.

    ``recall_ok`` says whether one of the best rows contains a requested term of the manual.
    ``tokens`` is the estimated size of the answer. ``marginal_gain`` is the share of new rows among
    all rows of the searches that this one follows up.
    """

    status: str | None
    cutoff_reason: str | None = None
    recall_ok: bool | None = None
    gaps: int = 0
    conflicts: int = 0
    unscanned: int | None = None
    tokens: int | None = None
    marginal_gain: float | None = None


class PipelineSnapshot(NamedTuple):
    """A pipeline at the time of a search; ``stages`` are as in the configuration, all settings set.

    ``name`` is the key of the pipeline, and ``surface`` the surface that searched. ``makers`` are
    the plugins of the stages, each with its distribution and version.
    """

    surface: str = ""
    name: str = ""
    fingerprint: str = ""
    stages: Mapping[str, JsonValue] = {}
    makers: Mapping[str, str] = {}


@dataclass(frozen=True)
class Origin:
    """Everything that decided a search: query, pipeline, and fingerprint of the files."""

    recipe: PipelineSnapshot = field(default_factory=PipelineSnapshot)
    corpus: str = ""
    query: Query = field(default_factory=lambda: Query(""))


@dataclass(frozen=True)
class Span:
    """One step of a stage: its start, its duration, and the resulting ranking. Spans form a tree.

    Its ``kind`` is ``search``, ``run``, ``scorer``, ``fuser`` or ``refiner``. A scorer's span has
    no rows: its results are the signals in the rows of its run. ``must`` are the required terms of
    a run. ``out_of_time`` says that the deadline stopped the stage early.
    """

    name: str
    kind: SpanKind
    started_ms: float
    ms: float
    rows: tuple[TraceRow, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    diagnostics: Mapping[str, JsonValue] = field(default_factory=dict)
    weight: float = 1.0
    error: str | None = None
    children: tuple[Span, ...] = ()
    must: tuple[str, ...] = ()
    out_of_time: bool = False

    @property
    def label(self) -> str:
        """Its kind and name; once, if they are equal."""
        return self.kind if self.kind == self.name else f"{self.kind} {self.name}"

    def walk(self, depth: int = 0) -> Iterator[tuple[Span, int]]:
        """Yield the span and all below it, each before its children and with its depth."""
        yield self, depth
        for child in self.children:
            yield from child.walk(depth + 1)


class TraceRow(NamedTuple):
    """A hit without its text. ``ancestors`` are the headings above it."""

    path: str
    start_line: int
    end_line: int
    title: str
    digest: str
    score: float
    coverage: float
    labels: frozenset[str]
    matched: tuple[str, ...]
    signals: Mapping[str, float]
    ancestors: tuple[str, ...] = ()


@dataclass(frozen=True)
class Trace:
    """The record of one search: the query, and a tree of what each stage did.

    ``search.rows`` is the final ranking. ``files`` and ``sections`` count the scope; ``skipped``
    are the files without searched sections, with reasons. ``degraded`` describes a failure that
    affects the answer. ``cache`` says where the answer came from, and ``thresholds`` when it counts
    as thin or lopsided. ``aside`` counts what is not searchable. ``annotations`` are values that a
    surface stores with the trace, by name. A search in a surface's ``own`` corpus is left out of
    the statistics of manuals. ``origin`` is everything that decided the ranking; ``report`` is what
    the engine counted.

    A search of several manuals lists the searched ones in ``manuals``; each of its paths begins
    with the id of a manual, and ``manual_id`` says which it was to search.
    """

    id: str
    manual_id: str
    created: float
    search: Span
    files: int
    sections: int
    skipped: tuple[LeftOut, ...] = ()
    degraded: str | None = None
    cache: CacheOutcome = field(default_factory=CacheOutcome)
    thresholds: Thresholds = field(default_factory=Thresholds)
    aside: OutsideSearch = field(default_factory=OutsideSearch)
    annotations: Mapping[str, JsonValue] = field(default_factory=dict)
    own: bool = False
    origin: Origin = field(default_factory=Origin)
    report: SearchReport = field(default_factory=SearchReport)
    manuals: tuple[str, ...] = ()

    def file(self, path: str) -> tuple[str, str]:
        """Return the manual of a path of this search, and the path there."""
        if not self.manuals:
            return self.manual_id, path
        manual_id, _, inner = path.partition("/")
        return manual_id, inner

    @property
    def text(self) -> str:
        """The query in the caller's words."""
        return self.origin.query.text

    @property
    def required(self) -> tuple[str, ...]:
        """The required terms of the query."""
        return self.origin.query.required

    @property
    def excluded(self) -> frozenset[tuple[str, int]]:
        """The sections, by path and first line, that this search might not return."""
        return self.origin.query.exclude

    @property
    def seen(self) -> frozenset[tuple[str, int]]:
        """What this search returned or left out because earlier ones had returned it."""
        return self.excluded | {(row.path, row.start_line) for row in self.search.rows}


SectionKey = tuple[str, int]


@dataclass(frozen=True)
class CoverageReport:
    """How much of a manual a search covered, read from its trace.

    ``files`` and ``sections`` are those of the manual, ``scanned_*`` those that the index excluded
    or ranked. ``matched`` sections contain something of the query; ``at_least`` says that there may
    be more. ``unread`` lists what was left out by place, whole files last. Of the sections that no
    stage returned, ``unranked`` ones contain a required term or a whole concept of the query, and a
    follow-up returns them; ``partial`` ones share less, and are only counted. ``left_out`` counts
    the matching sections that were not returned, by reason.
    """

    files: int
    sections: int
    scanned_files: int
    scanned_sections: int
    matched: int
    at_least: bool
    returned: int
    skipped: tuple[Skipped, ...]
    unread: tuple[LeftOut, ...]
    unranked: int
    partial: int
    left_out: Mapping[str, int]
    terms: tuple[TermReport, ...]

    @classmethod
    def of(cls, trace: Trace) -> CoverageReport:
        """Compute the coverage of one search."""
        report = trace.report
        return cls(
            files=trace.files,
            sections=trace.sections + trace.aside.headings,
            scanned_files=trace.files - len(trace.skipped),
            scanned_sections=max(0, trace.sections - len(trace.excluded)),
            matched=report.matched,
            at_least=report.at_least,
            returned=report.returned,
            skipped=tuple(_skipped(trace)),
            unread=(*omitted_sections(trace.search), *trace.skipped),
            unranked=report.left_out.get(UNRANKED, 0),
            partial=report.left_out.get(PARTIAL, 0),
            left_out=report.left_out,
            terms=report.terms,
        )


UNRANKED = "unranked"
"""The reason for a matching section that is in no ranking."""
PARTIAL = "partial"
"""The reason for a section that shares parts of words of the query only."""


def failures(span: Span) -> list[str]:
    """Return the failures below a span, in order, each once."""
    return list(dict.fromkeys(each.error for each, _ in span.walk() if each.error))


def omitted_sections(search: Span) -> list[LeftOut]:
    """Return every section that was left out and is not in the answer either, each once."""
    returned = {(row.path, row.start_line) for row in search.rows}
    omitted: dict[SectionKey, LeftOut] = {}
    for out in search.left_out:
        if out.start_line is not None:
            omitted.setdefault((out.path, out.start_line), out)
    return [out for key, out in omitted.items() if key not in returned]


def _skipped(trace: Trace) -> Iterator[Skipped]:
    if trace.aside.headings:
        yield Skipped("heading_only", "section", trace.aside.headings)
    read = trace.origin.query.read
    if returned := trace.excluded - read:
        yield Skipped("excluded_by_trace", "section", len(returned))
    if read:
        yield Skipped("excluded_by_read", "section", len(read))
    for reason, count in sorted(Counter(row.reason for row in trace.skipped).items()):
        yield Skipped(reason, "file", count)
    yield from trace.aside.unlisted
