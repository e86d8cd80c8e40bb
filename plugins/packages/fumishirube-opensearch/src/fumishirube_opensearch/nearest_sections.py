"""The sections nearest to a vector, from an approximate search for their pieces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from fumishirube import Corpus
from fumishirube_opensearch.vector_documents import FoundPiece

_FIRST, _MOST = 400, 10_000
"""How many pieces are fetched at first, and at most: an approximate search finds more of more."""
_SEARCHES = 64


class PieceSearch(NamedTuple):
    """A search for the ``limit`` pieces most similar to a vector, perhaps only of some files."""

    vector: Sequence[float]
    limit: int
    within: frozenset[str] | None


FetchPieces: TypeAlias = Callable[[PieceSearch, Corpus | None], Sequence[FoundPiece] | None]
"""Returns pieces, best first; ``None`` if a rehearsal of the corpus has no answer yet."""


class NearestSections:
    """Finds sections by their pieces, and each piece once for each state of the vectors.

    The runs and rehearsals of one search repeat its requests.
    """

    def __init__(self, fetch: FetchPieces) -> None:
        self._fetch = fetch
        self._answers: tuple[object, dict[PieceSearch, Sequence[FoundPiece]]] = (None, {})

    def nearest(
        self,
        state: object,
        vector: Sequence[float],
        stamps: Mapping[str, str],
        limit: int,
        within: frozenset[str] | None,
        per_file: int | None,
        on: Corpus | None,
    ) -> Sequence[tuple[str, int, float]]:
        """Return sections of the files at their stamps, best first, then by path and number.

        ``state`` is the same object until the vectors change.
        """
        number = max(_FIRST, 2 * limit)
        while True:
            pieces = self._pieces(state, PieceSearch(tuple(vector), number, within), on)
            if pieces is None:
                return []
            sections = _sections(pieces, stamps, within, per_file)[:limit]
            if len(sections) == limit or len(pieces) < number or number == _MOST:
                return sections
            number = min(4 * number, _MOST)

    def _pieces(
        self, state: object, search: PieceSearch, on: Corpus | None
    ) -> Sequence[FoundPiece] | None:
        answered, answers = self._answers
        if answered is not state or len(answers) >= _SEARCHES:
            answers = {}
            self._answers = (state, answers)
        if search not in answers:
            pieces = self._fetch(search, on)
            if pieces is None:
                return None
            answers[search] = pieces
        return answers[search]


def _sections(
    pieces: Sequence[FoundPiece],
    stamps: Mapping[str, str],
    within: frozenset[str] | None,
    per_file: int | None,
) -> list[tuple[str, int, float]]:
    """Return each section once, by its best piece: of wanted files, and so many of each."""
    best: dict[tuple[str, int], float] = {}
    for path, stamp, number, similarity in pieces:
        if stamps.get(path) == stamp and similarity > 0:
            best[path, number] = max(similarity, best.get((path, number), 0.0))
    counts: Counter[str] = Counter()
    sections = []
    for (path, number), similarity in sorted(best.items(), key=lambda row: (-row[1], row[0])):
        counts[path] += 1
        wanted = within is None or path in within
        if wanted and counts[path] <= (per_file or counts[path]):
            sections.append((path, number, similarity))
    return sections
