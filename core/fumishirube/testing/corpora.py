"""A simple, exact corpus in memory, and functions that make passages and rankings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fumishirube import (
    Bool,
    Clause,
    Everything,
    Hit,
    Passage,
    Ranking,
    SequenceCorpus,
    Stage,
    Term,
    Tokenizer,
)
from fumishirube.engine.indexed_files import digest
from fumishirube.text import fold, runs


class PlainTokenizer(Stage):
    """Whole words, and every Japanese character by itself: simple to reason about in a test."""

    def terms(self, text: str) -> Sequence[str]:
        """Return the terms of a folded text, in order."""
        result: list[str] = []
        for script, run, _ in runs(text):
            result.extend([run] if script == "word" else run)
        return result

    def narrow(self, text: str) -> tuple[Clause, bool]:
        """Return a clause that matches wherever the folded text occurs, and elsewhere too."""
        terms = tuple(dict.fromkeys(self.terms(text)))
        clause = Bool(must=tuple(Term(term) for term in terms)) if terms else Everything()
        return clause, False


def passage(
    path: str, line: int = 1, title: str = "", body: str = "", *, ancestors: Sequence[str] = ()
) -> Passage:
    """Return a passage as an index stores it; one without a body is not searched."""
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
    """Return a ranking in the given order; the last hit scores 1, each before it one more."""
    ordered = tuple(passages)
    scored = zip(ordered, map(float, range(len(ordered), 0, -1)), strict=True)
    return Ranking(tuple(Hit(item, score, signals={signal: score}) for item, score in scored))


class MemoryCorpus(SequenceCorpus):
    """Passages in memory with a tokenizer: the reference for every other corpus.

    A passage without a body is stored and counted, but not searched. Estimates follow the rarity
    and the number of a term; those of other clauses are 1.
    """

    def __init__(
        self,
        passages: Iterable[Passage] = (),
        tokenizer: Tokenizer | None = None,
        manual_id: str = "manual",
    ) -> None:
        tokenizer = tokenizer or PlainTokenizer()
        super().__init__(tuple(passages), tokenizer.terms, manual_id, tokenizer)
