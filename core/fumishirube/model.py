"""The nouns: what stages and tools hand to each other. All of them are frozen."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue

from fumishirube.assessment import CacheOutcome, Thresholds
from fumishirube.budget import Budget
from fumishirube.documents import EMPTY_MAPPING
from fumishirube.errors import ToolError
from fumishirube.origins import Origin
from fumishirube.session import Session
from fumishirube.text.projections import TextRange

T = TypeVar("T")

# --- sections -------------------------------------------------------------------------------


class Passage(NamedTuple):
    """A section as an index keeps it.

    ``fields`` holds its folded texts by name: title, headings, path, body.

    ``digest`` is the start of the SHA-256 of the section's own text, in hexadecimal.
    """

    path: str
    start_line: int
    end_line: int
    title: str
    ancestors: tuple[str, ...]
    level: int
    digest: str
    fields: Mapping[str, str]

    @property
    def key(self) -> tuple[str, int]:
        """What tells one section of a manual from another: its path and first line."""
        return self.path, self.start_line


class Ref(NamedTuple):
    """Where a section stands."""

    manual_id: str
    path: str
    start_line: int


# --- searching ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Query:
    """What one search asks.

    ``required`` are the terms the caller asked for; ``must`` are those that every hit of this run
    has to hold. ``limit`` bounds the final ranking; ``exclude`` names, by path and line, what no
    run may return. ``cache`` says whether a kept answer will do; ``None`` leaves that to the
    configuration. ``within``, if given, names the only files that may be returned, and ``asked``
    what single stages are told for this search, by name. Runs of one search share ``memo``, where
    a stage may keep what it would otherwise compute once a run. ``case_sensitive`` is for scorers
    that look for the text as it is.
    """

    text: str
    required: tuple[str, ...] = ()
    must: tuple[str, ...] = ()
    limit: int | None = None
    exclude: frozenset[tuple[str, int]] = frozenset()
    case_sensitive: bool = False
    within: frozenset[str] | None = None
    stage_arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)
    budget: Budget = field(default_factory=Budget, compare=False)
    memo: MutableMapping[Any, Any] = field(default_factory=dict, compare=False, repr=False)
    cache: bool | None = field(default=None, compare=False)

    def shared(self, name: Hashable, start: T) -> T:
        """Return what the runs of this search keep under a name, beginning with ``start``."""
        value: T = self.memo.setdefault(name, start)
        return value


class Hit(NamedTuple):
    """A scored passage.

    A scorer fills ``score`` and, if it likes, ``marks`` (reasons such as ``phrase``), ``coverage``
    (the share of the query's concepts that stand in the passage, 0 to 1), ``matched`` (spans of
    the query found there) and ``places`` (where in the passage's own text). The pipeline adds the
    scores up and keeps them by scorer in ``signals``.
    """

    passage: Passage
    score: float
    labels: frozenset[str] = frozenset()
    coverage: float = 0.0
    matched: tuple[str, ...] = ()
    signals: Mapping[str, float] = EMPTY_MAPPING
    places: Sequence[TextRange] = ()

    def scored(self, score: float, *labels: str) -> Hit:
        """Return this hit with another score, and with further marks."""
        passage, _, known, coverage, matched, signals, places = self
        more = known.union(labels) if labels else known
        return Hit(passage, score, more, coverage, matched, signals, places)

    def labelled(self, *labels: str) -> Hit:
        """Return this hit with further marks."""
        return self.scored(self.score, *labels)

    def sort_key(self) -> tuple[float, float, int, str, int]:
        """Order hits: score, coverage, matched spans, then path and line. The same everywhere."""
        passage = self.passage
        matched = -len(self.matched)
        return -self.score, -self.coverage, matched, passage.path, passage.start_line


class LeftOut(NamedTuple):
    """Something that was not returned, and why. ``start_line`` is ``None`` for a whole file."""

    path: str
    start_line: int | None
    reason: str


class Ranking(NamedTuple):
    """Hits, best first; what was left out and why; and what the stages want to be known."""

    hits: tuple[Hit, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    notes: Mapping[str, JsonValue] = EMPTY_MAPPING


@dataclass(frozen=True)
class Run:
    """One search inside a search; its query is made by ``replace`` from the one planned for."""

    name: str
    query: Query
    weight: float = 1.0


class Outcome(NamedTuple):
    """A run and what came of it."""

    run: Run
    ranking: Ranking


@dataclass(frozen=True)
class Span:
    """What one stage did: when, for how long, and which ranking it left. Spans form a tree.

    A scorer's span has no rows: what it gave is in the signals of its run's rows.
    """

    name: str
    kind: Literal["search", "run", "scorer", "fuser", "refiner"]
    started_ms: float
    ms: float
    rows: tuple[TraceRow, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    notes: Mapping[str, JsonValue] = field(default_factory=dict)
    weight: float = 1.0
    error: str | None = None
    children: tuple[Span, ...] = ()


class TraceRow(NamedTuple):
    """A hit as a trace keeps it: all but the text."""

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


class Skipped(NamedTuple):
    """Files, folders or sections that were not searched, by one reason."""

    reason: str
    unit: Literal["file", "folder", "section"]
    number: int


class OutsideSearch(NamedTuple):
    """How much of a manual's folder is no searched section of a listed file.

    ``headings`` are sections without a text of their own, ``unlisted`` what the manual's folder
    holds besides listed files, by reason: links, which are never followed, hidden and ignored
    files, files that no loader speaks for, folders that were not looked into.
    """

    headings: int = 0
    unlisted: tuple[Skipped, ...] = ()


@dataclass(frozen=True)
class Trace:
    """The record of one search: what was asked, and the tree of what each stage did.

    ``search.rows`` is the final ranking. ``files`` and ``sections`` are what was in scope,
    ``skipped`` the files that hold no searched section, and why. ``degraded`` says, if anything,
    what was not as it should be. ``cache`` says where the answer came from, and ``thresholds``
    when it counts as thin or lopsided. ``aside`` counts what was not there to be searched.
    ``annotations`` holds, by name, what a surface made of it and wants kept for as long. A search
    of a corpus of the surface's ``own`` is left out of the statistics of manuals. ``origin`` is
    what else decided the ranking.
    """

    id: str
    manual_id: str
    text: str
    required: tuple[str, ...]
    created: float
    search: Span
    files: int
    sections: int
    skipped: tuple[LeftOut, ...] = ()
    excluded: frozenset[tuple[str, int]] = frozenset()
    degraded: str | None = None
    cache: CacheOutcome = field(default_factory=CacheOutcome)
    thresholds: Thresholds = field(default_factory=Thresholds)
    aside: OutsideSearch = field(default_factory=OutsideSearch)
    annotations: Mapping[str, JsonValue] = field(default_factory=dict)
    own: bool = False
    origin: Origin = field(default_factory=Origin)

    @property
    def seen(self) -> frozenset[tuple[str, int]]:
        """What this search returned, and what it left out because earlier ones had returned it."""
        return self.excluded | {(row.path, row.start_line) for row in self.search.rows}


# --- tools ----------------------------------------------------------------------------------


class Params(BaseModel):
    """The arguments of a tool: strict, closed, frozen. ``true`` is not 1, and ``"1"`` is not 1.

    With ``null_is_absent`` a null for an optional argument is as if it were not there.
    """

    null_is_absent: ClassVar[bool] = True

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)


class Answer(BaseModel):
    """The answer of a tool, checked before it leaves."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


P = TypeVar("P", bound=Params)
A = TypeVar("A", bound=Answer)

Progress = Callable[[int, int, str], None]
"""Called with how much is done, how much there is, and what is being done."""


@dataclass(frozen=True)
class Call:
    """Who calls: the session (none on the command line), its budget, and who watches progress."""

    session: Session | None = None
    budget: Budget = field(default_factory=Budget)
    progress: Progress | None = None


@dataclass(frozen=True)
class Tool(Generic[P, A]):
    """Something a caller may use, whatever the face: MCP, HTTP or the command line.

    ``before`` is checked ahead of the arguments. ``run`` may be called from several threads.
    ``refused`` puts a failure into the words that this tool's callers know, given the arguments.
    ``http`` names an HTTP endpoint of the tool's own, ``("GET", "/list_manuals")``, and
    ``http_body`` the member of the answer that is that endpoint's whole body, if not all of it.
    ``quotes`` says that answers hold text, or names, from documents, which are data only.
    """

    name: str
    title: str
    summary: str
    params: type[P]
    answer: type[A]
    run: Callable[[P, Call], A]
    before: Callable[[Call], None] | None = None
    refused: Callable[[ToolError, object], ToolError] | None = None
    http: tuple[str, str] | None = None
    http_body: str | None = None
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    quotes: bool = True
    examples: Sequence[Mapping[str, JsonValue]] = ()
