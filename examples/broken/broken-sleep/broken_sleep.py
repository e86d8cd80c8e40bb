"""A plugin that loads, but whose refiner exceeds its time."""

import time

from fumishirube import Corpus, Query, Ranking, Refiner, Register, Stage, hook


class Sleeping(Stage):
    """Sleeps, and ignores the budget."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        time.sleep(60)
        return ranking


@hook
def register_refiners(register: Register[Refiner]) -> None:
    register("sleeping-refiner", Sleeping)
