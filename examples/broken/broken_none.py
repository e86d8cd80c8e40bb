"""A plugin that loads, but whose fuser returns ``None``."""

from collections.abc import Sequence

from fumishirube import Corpus, Fuser, Outcome, Query, Ranking, Register, Run, Stage, hook


class Forgetful(Stage):
    """Returns nothing."""

    def plan(self, query: Query, corpus: Corpus) -> Sequence[Run]:
        return [Run("query", query)]

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        return None  # type: ignore[return-value]


@hook
def register_fusers(register: Register[Fuser]) -> None:
    register("forgetful-fuser", Forgetful)
