"""A refiner for Fumishirube that ranks the newest of similar documents first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Annotated

from pydantic import Field

from fumishirube import Corpus, Hit, Query, Ranking, Refiner, Register, Stage, hook
from fumishirube_newest.dates import dated, labelled


class Newest(Stage):
    """Lowers the scores of documents by their age, relative to the newest document found.

    The date of a document is the one in its path, or else the latest one after a label of
    ``labels`` in its text. A document ``half_life_days`` older than the newest loses half of
    ``weight`` of its score; one without a date counts as ``undated_days`` older.
    """

    weight: Annotated[float, Field(ge=0, le=1)] = 0.3
    half_life_days: Annotated[float, Field(gt=0)] = 365.0
    undated_days: Annotated[float, Field(ge=0)] = 365.0
    labels: tuple[str, ...] = (
        *("更新日", "最終更新", "改訂日", "改定日", "施行日", "発行日", "作成日"),
        *("last updated", "updated", "last modified", "revised", "effective", "published", "date"),
    )

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        """Return the same hits, ordered by their lowered scores."""
        dates = query.state.shared(dict[str, date | None], "newest", self.fingerprint)
        for path in {hit.passage.path for hit in ranking.hits}.difference(dates):
            dates[path] = self._date(path, corpus)
        newest = max((day for _, day in _days(ranking, dates)), default=None)
        if newest is None:
            return ranking
        lowered = [hit.scored(self._aged_score(hit, newest, dates)) for hit in ranking.hits]
        return ranking._replace(hits=tuple(sorted(lowered, key=Hit.sort_key)))

    def _date(self, path: str, corpus: Corpus) -> date | None:
        dates = dated(path)
        if not dates:
            texts = (section.fields["body"] for section in corpus.page(path))
            dates = [day for text in texts for day in labelled(text, self.labels)]
        return max(dates, default=None)

    def _aged_score(self, hit: Hit, newest: date, dates: Mapping[str, date | None]) -> float:
        day = dates[hit.passage.path]
        age = self.undated_days if day is None else (newest - day).days
        return hit.score * (1 - self.weight * (1 - math.exp2(-age / self.half_life_days)))


def _days(ranking: Ranking, dates: Mapping[str, date | None]) -> Iterator[tuple[str, date]]:
    for hit in ranking.hits:
        day = dates[hit.passage.path]
        if day is not None:
            yield hit.passage.path, day


@hook
def register_refiners(register: Register[Refiner]) -> None:
    """Register the refiner."""
    register("newest", Newest)
