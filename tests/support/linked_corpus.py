"""A corpus of linked passages whose similarities and text estimates a test writes down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fumishirube import IndexMatch, Neighbour, Passage, TextMatches
from fumishirube.testing import MemoryCorpus

PER_FILE = 10


class WrittenLinks(MemoryCorpus):
    """Passages in memory; what a text search, vectors and links return is given."""

    def __init__(
        self,
        passages: Iterable[Passage] = (),
        *,
        links: Mapping[str, Sequence[Neighbour]] | None = None,
        similar: Sequence[IndexMatch] = (),
        vectors: bool = True,
    ) -> None:
        super().__init__(passages)
        self.links = links or {}
        self.similar = similar
        self.vectors = vectors
        self.searches: list[tuple[tuple[str, ...], int | None, frozenset[str] | None, float]] = []
        self.estimates: dict[tuple[str, ...], Mapping[str, float]] = {}
        self.nearest_of: list[tuple[str, int, frozenset[str] | None]] = []

    def neighbours(self, path: str) -> Sequence[Neighbour]:
        return self.links.get(path, ())

    def search_texts(
        self,
        texts: Sequence[str],
        limit: int | None,
        within: frozenset[str] | None = None,
        share: float = 1.0,
    ) -> TextMatches:
        """Return the passages with a written estimate for these texts, best first."""
        self.searches.append((tuple(texts), limit, within, share))
        values = self.estimates.get(tuple(texts), {})
        rows = [
            IndexMatch(item, values[item.path]) for item in self.passages if item.path in values
        ]
        rows.sort(key=lambda row: (-row.estimate, row.passage.key))
        return TextMatches(rows if limit is None else rows[:limit], len(rows))

    def nearest(
        self,
        text: str,
        limit: int,
        within: frozenset[str] | None = None,
        per_file: int | None = None,
    ) -> Sequence[IndexMatch]:
        assert per_file == PER_FILE
        self.nearest_of.append((text, limit, within))
        return self.similar[:limit]
