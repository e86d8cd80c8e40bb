"""The chapters in scope as a corpus: read through from beginning to end, in their order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from fumishirube import (
    BoolClause,
    Clause,
    Count,
    IndexMatch,
    InfixClause,
    MatchAllClause,
    OccursClause,
    Passage,
    PathsClause,
    PhraseClause,
    ScoreCutoff,
    TermClause,
    fold,
    occurs,
    words,
)
from fumishirube_chapters.cache import OpenChapter


class Chapters:
    """Answers every clause by looking; chapters are few enough, and scorers mostly read on."""

    def __init__(self, manual_id: str, chapters: Sequence[OpenChapter]) -> None:
        self.manual_id = manual_id
        self._chapters = chapters

    @property
    def size(self) -> int:
        """How many chapters there are."""
        return len(self._chapters)

    def texts(self) -> Iterable[OpenChapter]:
        """Return every chapter, in the order of the table of contents."""
        return iter(self._chapters)

    def terms(self, text: str) -> Sequence[str]:
        """Return the runs of Japanese characters and the other words of a text."""
        return [word for word, _ in words(fold(text))]

    def search(
        self, clause: Clause, limit: int, cutoff: ScoreCutoff | None = None
    ) -> Sequence[IndexMatch]:
        """Return the first chapters for which a clause holds; all of them are worth the same."""
        del cutoff
        return [IndexMatch(passage, 1.0) for passage in self._holding(clause)][:limit]

    def count(self, clause: Clause, cap: int | None = None, *, searched: bool = False) -> Count:
        """Count the chapters for which a clause holds."""
        del searched  # chapters are searched, even empty ones
        number = len(self._holding(clause))
        return Count(number) if cap is None or number <= cap else Count(cap, at_least=True)

    def frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        """Return in how many chapters each term stands."""
        return {term: len(self._holding(TermClause(term))) for term in terms}

    def average_length(self, field: str) -> float:
        """Return the mean number of characters of a field."""
        lengths = [len(chapter.passage.fields[field]) for chapter in self._chapters]
        return sum(lengths) / len(lengths) if lengths else 0.0

    def page(self, path: str) -> Sequence[Passage]:
        """Return the passage of one file."""
        return [chapter.passage for chapter in self._chapters if chapter.passage.path == path]

    def _holding(self, clause: Clause) -> list[Passage]:
        return [chapter.passage for chapter in self._chapters if _holds(clause, chapter.passage)]


def _holds(clause: Clause, passage: Passage) -> bool:
    match clause:
        case MatchAllClause():
            return True
        case PathsClause(paths):
            return passage.path in paths
        case BoolClause(should, must, must_not):
            if any(_holds(part, passage) for part in must_not):
                return False
            if not all(_holds(part, passage) for part in must):
                return False
            free = bool(must or (must_not and not should))
            return free or any(_holds(part, passage) for part in should)
        case OccursClause(text):
            return any(occurs(passage.fields[name], fold(text)) for name in passage.fields)
        case TermClause(term, field) | InfixClause(term, field):
            return any(term in passage.fields[name] for name in _named(passage, field))
        case PhraseClause(terms, field):
            fields = _named(passage, field)
            return any(all(term in passage.fields[name] for term in terms) for name in fields)


def _named(passage: Passage, field: str | None) -> Iterable[str]:
    return passage.fields if field is None else (field,)
