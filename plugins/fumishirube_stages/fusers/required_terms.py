"""Two gates: the query by itself, and among the sections that hold the required terms."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from fumishirube import (
    Bool,
    Corpus,
    Hit,
    Holds,
    LeftOut,
    Outcome,
    Query,
    Ranking,
    Run,
    Stage,
    TermFilter,
    TermUse,
    fused_ranking,
    merge_rankings,
)
from fumishirube.agreed_names import FREE, PINNED, REQUIRED, RRF_K
from fumishirube.text import concepts, fold, mentions
from fumishirube_stages.fused_scores import RrfK, normal
from fumishirube_stages.long_questions import share_of_words
from fumishirube_stages.picked_terms import rarest_words

_STRONG = frozenset({"exact", "phrase", "code_exact", "number_context", "proximity"})


class RequiredTerms(Stage):
    """Runs the query without required terms (g0) and with them (g_req), and merges the rankings.

    With two terms, g_req has three runs: both terms in one section, the first, and the second.
    A run of g_req gets a lower weight and lower scores, down to ``least_trust``, when its hits
    cover less of the query than ``trusted`` times the coverage of g0. The runs of g_req use the
    query's own words only. For a query with other wordings their weight is multiplied by
    ``beside_alternatives``. In a query of more than ``enough_words`` English words, terms that are
    words of the query say little more: their weight is multiplied by ``enough_words``, and divided
    by the number of words.

    Terms that occur in nearly every section are ignored. When g_req finds no section, the hits of
    g0 remain, without those that match only weakly; all of them if g_req was not run for lack of
    time, or if sections with the terms may be among those excluded. Weak is a hit that covers less
    than ``weak_coverage`` and has neither a phrase, number or code of the query, nor two of its
    concepts close together, nor a whole part of it between spaces. In languages with spaces each
    word is such a part: without these hits, two of 22 questions with a wrong required term lost
    their first hit.

    For a query without required terms and of up to ``picked_up_to`` concepts, the rarest content
    words are picked. A longer one has words that only say what is wanted, such as "rounded to two
    decimal places", and these are often the rarest.
    """

    k: RrfK = RRF_K
    free_weight: Annotated[float, Field(gt=0)] = 1.0
    required_weight: Annotated[float, Field(gt=0)] = 1.1
    both_weight: Annotated[float, Field(gt=0)] = 1.1
    beside_alternatives: Annotated[float, Field(gt=0, le=1)] = 0.3
    score_share: Annotated[float, Field(ge=0, le=1)] = 0.65
    too_rare: Annotated[float, Field(ge=0, le=1)] = 0.02
    too_common: Annotated[float, Field(ge=0, le=1)] = 0.85
    common_from: Annotated[int, Field(ge=1)] = 20
    trusted: Annotated[float, Field(gt=0, le=1)] = 0.8
    least_trust: Annotated[float, Field(ge=0, le=1)] = 0.1
    weak_coverage: Annotated[float, Field(ge=0, le=1)] = 0.5
    picked_up_to: Annotated[int, Field(ge=0)] = 12
    enough_words: Annotated[int, Field(ge=1)] = 4

    def plan(self, query: Query, corpus: Corpus) -> Sequence[Run]:
        """Return the run without required terms, and those with them.

        Beside alternatives one run with all terms is enough, if a section contains them all: its
        hits weigh little, and the alternatives have runs of their own.
        """
        terms = self._terms(query, corpus)
        planned = [Run(FREE, query, self.free_weight)]
        present = [term for term in terms.effective if terms.counts[term]]
        if len(present) > 1:
            both = replace(query, must=(*query.must, *present))
            planned.append(Run(f"{REQUIRED}:{_together(len(present))}", both, self.both_weight))
            if query.alternatives and _surely_matches(both, corpus):
                return planned
        for term in present:
            name = chr(ord("A") + terms.effective.index(term))
            planned.append(Run(f"{REQUIRED}:{name}", replace(query, must=(*query.must, term))))
        return planned

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        """Merge the runs of g_req, then both gates, and report how the terms were used."""
        terms = self._terms(query, corpus)
        free, *gated_runs = outcomes
        trust = [self._trust(outcome.ranking, free.ranking) for outcome in gated_runs]
        gated = _gate([*map(_trusted, gated_runs, trust)], self.k)
        weight = self.required_weight * max(trust, default=1.0)
        if query.alternatives:
            weight *= self.beside_alternatives
        elif _repeats_query(terms.effective, query.text):
            weight *= share_of_words(query.text, self.enough_words)
        if gated:
            gates = [free, Outcome(Run(REQUIRED, query, weight), Ranking(gated))]
            hits = _pinned(self._blend(gates), gates)
        else:
            hits = list(free.ranking.hits)
        doubted = {
            outcome.run.name: round(share, 4)
            for outcome, share in zip(gated_runs, trust, strict=True)
            if share < 1
        }
        # A follow-up excludes sections: those with the terms may be among them.
        present = query.exclude and any(terms.counts[term] for term in terms.effective)
        relaxed = bool(terms.effective) and not (gated or present)
        # A run for which there was no time is not empty.
        relaxed = relaxed and len(outcomes) == len(self.plan(query, corpus))
        dropped: list[LeftOut] = []
        if relaxed:
            hits, dropped = self._without_noise(hits)
        ranking = fused_ranking([_labelled(hit, terms, query) for hit in hits], outcomes)
        return ranking._replace(
            left_out=(*ranking.left_out, *dropped),
            terms=terms.use,
            diagnostics={
                **ranking.diagnostics,
                **({} if terms.use.picked is None else {"picked": [*terms.use.picked]}),
                "kept": [*terms.effective],
                "gated": bool(gated),
                "weights": {FREE: self.free_weight, REQUIRED: round(weight, 4)},
                **({"trust": {**doubted}} if doubted else {}),
                "rrf_k": self.k,
            },
        )

    def _terms(self, query: Query, corpus: Corpus) -> "_Terms":
        cache = query.state.shared(dict[tuple[object, ...], _Terms], "required", self.fingerprint)
        key = (query.text, query.required)
        if key not in cache:
            cache[key] = self._usable_terms(query, corpus)
        return cache[key]

    def _usable_terms(self, query: Query, corpus: Corpus) -> "_Terms":
        requested, picked = tuple(dict.fromkeys(query.required)), None
        if not requested:
            few = len(concepts(query.text)) <= self.picked_up_to
            requested = picked = rarest_words(query.text, corpus) if few else ()
        counts = {term: query.sections_with(term, corpus) for term in requested}
        flagged: dict[str, Literal["too_rare", "too_common"]] = {}
        for term, count in counts.items():
            share = normal(count, corpus.size)
            if count and share < self.too_rare:
                flagged[term] = "too_rare"
            elif corpus.size >= self.common_from and share > self.too_common:
                flagged[term] = "too_common"
        effective = tuple(term for term in requested if flagged.get(term) != "too_common")
        filters = [
            TermFilter(term, reason, reason == "too_common") for term, reason in flagged.items()
        ]
        return _Terms(requested, effective, counts, TermUse(picked, tuple(filters)))

    def _trust(self, required: Ranking, free: Ranking) -> float:
        """Return the weight of a g_req run.

        A term that occurs only where little else of the query does is poor evidence. It is less so
        where g0 covers little too, as for a question in other words than the manual's.
        """
        best = max((hit.coverage for hit in free.hits), default=0.0)
        present = max((hit.coverage for hit in required.hits), default=0.0)
        share = min(1.0, present / best / self.trusted) if best else 1.0
        return max(self.least_trust, math.pow(share, 2 * best**4))

    def _blend(self, gates: Sequence[Outcome]) -> list[Hit]:
        """Combine each hit's normalised score with its normalised rank score."""
        merged = merge_rankings(gates, self.k)
        top_score = max((fused.best for fused in merged), default=0.0)
        top_rank = max((fused.score for fused in merged), default=0.0)
        share = self.score_share
        return [
            fused.hit.scored(
                top_score
                * (
                    share * normal(fused.best, top_score)
                    + (1 - share) * normal(fused.score, top_rank)
                ),
                "gate_rrf",
            )
            for fused in merged
        ]

    def _without_noise(self, hits: Sequence[Hit]) -> tuple[list[Hit], list[LeftOut]]:
        strong: list[Hit] = []
        dropped: list[LeftOut] = []
        for hit in hits:
            if hit.coverage >= self.weak_coverage or hit.labels & _STRONG:
                strong.append(hit)
            else:
                dropped.append(LeftOut(*hit.passage.key, "weak_match"))
        return strong, dropped


