"""What the engine itself counted in one search, for any stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple


class TermReport(NamedTuple):
    """A term, the number of sections that contain it, and near spellings if there are none."""

    term: str
    sections: int
    near: tuple[str, ...] = ()


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
    deadline did.
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
