"""One of two plugins that claim the name ``contested``."""

from collections.abc import Sequence

from fumishirube import Corpus, Fuser, Outcome, Query, Ranking, Register, Run, Stage, hook


class Clash(Stage):
    """Returns the ranking of its first run."""

    def plan(self, query: Query, corpus: Corpus) -> Sequence[Run]:
        return [Run("query", query)]

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        return outcomes[0].ranking


@hook
def register_fusers(register: Register[Fuser]) -> None:
    register("contested", Clash)