class _Terms(NamedTuple):
    """The terms requested or picked, those applied, and the number of sections with each."""

    requested: tuple[str, ...]
    effective: tuple[str, ...]
    counts: Mapping[str, int]
    use: TermUse


def _trusted(outcome: Outcome, trust: float) -> Outcome:
    """Return a g_req run with its weight and scores multiplied by the trust in its terms."""
    run, ranking = outcome
    if trust == 1.0:
        return outcome
    hits = tuple(hit.scored(trust * hit.score) for hit in ranking.hits)
    return Outcome(replace(run, weight=trust * run.weight), ranking._replace(hits=hits))


def _surely_matches(query: Query, corpus: Corpus) -> bool:
    """Tell whether a section contains all required terms of a run that excludes no section."""
    clause = query.inside(Bool(must=tuple(map(Holds, query.must))))
    return not query.exclude and bool(corpus.count(clause, 1).number)


def _repeats_query(terms: Sequence[str], text: str) -> bool:
    """Tell whether required terms say nothing that the query does not."""
    folded = fold(text)
    return all(mentions(folded, fold(term)) for term in terms)


def _together(number: int) -> str:
    return "+".join(chr(ord("A") + place) for place in range(number))


def _gate(gated_runs: Sequence[Outcome], k: int) -> tuple[Hit, ...]:
    """Return the hits of g_req: those of its only run, or its runs merged by rank."""
    if len(gated_runs) == 1:
        return gated_runs[0].ranking.hits
    return tuple(
        fused.hit.labelled("required_terms_rrf") for fused in merge_rankings(gated_runs, k)
    )


def _pinned(hits: Sequence[Hit], gates: Sequence[Outcome]) -> list[Hit]:
    """Pin the best hit of each gate, so that no later stage drops it."""
    best = {gate.ranking.hits[0].passage.key for gate in gates if gate.ranking.hits}
    return [hit.labelled(PINNED) if hit.passage.key in best else hit for hit in hits]


def _labelled(hit: Hit, terms: _Terms, query: Query) -> Hit:
    """Label a hit with the requested terms in its passage, whichever run found it."""
    present = query.terms_in(hit.passage, terms.requested)
    if not present:
        return hit
    label = "required_term_and" if len(present) == len(terms.requested) > 1 else "required_term"
    return hit.labelled(label)
