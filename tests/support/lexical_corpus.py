"""Three short sections, and what the scorer ``lexical`` makes of them by its published formula."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

from fumishirube import Hit, Query, Ranking
from fumishirube.testing import MemoryCorpus, passage
from fumishirube_stages.scorers.lexical import Lexical

RED = passage("one.md", body="red red sky!")
BLUE = passage("two.md", body="blue sea")
LONG = passage("three.md", body="a green hill and trees")
CORPUS = MemoryCorpus([RED, BLUE, LONG])
AVERAGE = (12 + 8 + 22) / 3

PLAIN = Lexical(coverage_power=0, page_title_weight=0, file_name_weight=0, section_title_weight=0)
"""Without the factors that compare sections of a search, and without scores of names."""

ONE_OF_3 = log(1 + 2.5 / 1.5)
TWO_OF_3 = log(1 + 1.5 / 2.5)


def ranked(
    text: str,
    corpus: MemoryCorpus = CORPUS,
    stage: Lexical | None = None,
    must: tuple[str, ...] = (),
) -> Sequence[Hit]:
    return hits_of(stage or PLAIN, Query(text, must=must), corpus)


def hits_of(stage: Lexical, query: Query, corpus: MemoryCorpus) -> Sequence[Hit]:
    found = stage.score(query, corpus, {})
    return found.hits if isinstance(found, Ranking) else tuple(found)


def scores(hits: Sequence[Hit]) -> dict[str, float]:
    return {hit.passage.path: round(hit.score, 9) for hit in hits}


def bm25(idf: float, frequency: float, length: float, average: float = AVERAGE) -> float:
    """Return what a term adds, as published, with k1 = 1.2 and b = 0.75."""
    return idf * frequency * 2.2 / (frequency + 1.2 * (0.25 + 0.75 * length / average))


def rarity(count: int, size: int) -> float:
    """Return the idf of a term that stands in some sections of a corpus of a size."""
    return log(1 + (size - count + 0.5) / (count + 0.5))
