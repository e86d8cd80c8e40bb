"""A plugin that loads, but whose scores are NaN."""

import math
from collections.abc import Iterable, Mapping

from fumishirube import Corpus, Hit, Passage, Query, Register, Scorer, Stage, hook


class Undefined(Stage):
    """Scores every candidate with NaN."""

    def score(
        self, query: Query, corpus: Corpus, candidates: Mapping[tuple[str, int], Passage]
    ) -> Iterable[Hit]:
        return [Hit(passage, math.nan) for passage in candidates.values()]


@hook
def register_scorers(register: Register[Scorer]) -> None:
    register("undefined-scorer", Undefined)
