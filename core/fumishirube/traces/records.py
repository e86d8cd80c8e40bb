"""The record of one search: the tree of what each stage did, and all that decided it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from pydantic import JsonValue

from fumishirube.model import LeftOut, OutsideSearch
from fumishirube.query import Query
from fumishirube.report import SearchReport

CacheMode: TypeAlias = Literal["bypass", "miss", "exact", "semantic", "guard_revalidate"]


class CacheOutcome(NamedTuple):
    """What the cache had to do with an answer.

    ``score`` is the similarity of a semantic hit; ``saved_ms`` is how much longer the search took
    whose answer was given again, and never negative. ``guard_revalidate`` is a search made anew
    because the kept answer had too many gaps or conflicts.
    """

    mode: CacheMode = "bypass"
    score: float | None = None
    saved_ms: float | None = None

    @property
    def used(self) -> bool:
        """Whether the cache was asked at all."""
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
    """What a surface made of a search, for the cache's guards and for the statistics.

    ``recall_ok`` says whether one of the best rows holds a requested term that stands in the
    manual. ``tokens`` is the estimate for the answer; ``marginal_gain`` is the share of rows that
    are new among all rows of the searches that this one follows up.
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
    """A pipeline as it was: ``stages`` as the file would name them, with every setting.

    ``name`` is the key under which the file configures it, and ``surface`` who searched.
    ``makers`` are the plugins that offer the stages, each with its distribution and version.
    """

    surface: str = ""
    name: str = ""
    fingerprint: str = ""
    stages: Mapping[str, JsonValue] = {}
    makers: Mapping[str, str] = {}


@dataclass(frozen=True)
class Origin:
    """All that decided a search: the query, the pipeline, and the fingerprint of the files."""

    recipe: PipelineSnapshot = field(default_factory=PipelineSnapshot)
    corpus: str = ""
    query: Query = field(default_factory=lambda: Query(""))


@dataclass(frozen=True)
class Span:
    """What one stage did: when, for how long, and which ranking it left. Spans form a tree.

    A scorer's span has no rows: what it gave is in the signals of its run's rows. ``must`` are the
    terms that the hits of a run had to hold. ``out_of_time`` says that the deadline kept it from
    its whole work.
    """

    name: str
    kind: Literal["search", "run", "scorer", "fuser", "refiner"]
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


class TraceRow(NamedTuple):
    """A hit as a trace keeps it: all but the text. ``ancestors`` are the headings above it."""

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
    """The record of one search: what was asked, and the tree of what each stage did.

    ``search.rows`` is the final ranking. ``files`` and ``sections`` are what was in scope,
    ``skipped`` the files that hold no searched section, and why. ``degraded`` says, if anything,
    what was not as it should be. ``cache`` says where the answer came from, and ``thresholds``
    when it counts as thin or lopsided. ``aside`` counts what was not there to be searched.
    ``annotations`` holds, by name, what a surface made of it and wants kept for as long. A search
    of a corpus of the surface's ``own`` is left out of the statistics of manuals. ``origin`` is
    the query and what else decided the ranking; ``report`` is what the engine itself counted.

    A search of several manuals at once names in ``manuals`` those that were searched; each of its
    paths begins with the id of a manual, and ``manual_id`` says which it was to search.
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
        """Return the manual that a path of this search is of, and the path there."""
        if not self.manuals:
            return self.manual_id, path
        manual_id, _, inner = path.partition("/")
        return manual_id, inner

    @property
    def text(self) -> str:
        """What was asked, in the caller's words."""
        return self.origin.query.text

    @property
    def required(self) -> tuple[str, ...]:
        """The terms that the caller named."""
        return self.origin.query.required

    @property
    def excluded(self) -> frozenset[tuple[str, int]]:
        """The sections, by path and first line, that this search might not return."""
        return self.origin.query.exclude

    @property
    def seen(self) -> frozenset[tuple[str, int]]:
        """What this search returned, and what it left out because earlier ones had returned it."""
        return self.excluded | {(row.path, row.start_line) for row in self.search.rows}
