"""A small, honest corpus in memory, and short ways to write passages and rankings."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from fumishirube import (
    BoolClause,
    Clause,
    Count,
    Hit,
    IndexMatch,
    InfixClause,
    MatchAllClause,
    OccursClause,
    Passage,
    PathsClause,
    PhraseClause,
    Ranking,
    ScoreCutoff,
    Stage,
    TermClause,
    Tokenizer,
    fold,
    occurs,
    runs,
)
from fumishirube.engine.passages import digest


class PlainTokenizer(Stage):
    """Whole words, and every Japanese character by itself: easy to reason about in a test."""

    def terms(self, text: str) -> Sequence[str]:
        """Return the terms of a folded text, in order."""
        result: list[str] = []
        for script, run, _ in runs(text):
            result.extend([run] if script == "word" else run)
        return result

    def narrow(self, text: str) -> tuple[Clause, bool]:
        """Return a clause that holds wherever the folded text occurs, and also elsewhere."""
        terms = tuple(dict.fromkeys(self.terms(text)))
        clause = (
            BoolClause(must=tuple(TermClause(term) for term in terms))
            if terms
            else MatchAllClause()
        )
        return clause, False


def passage(
    path: str, line: int = 1, title: str = "", body: str = "", *, ancestors: Sequence[str] = ()
) -> Passage:
    """Return a passage as an index would keep it; one without a body is not searched."""
    text = f"{title}\n{body}" if title else body
    return Passage(
        path=path,
        start_line=line,
        end_line=line + text.rstrip("\n").count("\n"),
        title=title,
        ancestors=tuple(ancestors),
        level=len(ancestors) + 1,
        digest=digest(text),
        fields={
            "title": fold(title),
            "headings": fold("\n".join(ancestors)),
            "path": fold(path.rpartition(".")[0] or path),
            "body": fold(body),
        },
    )


def ranking(passages: Iterable[Passage], signal: str = "test") -> Ranking:
    """Return a ranking in the order given; the last hit scores 1, and each before it one more."""
    ordered = tuple(passages)
    return Ranking(
        tuple(
            Hit(item, float(len(ordered) - place), signals={signal: float(len(ordered) - place)})
            for place, item in enumerate(ordered)
        )
    )


class MemoryCorpus:
    """Passages in memory, read one by one: slow, plain, and right about every clause.

    A passage without a body is kept and counted, but not searched. Estimates follow the rarity
    and the number of a term; other clauses are worth one.
    """

    def __init__(
        self,
        passages: Iterable[Passage] = (),
        tokenizer: Tokenizer | None = None,
        manual_id: str = "manual",
    ) -> None:
        self._tokenizer = tokenizer or PlainTokenizer()
        self._passages = sorted(passages, key=lambda item: item.key)
        self._searched = [item for item in self._passages if item.fields.get("body")]
        self._manual_id = manual_id
        self._fields: dict[tuple[str, int], dict[str, tuple[str, ...]]] = {}
        self._frequencies: dict[str, int] = {}
        for item in self._passages:
            fields = {name: tuple(self._tokenizer.terms(t)) for name, t in item.fields.items()}
            self._fields[item.key] = fields
            for term in {term for terms in fields.values() for term in terms}:
                self._frequencies[term] = self._frequencies.get(term, 0) + 1

    @property
    def manual_id(self) -> str:
        """The manual's id."""
        return self._manual_id

    @property
    def size(self) -> int:
        """How many passages are searched: those with a body."""
        return len(self._searched)

    @property
    def passages(self) -> Sequence[Passage]:
        """Every passage, by path and line; a test may look, a stage may not."""
        return tuple(self._passages)

    def terms(self, text: str) -> Sequence[str]:
        """Return the terms of a text, folded first."""
        return self._tokenizer.terms(fold(text))

    def search(
        self, clause: Clause, limit: int, cutoff: ScoreCutoff | None = None
    ) -> Sequence[IndexMatch]:
        """Return the best matches of a clause above the floor, ties by path and line."""
        estimates = [(self._estimate(clause, item), item) for item in self._searched]
        matches = [
            IndexMatch(item, estimate) for estimate, item in estimates if estimate is not None
        ]
        matches.sort(key=lambda item: (-item.estimate, item.passage.key))
        return cutoff.apply(matches[:limit]) if cutoff else matches[:limit]

    def count(self, clause: Clause, cap: int | None = None, *, searched: bool = False) -> Count:
        """Count the passages that match a clause, up to a cap if one is given."""
        among = self._searched if searched else self._passages
        number = sum(self._estimate(clause, item) is not None for item in among)
        return Count(number) if cap is None or number <= cap else Count(cap, at_least=True)

    def frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        """Return in how many passages each term stands, in whatever field."""
        return {term: self._frequencies.get(term, 0) for term in terms}

    def average_length(self, field: str) -> float:
        """Return the mean number of characters of a field."""
        lengths = [len(item.fields.get(field, "")) for item in self._searched]
        return sum(lengths) / len(lengths) if lengths else 0.0

    def page(self, path: str) -> Sequence[Passage]:
        """Return the passages of one file, in order."""
        return [item for item in self._passages if item.path == path]

    def _estimate(self, clause: Clause, item: Passage) -> float | None:
        """Return the estimate of a passage, or ``None`` when the clause does not hold."""
        match clause:
            case TermClause():
                number = sum(terms.count(clause.term) for terms in self._in(item, clause.field))
                return self._rarity(clause.term) * clause.boost * number if number else None
            case PhraseClause():
                holds = any(_follow(terms, clause.terms) for terms in self._in(item, clause.field))
                rarity = sum(self._rarity(term) for term in clause.terms)
                return rarity * clause.boost if holds else None
            case InfixClause():
                terms = {term for terms in self._in(item, clause.field) for term in terms}
                number = sum(clause.text in term for term in terms)
                return number * clause.boost if number else None
            case OccursClause():
                folded = fold(clause.text)
                return 1.0 if any(occurs(text, folded) for text in item.fields.values()) else None
            case PathsClause():
                return 1.0 if item.path in clause.paths else None
            case MatchAllClause():
                return 1.0
            case BoolClause():
                return self._bool_estimate(clause, item)

    def _bool_estimate(self, clause: BoolClause, item: Passage) -> float | None:
        if any(self._estimate(part, item) is not None for part in clause.must_not):
            return None
        musts = [self._estimate(part, item) for part in clause.must]
        shoulds = [
            estimate
            for part in clause.should
            if (estimate := self._estimate(part, item)) is not None
        ]
        matched = [estimate for estimate in musts if estimate is not None]
        if len(matched) < len(musts) or not (matched or shoulds):
            return None
        return sum(matched) + sum(shoulds)

    def _in(self, item: Passage, field: str | None) -> Collection[tuple[str, ...]]:
        fields = self._fields[item.key]
        return fields.values() if field is None else (fields.get(field, ()),)

    def _rarity(self, term: str) -> float:
        return math.log(1 + self.size / (self._frequencies.get(term, 0) + 1))


def _follow(terms: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    width = len(phrase)
    return any(terms[at : at + width] == phrase for at in range(len(terms) - width + 1))
