"""A plugin that registers a refiner as a fuser."""

from fumishirube import Corpus, Fuser, Query, Ranking, Register, Stage, hook


class NoFuser(Stage):
    """Refines; it neither plans nor fuses."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        return ranking


@hook
def register_fusers(register: Register[Fuser]) -> None:
    register("no-fuser", NoFuser)  # type: ignore[arg-type]
