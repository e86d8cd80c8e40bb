"""A plugin that loads, but whose refiner fails at every query."""

from fumishirube import Corpus, Query, Ranking, Refiner, Register, Stage, hook


class Failing(Stage):
    """Fails."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        raise LookupError("the refiner has lost its polish")


@hook
def register_refiners(register: Register[Refiner]) -> None:
    register("failing-refiner", Failing)
