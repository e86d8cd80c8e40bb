"""A small, honest corpus in memory, and short ways to write passages and rankings."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from fumishirube import (
    Bool,
    Clause,
    Count,
    Everything,
    Floor,
    Found,
    Hit,
    Holds,
    Pages,
    Part,
    Passage,
    Phrase,
    Ranking,
    Stage,
    Term,
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
        found: list[str] = []
        for script, run, _ in runs(text):
            found.extend([run] if script == "word" else run)
        return found

    def narrow(self, text: str) -> tuple[Clause, bool]:
        """Return a clause that holds wherever the folded text occurs, and also elsewhere."""
        terms = tuple(dict.fromkeys(self.terms(text)))
        clause = Bool(must=tuple(Term(term) for term in terms)) if terms else Everything()
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
            Hit(one, float(len(ordered) - place), signals={signal: float(len(ordered) - place)})
            for place, one in enumerate(ordered)
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
        self._passages = sorted(passages, key=lambda one: one.key)
        self._searched = [one for one in self._passages if one.fields.get("body")]
        self._manual_id = manual_id
        self._fields: dict[tuple[str, int], dict[str, tuple[str, ...]]] = {}
        self._frequencies: dict[str, int] = {}
        for one in self._passages:
            fields = {name: tuple(self._tokenizer.terms(t)) for name, t in one.fields.items()}
            self._fields[one.key] = fields
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

    def search(self, clause: Clause, limit: int, floor: Floor | None = None) -> Sequence[Found]:
        """Return the best matches of a clause above the floor, ties by path and line."""
        worth = [(self._worth(clause, one), one) for one in self._searched]
        found = [Found(one, estimate) for estimate, one in worth if estimate is not None]
        found.sort(key=lambda one: (-one.estimate, one.passage.key))
        return floor.hold(found[:limit]) if floor else found[:limit]

    def count(self, clause: Clause, cap: int | None = None, *, searched: bool = False) -> Count:
        """Count the passages that match a clause, up to a cap if one is given."""
        among = self._searched if searched else self._passages
        number = sum(self._worth(clause, one) is not None for one in among)
        return Count(number) if cap is None or number <= cap else Count(cap, at_least=True)

    def frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        """Return in how many passages each term stands, in whatever field."""
        return {term: self._frequencies.get(term, 0) for term in terms}

    def average_length(self, field: str) -> float:
        """Return the mean number of characters of a field."""
        lengths = [len(one.fields.get(field, "")) for one in self._searched]
        return sum(lengths) / len(lengths) if lengths else 0.0

    def page(self, path: str) -> Sequence[Passage]:
        """Return the passages of one file, in order."""
        return [one for one in self._passages if one.path == path]

    def _worth(self, clause: Clause, one: Passage) -> float | None:
        """Return the estimate of a passage, or ``None`` when the clause does not hold."""
        match clause:
            case Term():
                number = sum(terms.count(clause.term) for terms in self._in(one, clause.field))
                return self._rarity(clause.term) * clause.boost * number if number else None
            case Phrase():
                holds = any(_follow(terms, clause.terms) for terms in self._in(one, clause.field))
                worth = sum(self._rarity(term) for term in clause.terms)
                return worth * clause.boost if holds else None
            case Part():
                terms = {term for terms in self._in(one, clause.field) for term in terms}
                number = sum(clause.text in term for term in terms)
                return number * clause.boost if number else None
            case Holds():
                folded = fold(clause.text)
                return 1.0 if any(occurs(text, folded) for text in one.fields.values()) else None
            case Pages():
                return 1.0 if one.path in clause.paths else None
            case Everything():
                return 1.0
            case Bool():
                return self._worth_of_all(clause, one)

    def _worth_of_all(self, clause: Bool, one: Passage) -> float | None:
        if any(self._worth(part, one) is not None for part in clause.must_not):
            return None
        musts = [self._worth(part, one) for part in clause.must]
        shoulds = [worth for part in clause.should if (worth := self._worth(part, one)) is not None]
        held = [worth for worth in musts if worth is not None]
        if len(held) < len(musts) or not (held or shoulds):
            return None
        return sum(held) + sum(shoulds)

    def _in(self, one: Passage, field: str | None) -> Collection[tuple[str, ...]]:
        fields = self._fields[one.key]
        return fields.values() if field is None else (fields.get(field, ()),)

    def _rarity(self, term: str) -> float:
        return math.log(1 + self.size / (self._frequencies.get(term, 0) + 1))


def _follow(terms: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    width = len(phrase)
    return any(terms[at : at + width] == phrase for at in range(len(terms) - width + 1))
