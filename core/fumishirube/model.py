"""The frozen data of a search: passages, hits, rankings, and what the engine counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

from pydantic import JsonValue

from fumishirube.documents import EMPTY_MAPPING
from fumishirube.text.projections import TextRange

# --- sections -------------------------------------------------------------------------------


class Passage(NamedTuple):
    """A section as an index stores it.

    ``fields`` contains its folded texts by name: title, headings, path, body. Folding makes each a
    single line in lower case; :func:`texts_of` gives sections as they are written.

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
        """The identity of a section within a manual: its path and first line."""
        return self.path, self.start_line


# --- searching ------------------------------------------------------------------------------


class Hit(NamedTuple):
    """A scored passage.

    A scorer sets ``score`` and may set ``labels`` (reasons such as ``phrase``), ``coverage`` (the
    share of the query's concepts in the passage, 0 to 1), ``matched`` (spans of the query in the
    passage) and ``places`` (where in the passage's own text). The pipeline adds the scores up and
    stores them by scorer in ``signals``. Where a stage of a plugin ranks, or no scorer sets them,
    the coverage and the spans of what a search returns are counted in the passages instead.
    """

    passage: Passage
    score: float
    labels: frozenset[str] = frozenset()
    coverage: float = 0.0
    matched: tuple[str, ...] = ()
    signals: Mapping[str, float] = EMPTY_MAPPING
    places: Sequence[TextRange] = ()

    def scored(self, score: float, *labels: str) -> Hit:
        """Return this hit with another score, and with further labels."""
        passage, _, known, coverage, matched, signals, places = self
        more = known.union(labels) if labels else known
        return Hit(passage, score, more, coverage, matched, signals, places)

    def labelled(self, *labels: str) -> Hit:
        """Return this hit with further labels."""
        return self.scored(self.score, *labels)

    def sort_key(self) -> tuple[float, float, int, str, int]:
        """Sort hits by score, coverage, matched spans, then path and line, everywhere alike."""
        passage = self.passage
        matched = -len(self.matched)
        return -self.score, -self.coverage, matched, passage.path, passage.start_line


class LeftOut(NamedTuple):
    """Something that was not returned, and why. ``start_line`` is ``None`` for a whole file."""

    path: str
    start_line: int | None
    reason: str


class MatchCount(NamedTuple):
    """The number of sections that match a query, whether or not a scorer returned them.

    ``at_least`` means that counting stopped at a cap, ``scan_capped`` that a cap also prevented
    some of them from being scored.
    """

    number: int
    at_least: bool = False
    scan_capped: bool = False


class TermFilter(NamedTuple):
    """A term of almost no section, or of almost all; ``dropped`` if it was not applied."""

    term: str
    reason: Literal["too_rare", "too_common"]
    dropped: bool


class TermUse(NamedTuple):
    """What a fuser did with the terms of a query.

    ``picked`` are those that it chose because the caller named none; ``filtered`` are those that
    are too rare or too common to be selective.
    """

    picked: tuple[str, ...] | None = None
    filtered: tuple[TermFilter, ...] = ()


class Ranking(NamedTuple):
    """Hits, best first, what was left out and why, and reports of stages.

    A scorer may report how many sections ``matched``, a fuser which ``terms`` it picked or dropped.
    ``diagnostics`` are for people: nothing decides by them, and ``fumishirube trace export`` has
    them. Why a single hit is there is said by its ``labels``, which ``--explain`` shows as marks.
    """

    hits: tuple[Hit, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    diagnostics: Mapping[str, JsonValue] = EMPTY_MAPPING
    matched: MatchCount | None = None
    terms: TermUse | None = None


class Skipped(NamedTuple):
    """Files, folders or sections that were not searched, for one reason."""

    reason: str
    unit: Literal["file", "folder", "section"]
    number: int


class UnreadFiles(NamedTuple):
    """Files that no loader reads, by suffix, and what would read them, if known.

    The suffix is in lower case and begins with a dot; it is empty for names without one.
    """

    suffix: str
    number: int
    reader: str | None = None


class OutsideSearch(NamedTuple):
    """How much of a manual's folder is not a searched section of a listed file.

    ``headings`` are sections without a text of their own. ``unlisted`` counts, by reason, what the
    folder contains besides listed files: links, which are never followed, hidden and ignored files,
    files that no loader claims, folders that were not opened.
    """

    headings: int = 0
    unlisted: tuple[Skipped, ...] = ()


# --- counts ---------------------------------------------------------------------------------


class TermReport(NamedTuple):
    """A term, the number of sections that contain it, and near spellings if there are none.

    ``elsewhere`` counts those outside the files of the search, if none of these files contains it,
    and ``returned`` the hits of the search that contain it.
    """

    term: str
    sections: int
    near: tuple[str, ...] = ()
    elsewhere: int = 0
    returned: int = 0


class FrequencyReport(NamedTuple):
    """A term of almost no section, or of almost every one; ``share`` is of all sections."""

    term: str
    sections: int
    share: float
    reason: Literal["too_rare", "too_common"]
    dropped: bool


@dataclass(frozen=True)
class SearchReport:
    """The counts of one search: its terms, its scope, and its matching sections.

    ``terms`` are those that the caller named, or else those that a fuser ``picked``, each counted
    in the whole manual; ``filtered`` are those that are not selective. ``sections`` is the number
    of sections in scope. ``strict`` of the merged hits contain one of the terms, ``applied`` of
    them one that was not dropped; ``holding`` are the ranks, from 1, of the returned hits that
    contain one. ``gated`` means that a run with required terms returned hits. Of the sections that
    match the query, ``returned`` are in the ranking and the rest is in ``left_out``, by reason;
    ``unranked`` are those that no stage returned although they contain a required term or a whole
    concept, ``partial`` those that share less. ``at_least`` means that there may be more.
    ``scan_capped`` means that a cap prevented sections from being scored, ``out_of_time`` that the
    deadline did. ``incomplete`` means that a part of the manual was not counted, such as files that
    are not indexed yet: a term without sections may still be there. Without ``counted`` the manual
    was not searched for the counts: those of terms are of the hits, unless a stage made them.
    """

    terms: tuple[TermReport, ...] = ()
    picked: tuple[str, ...] | None = None
    filtered: tuple[FrequencyReport, ...] = ()
    sections: int = 0
    strict: int = 0
    applied: int = 0
    holding: tuple[int, ...] = ()
    gated: bool = False
    returned: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    at_least: bool = False
    scan_capped: bool = False
    out_of_time: bool = False
    incomplete: bool = False
    counted: bool = True

    @property
    def matched(self) -> int:
        """The number of sections that match the query."""
        return self.returned + sum(self.left_out.values())

    @property
    def missing(self) -> tuple[str, ...]:
        """The terms that no section contains."""
        return tuple(report.term for report in self.terms if not report.sections)

    @cached_property
    def effective(self) -> tuple[str, ...]:
        """The terms that were not dropped, whether or not a section contains them."""
        dropped = {report.term for report in self.filtered if report.dropped}
        return tuple(report.term for report in self.terms if report.term not in dropped)
