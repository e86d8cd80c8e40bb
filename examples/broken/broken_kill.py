"""A plugin that loads, but whose scorer ends the process."""

import os
from collections.abc import Iterable, Mapping

from fumishirube import Corpus, Hit, Passage, Query, Register, Scorer, Stage, hook


class Killing(Stage):
    """Ends the process without cleanup, like a crash of an extension."""

    def score(
        self, query: Query, corpus: Corpus, candidates: Mapping[tuple[str, int], Passage]
    ) -> Iterable[Hit]:
        os._exit(7)


@hook
def register_scorers(register: Register[Scorer]) -> None:
    register("killing-scorer", Killing)
