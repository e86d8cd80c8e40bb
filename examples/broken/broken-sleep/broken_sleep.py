"""A plugin that loads well, and whose refiner takes far more time than it has."""

import time

from fumishirube import Corpus, Query, Ranking, Refiner, Register, Stage, hook


class Sleeping(Stage):
    """Sleeps, and heeds no budget."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        time.sleep(60)
        return ranking


@hook
def register_refiners(register: Register[Refiner]) -> None:
    register("sleeping-refiner", Sleeping)
