"""Several manuals searched as one: paths begin with the manual's id, statistics are shared.

The id of a union is ``*`` for every manual, or the ids of its manuals joined by slashes.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import Literal

from fumishirube.corpus import (
    Bool,
    Clause,
    Corpus,
    Count,
    IndexMatch,
    Pages,
    Part,
    Phrase,
    ScoreCutoff,
    Term,
)
from fumishirube.corpus_kinds import VectorCorpus
from fumishirube.engine.recoverable_index import IndexState, joined_reasons
from fumishirube.engine.reports import unsearched
from fumishirube.model import OutsideSearch, Passage, Skipped
from fumishirube.text.query_concepts import rarity
from fumishirube.text.word_forms import FormFinder, form_finder, query_terms
from fumishirube.tools.definitions import Progress


class UnionCorpus:
    """The sections of several manuals; a section's path begins with the id of its manual.

    Rarity is computed over all of them, so that scores can be compared. Each index estimates by its
    own statistics; clauses are translated with weights that compensate for that.
    """

    def __init__(self, manual_id: str, parts: Mapping[str, Corpus]) -> None:
        if not parts:
            raise ValueError("a union is of one corpus at least")
        self.manual_id = manual_id
        self.size = sum(part.size for part in parts.values())
        self._parts = [_UnionPart(name, corpus) for name, corpus in sorted(parts.items())]
        self._frequencies: dict[str, int] = {}
        self._count_part = cache(lambda text: sum(p.count_part(text) for p in self._parts))

    def terms(self, text: str) -> Sequence[str]:
        """Return the terms of a text; all the manuals have one tokenizer."""
        return self._parts[0].corpus.terms(text)

    def query_terms(self, text: str) -> Sequence[str]:
        """Return the terms by which a text is scored."""
        return query_terms(self._parts[0].corpus, text)

    def form_finder(self, term: str) -> FormFinder | None:
        """Return a function that finds the words of a term, or ``None`` for literal matches."""
        return form_finder(self._parts[0].corpus, term)

    def search(
        self, clause: Clause, limit: int, cutoff: ScoreCutoff | None = None
    ) -> Sequence[IndexMatch]:
        """Return the best matches of all the manuals, best first, ties by path and line."""
        # A match above the cut-off of all manuals is above that of its own manual too.
        matches = [
            part.named(match)
            for part, translated in self._for_parts(clause)
            for match in part.corpus.search(translated, limit, cutoff)
        ]
        matches.sort(key=lambda match: (-match.estimate, match.passage.key))
        return cutoff.apply(matches[:limit]) if cutoff else matches[:limit]

    def count(self, clause: Clause, cap: int | None = None, *, searched: bool = False) -> Count:
        """Count the sections that match a clause, up to a cap if one is given."""
        number = 0
        for part, translated in self._for_parts(clause):
            left = None if cap is None else cap - number
            counted = part.corpus.count(translated, left, searched=searched)
            if counted.at_least:
                return Count(number + counted.number, at_least=True)
            number += counted.number
        return Count(number)

    def frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        """Return how many sections contain each term, in any field."""
        if unknown := {term for term in terms if term not in self._frequencies}:
            of_parts = [part.frequencies(unknown) for part in self._parts]
            self._frequencies |= {term: sum(of[term] for of in of_parts) for term in unknown}
        return {term: self._frequencies[term] for term in terms}

    def average_length(self, field: str) -> float:
        """Return the mean number of characters of a field over the searched sections."""
        total = sum(p.corpus.average_length(field) * p.corpus.size for p in self._parts)
        return total / self.size if self.size else 0.0

    def page(self, path: str) -> Sequence[Passage]:
        """Return the passages of one file, in order."""
        name, _, inner = path.partition("/")
        part = next((part for part in self._parts if part.name == name), None)
        return [part.prefixed(passage) for passage in part.corpus.page(inner)] if part else []

    @property
    def vectors(self) -> bool:
        """Whether any manual has vectors."""
        return any(isinstance(p.corpus, VectorCorpus) and p.corpus.vectors for p in self._parts)

    def nearest(
        self,
        text: str,
        limit: int,
        within: frozenset[str] | None = None,
        per_file: int | None = None,
    ) -> Sequence[IndexMatch]:
        """Return the sections of all the manuals that are most similar to a text."""
        matches = [
            part.named(match)
            for part in self._parts
            if isinstance(part.corpus, VectorCorpus)
            for match in part.corpus.nearest(
                text, limit, None if within is None else part.inner(within), per_file
            )
        ]
        matches.sort(key=lambda match: (-match.estimate, match.passage.key))
        return matches[:limit]

    def unsearched(self, since: float) -> str | None:
        """Return which parts of which manuals did not answer since a time, if any."""
        missing = [(part.name, unsearched(part.corpus, since)) for part in self._parts]
        return joined_reasons(*(f"{name}: {what}" for name, what in missing if what))

    def _for_parts(self, clause: Clause) -> Iterator[tuple[_UnionPart, Clause]]:
        return ((part, self._translate(clause, part)) for part in self._parts)

    def _translate(self, clause: Clause, part: _UnionPart) -> Clause:
        """Return a clause in the paths of a part, with weights by rarity in the union."""
        match clause:
            case Bool():
                return part.translated(clause, lambda inner: self._translate(inner, part))
            case Pages(paths):
                return Pages(tuple(sorted(part.inner(paths))))
            case Term(term):
                return self._weighed(clause, part, (term,))
            case Phrase(terms):
                return self._weighed(clause, part, terms)
            case Part(text, _, boost):
                union, here = self._count_part(text), part.count_part(text)
                return replace(clause, boost=boost * self._share(part, [(union, here)]))
            case _:
                return clause

    def _weighed(
        self, clause: Term | Phrase, part: _UnionPart, terms: Collection[str]
    ) -> Term | Phrase:
        union, here = self.frequencies(terms), part.frequencies(terms)
        share = self._share(part, [(union[term], here[term]) for term in terms])
        return replace(clause, boost=clause.boost * share)

    def _share(self, part: _UnionPart, counts: Sequence[tuple[int, int]]) -> float:
        """Return how much rarer terms are in the union than in a part."""
        union = sum(rarity(self.size, count) for count, _ in counts)
        here = sum(rarity(part.corpus.size, count) for _, count in counts)
        return union / here if here else 1.0


class _UnionPart:
    """One manual of a union, with cached statistics of its terms."""

    def __init__(self, name: str, corpus: Corpus) -> None:
        self.name = name
        self.prefix = f"{name}/"
        self.corpus = corpus
        self._frequencies: dict[str, int] = {}
        self.count_part = cache(lambda text: corpus.count(Part(text)).number)
        self._translated: dict[int, tuple[Bool, Bool]] = {}

    def translated(self, clause: Bool, inside: Callable[[Clause], Clause]) -> Bool:
        """Translate a clause once: the runs of a search share most clauses, as one object."""
        known = self._translated.get(id(clause))
        if known is None:
            members = (clause.should, clause.must, clause.must_not)
            known = (clause, Bool(*(tuple(map(inside, member)) for member in members)))
            self._translated[id(clause)] = known
        return known[1]

    def inner(self, paths: Collection[str]) -> frozenset[str]:
        """Return the paths of this manual among those of the union."""
        return frozenset(p[len(self.prefix) :] for p in paths if p.startswith(self.prefix))

    def named(self, match: IndexMatch) -> IndexMatch:
        return IndexMatch(self.prefixed(match.passage), match.estimate)

    def prefixed(self, passage: Passage) -> Passage:
        return Passage(self.prefix + passage.path, *passage[1:])

    def frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        if unknown := {term for term in terms if term not in self._frequencies}:
            self._frequencies.update(self.corpus.frequencies(unknown))
        return self._frequencies


def united_state(
    manual_id: str, states: Mapping[str, IndexState], failed: Mapping[str, Exception]
) -> IndexState:
    """Return the state of several manuals as one; problems name their manual."""
    stale = [f"{name}: {state.degraded}" for name, state in states.items() if state.degraded]
    unread = [f"{name}: not searched: {reason}" for name, reason in failed.items()]
    stamps = "\n".join(f"{name}/{state.fingerprint}" for name, state in sorted(states.items()))
    return IndexState(
        UnionCorpus(manual_id, {name: state.corpus for name, state in states.items()}),
        sum(state.files for state in states.values()),
        tuple(
            out._replace(path=f"{name}/{out.path}")
            for name, state in states.items()
            for out in state.skipped
        ),
        joined_reasons(*stale, *unread),
        hashlib.sha256(stamps.encode("utf-8", "surrogatepass")).hexdigest()[:16],
        _united_outside([state.aside for state in states.values()]),
        unfinished=any(state.unfinished for state in states.values()),
        unembedded=any(state.unembedded for state in states.values()),
        manuals=tuple(states),
        incomplete=bool(failed) or any(state.incomplete for state in states.values()),
    )


def _united_outside(asides: Sequence[OutsideSearch]) -> OutsideSearch:
    numbers: Counter[tuple[str, Literal["file", "folder", "section"]]] = Counter()
    for skipped in chain.from_iterable(aside.unlisted for aside in asides):
        numbers[skipped.reason, skipped.unit] += skipped.number
    unlisted = tuple(Skipped(*kind, number) for kind, number in numbers.items())
    return OutsideSearch(sum(aside.headings for aside in asides), unlisted)


class JoinedProgress:
    """Passes on the progress of one manual after the other, as that of one task."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._before = 0.0
        self._done = 0.0

    def __call__(self, done: float, total: int, message: str) -> None:
        """Pass on a step, counted after those of the manuals before."""
        self._done = done
        self._progress(self._before + done, round(self._before) + total, message)

    def finish_manual(self) -> None:
        """Begin the next manual."""
        self._before += self._done
        self._done = 0
