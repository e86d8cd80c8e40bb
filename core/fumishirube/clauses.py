"""What a stage may ask of an index: a tree of clauses, small enough for any engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class TermClause:
    """A term as the tokenizer makes it, in one field; ``field=None`` means in any of them."""

    term: str
    field: str | None = None
    boost: float = 1.0


@dataclass(frozen=True)
class PhraseClause:
    """Terms that follow each other, in one field; ``field=None`` means in any of them."""

    terms: tuple[str, ...]
    field: str | None = None
    boost: float = 1.0


@dataclass(frozen=True)
class InfixClause:
    """Terms that have a text as a part, in one field or any: the way to find less than a term."""

    text: str
    field: str | None = None
    boost: float = 1.0


@dataclass(frozen=True)
class OccursClause:
    """A text that stands, folded, in any field: exactly what :func:`fumishirube.occurs` says."""

    text: str


@dataclass(frozen=True)
class BoolClause:
    """All of ``must``, none of ``must_not``, and one of ``should`` when nothing must.

    With ``must_not`` alone it is everything else; empty, it is nothing.
    """

    should: tuple[Clause, ...] = ()
    must: tuple[Clause, ...] = ()
    must_not: tuple[Clause, ...] = ()


@dataclass(frozen=True)
class PathsClause:
    """Sections of any of these paths."""

    paths: tuple[str, ...]


@dataclass(frozen=True)
class MatchAllClause:
    """Every section."""


Clause: TypeAlias = (
    TermClause
    | PhraseClause
    | InfixClause
    | OccursClause
    | BoolClause
    | PathsClause
    | MatchAllClause
)
