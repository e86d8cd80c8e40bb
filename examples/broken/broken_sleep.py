"""A plugin that loads, but whose stages exceed their time."""

import logging
import time
from collections.abc import Iterable, Sequence
from typing import Literal

from fumishirube import (
    Clause,
    Corpus,
    Document,
    Embedder,
    Everything,
    Loader,
    Query,
    Ranking,
    Refiner,
    Register,
    Root,
    Source,
    Stage,
    Tokenizer,
    Vectors,
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


class SleepingLister(Stage):
    """Reads no files, and sleeps before it says so."""

    def sources(self, root: Root) -> Iterable[Source]:
        time.sleep(60)
        return []

    def load(self, root: Root, source: Source) -> Document:
        raise NotImplementedError


class SleepingTokenizer(Stage):
    """Divides at white space; it sleeps over texts with the word "tired"."""

    def terms(self, text: str) -> Sequence[str]:
        if "tired" in text:
            time.sleep(60)
        return text.split()

    def narrow(self, text: str) -> tuple[Clause, bool]:
        return Everything(), False


class SleepingEmbedder(Stage):
    """Sleeps over passages."""

    def embed(self, texts: Sequence[str], role: Literal["query", "passage"]) -> Vectors:
        if role == "passage":
            time.sleep(60)
        return [[1.0, 0.0] for _ in texts]


@hook
def register_refiners(register: Register[Refiner]) -> None:
    register("sleeping-refiner", Sleeping)


@hook
def register_loaders(register: Register[Loader]) -> None:
    register("sleeping-loader", SleepingLoader)
    register("sleeping-lister", SleepingLister)


@hook
def register_tokenizers(register: Register[Tokenizer]) -> None:
    register("sleeping-tokenizer", SleepingTokenizer)


@hook
def register_embedders(register: Register[Embedder]) -> None:
    register("sleeping-embedder", SleepingEmbedder)
