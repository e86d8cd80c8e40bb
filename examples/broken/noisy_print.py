"""A plugin that prints when it is imported, when it registers, and when it runs."""

import os

from fumishirube import Corpus, Query, Ranking, Refiner, Register, Stage, hook

print("noisy: imported")  # noqa: T201 - the noise is the point
os.write(1, b"noisy: imported, past sys.stdout\n")


class Noisy(Stage):
    """Returns the ranking unchanged, and prints."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        print("noisy: refining")  # noqa: T201
        return ranking


@hook
def register_refiners(register: Register[Refiner]) -> None:
    print("noisy: registering")  # noqa: T201
    register("noisy", Noisy)
