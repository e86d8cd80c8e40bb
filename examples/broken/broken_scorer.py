"""A plugin that loads, but whose scorer fails at every query."""

from collections.abc import Iterable, Mapping

from fumishirube import Corpus, Hit, Passage, Query, Register, Scorer, Stage, hook


class Failing(Stage):
    """Fails."""

    def score(
        self, query: Query, corpus: Corpus, candidates: Mapping[tuple[str, int], Passage]
    ) -> Iterable[Hit]:
        raise RuntimeError("the scorer has lost its marbles")


@hook
def register_scorers(register: Register[Scorer]) -> None:
    register("failing-scorer", Failing)
