"""A plugin that loads, but whose fuser fails at every query."""

from collections.abc import Sequence

from fumishirube import Corpus, Fuser, Outcome, Query, Ranking, Register, Run, Stage, hook


class Failing(Stage):
    """Fails."""

    def plan(self, query: Query, corpus: Corpus) -> Sequence[Run]:
        return [Run("query", query)]

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        raise RuntimeError("the fuser has blown")


@hook
def register_fusers(register: Register[Fuser]) -> None:
    register("failing-fuser", Failing)
