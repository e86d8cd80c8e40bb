"""A plugin that loads, but whose refiner and loader exceed their time."""

import logging
import time
from collections.abc import Iterable

from fumishirube import (
    Corpus,
    Document,
    Loader,
    Query,
    Ranking,
    Refiner,
    Register,
    Root,
    Source,
    Stage,
    divide_at_headings,
    hook,
)

_log = logging.getLogger("fumishirube")


class Sleeping(Stage):
    """Sleeps, and ignores the budget."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        time.sleep(60)
        return ranking


class SleepingLoader(Stage):
    """Reads ``.nap`` files; it sleeps for the seconds in the first line of each."""

    def sources(self, root: Root) -> Iterable[Source]:
        return [Source(file.path) for file in root.files() if file.path.endswith(".nap")]

    def load(self, root: Root, source: Source) -> Document:
        text = root.read_bytes(source.path).decode()
        _log.warning("asleep over %s", source.path)
        time.sleep(float(text.splitlines()[0]))
        sections = tuple(divide_at_headings(text, [], source.path))
        return Document(source.path, "nap", text, sections)


@hook
def register_refiners(register: Register[Refiner]) -> None:
    register("sleeping-refiner", Sleeping)


@hook
def register_loaders(register: Register[Loader]) -> None:
    register("sleeping-loader", SleepingLoader)
