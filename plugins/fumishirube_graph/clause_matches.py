"""Whether a section matches a clause, told by looking at its texts."""

from __future__ import annotations

from fumishirube import (
    BoolClause,
    Clause,
    InfixClause,
    MatchAllClause,
    OccursClause,
    Passage,
    PathsClause,
    PhraseClause,
    TermClause,
    fold,
    occurs,
)


def matches(passage: Passage, clause: Clause) -> bool:
    """Tell whether a section matches; a term is found as a word, as Japanese text anywhere."""
    match clause:
        case TermClause(text, field) | InfixClause(text, field):
            return any(occurs(item, text) for item in _fields(passage, field))
        case PhraseClause(terms, field):
            text = fold(" ".join(terms))
            return any(occurs(item, text) for item in _fields(passage, field))
        case OccursClause(text):
            return any(occurs(item, fold(text)) for item in passage.fields.values())
        case BoolClause(should, must, must_not):
            free = bool(must or (must_not and not should))
            return (
                all(matches(passage, item) for item in must)
                and not any(matches(passage, item) for item in must_not)
                and (free or any(matches(passage, item) for item in should))
            )
        case PathsClause(paths):
            return passage.path in paths
        case MatchAllClause():
            return True


def _fields(passage: Passage, field: str | None) -> list[str]:
    return [passage.fields.get(field, "")] if field else [*passage.fields.values()]
