"""What the engine itself counted in one search, whatever stages the pipeline has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple


class TermReport(NamedTuple):
    """A term, in how many sections it stands, and what is spelled nearly like it if in none."""

    term: str
    sections: int
    near: tuple[str, ...] = ()


class FrequencyReport(NamedTuple):
    """A term that nearly no section holds, or nearly every one; ``share`` is of all sections."""

    term: str
    sections: int
    share: float
    reason: Literal["too_rare", "too_common"]
    dropped: bool


@dataclass(frozen=True)
class SearchReport:
    """What one search was asked, what it saw, and what became of all that matched.

    ``terms`` are those that the caller named, or else those that a fuser ``picked``, each counted
    in the whole manual; ``filtered`` are those of them that say little. ``sections`` is how many
    sections were in scope. ``strict`` of the merged hits hold one of the terms, ``applied`` of them
    one that was not dropped; ``holding`` are the ranks, from 1, of the returned hits that hold one.
    ``gated`` says that a run with required terms brought hits. Of the sections that hold something
    of the query ``returned`` are in the ranking and the rest is in ``left_out``, by reason;
    ``unranked`` are those that no stage named, but that hold a required term or a whole concept,
    ``partial`` those that share less. ``at_least`` says that there may be more.
    ``scan_capped`` says that a cap kept sections from being scored, ``out_of_time`` that the
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
        """How many sections hold something of what was asked."""
        return self.returned + sum(self.left_out.values())

    @property
    def missing(self) -> tuple[str, ...]:
        """The terms that stand in no section."""
        return tuple(report.term for report in self.terms if not report.sections)

    @cached_property
    def effective(self) -> tuple[str, ...]:
        """The terms that were not dropped, whether or not they stand anywhere."""
        dropped = {report.term for report in self.filtered if report.dropped}
        return tuple(report.term for report in self.terms if report.term not in dropped)
