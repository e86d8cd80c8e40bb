"""Glossary: a query that has words of the glossary is also run with other words instead."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from pydantic import JsonValue

from fumishirube import Corpus, Outcome, Query, Ranking, Run, Stage, fused_ranking, merge_rankings
from fumishirube_stages.fused_scores import normal, top_score

_LEAST = 0.01
"""The least coverage of a run, so that hits without any keep their order."""


class GlossaryFuser(Stage):
    """Runs a query as it is, and with synonyms of the glossary instead of its words.

    Synonyms that the manual lacks are left out; a word that it lacks itself is replaced in every
    run. The score of a section is its best share of a run's top score, times the best coverage of
    that run. The stage does not apply to a query without words of the glossary.
    """

    needs: ClassVar[tuple[str, ...]] = ("fusers", "synonyms")

    def applies(self, query: Query) -> bool:
        """Tell whether the query, or a term that its hits must contain, has synonyms."""
        return bool(query.rewordings())

    def plan(self, query: Query, corpus: Corpus) -> Sequence[Run]:
        """Return the run of the query itself, and one for each rewording."""

        def known(word: str) -> bool:
            return bool(query.state.sections_with((word,), corpus))

        usable = [row._replace(others=tuple(filter(known, row.others))) for row in query.synonyms]
        usable = [row for row in usable if row.others]
        absent = tuple(row for row in usable if not known(row.word))
        first = [*replace(query, synonyms=absent).rewordings(), query][0]
        queries = [first, *replace(query, synonyms=tuple(usable)).rewordings()]
        distinct = {(made.text, made.must): replace(made, synonyms=()) for made in queries}
        return tuple(Run(f"glossary-{n}", made) for n, made in enumerate(distinct.values()))

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        """Merge the runs by score and coverage, and report the synonyms."""
        words: dict[str, JsonValue] = {row.word: [*row.others] for row in query.synonyms}
        shared = [_shared(outcome) for outcome in outcomes]
        scale = top_score(*(outcome.ranking for outcome in outcomes))
        merged = merge_rankings(shared)
        best = max((row.best for row in merged), default=0.0)
        hits = [row.hit.scored(scale * normal(row.best, best)) for row in merged]
        ranking = outcomes[0].ranking if len(outcomes) == 1 else fused_ranking(hits, shared)
        return ranking._replace(diagnostics={**ranking.diagnostics, "glossary": words})


def _shared(outcome: Outcome) -> Outcome:
    """Return a run with scores up to the coverage of its best hit."""
    hits = outcome.ranking.hits
    top = top_score(outcome.ranking)
    covered = max(_LEAST, *(hit.coverage for hit in hits), 0.0)
    shared = tuple(hit.scored(covered * normal(hit.score, top)) for hit in hits)
    return Outcome(outcome.run, outcome.ranking._replace(hits=shared))
