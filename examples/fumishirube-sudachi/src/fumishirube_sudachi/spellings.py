"""The scorer: finds sections that contain a word of the query in another spelling."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from fumishirube import (
    Bool,
    Clause,
    Corpus,
    Hit,
    Holds,
    Passage,
    Query,
    Stage,
    Term,
)
from fumishirube.text import concepts, is_function, occurs, rarity
from fumishirube_sudachi.words import MARK


class OtherSpellings(Stage):
    """Generates candidates with other spellings of the query's words: 付属 finds 附属病院.

    It queries the index for normal forms, which are terms where the tokenizer is ``sudachi``.
    Each word adds at most ``depth`` candidates, and each section gains ``weight`` times the word's
    rarity.
    """

    generates: ClassVar[bool] = True

    weight: Annotated[float, Field(ge=0)] = 1.0
    depth: Annotated[int, Field(ge=1)] = 20

    def score(
        self, query: Query, corpus: Corpus, candidates: Mapping[tuple[str, int], Passage]
    ) -> Iterable[Hit]:
        """Score sections by the words that occur in them only in another spelling."""
        spellings = _spellings(query.text, corpus)
        counts = corpus.frequencies(spellings)
        filters = tuple(Holds(term) for term in query.must)
        hits: dict[tuple[str, int], Hit] = {}
        for term, own in spellings.items():
            if not counts[term] or query.budget.spent:
                continue
            weight = self.weight * rarity(corpus.size, counts[term])
            clause: Clause = Bool(must=(Term(term), *filters)) if filters else Term(term)
            for passage, _ in corpus.search(clause, self.depth + len(query.exclude)):
                text = f"{passage.fields['title']}\n{passage.fields['body']}"
                if any(occurs(text, spelling) for spelling in own):
                    continue
                before = hits.get(passage.key, Hit(passage, 0.0, frozenset({"spelling"})))
                hits[passage.key] = before._replace(
                    score=before.score + weight,
                    coverage=min(1.0, before.coverage + 1 / len(spellings)),
                    matched=(*before.matched, term.removeprefix(MARK)),
                )
        return [hit for hit in hits.values() if hit.score]


def _spellings(text: str, corpus: Corpus) -> dict[str, set[str]]:
    """Return the term of each word's other spellings, with the spellings of the query."""
    spellings: dict[str, set[str]] = {}
    for word in dict.fromkeys(
        term for concept in concepts(text) for term in corpus.terms(concept.text)
    ):
        if is_function(word) or word.startswith(MARK):
            continue
        for form in corpus.terms(word):
            if not form.startswith(MARK):
                spellings.setdefault(MARK + form, set()).update((form, word))
    return spellings
