"""Vectors that an index of a plugin stores and compares: guarded, and what it returns checked."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from fumishirube.corpus import Corpus
from fumishirube.corpus_kinds import EmbeddingCounts, VectorStore
from fumishirube.errors import IndexDamaged, ToolError
from fumishirube.host.guarded_stages import NamedInErrors
from fumishirube.host.offered_types import require

T = TypeVar("T")

_PART = "vectors"
"""What errors call this part of an index."""


class GuardedVectors(NamedInErrors[VectorStore]):
    """The vectors of one embedder in an index of a plugin."""

    _answers = (ToolError, IndexDamaged)

    def stamps(self) -> Mapping[str, str]:
        """Return the complete files with their stamps."""
        with self._watched("stamps"):
            stamps: Mapping[str, str] = require("stamps", self._stage.stamps(), Mapping, _PART)
            return stamps

    def update(
        self,
        stamps: Mapping[str, str],
        read: Callable[[str], Sequence[Sequence[tuple[str, str]]] | None],
        embed: Callable[[Sequence[str]], Sequence[Sequence[float]]],
        go_on: Callable[[], bool],
    ) -> EmbeddingCounts:
        """Store what has no vector; what it calls back may fail, which is no failure of it."""
        failed: list[BaseException] = []

        def called_back(function: Callable[..., T]) -> Callable[..., T]:
            def called(*arguments: Any) -> T:
                with self._guard.called_back():
                    try:
                        return function(*arguments)
                    except BaseException as error:
                        failed.append(error)
                        raise

            return called

        with self._watched("update"):
            try:
                counts = self._stage.update(
                    stamps, called_back(read), called_back(embed), called_back(go_on)
                )
            except BaseException as error:
                if error not in failed:
                    raise
            else:
                require("update", counts, EmbeddingCounts, _PART)
                return counts
        raise failed[-1]

    def nearest(
        self,
        vector: Sequence[float],
        stamps: Mapping[str, str],
        limit: int,
        within: frozenset[str] | None,
        per_file: int | None,
        on: Corpus | None,
    ) -> Sequence[tuple[str, int, float]]:
        """Return the most similar sections."""
        with self._watched("nearest"):
            similar = self._stage.nearest(vector, stamps, limit, within, per_file, on)
            if not isinstance(similar, Sequence) or not all(map(_is_section, similar)):
                kind = type(similar).__name__
                raise TypeError(
                    f"'nearest' of its {_PART} gave a {kind} and no sequence of sections"
                )
            return similar


def _is_section(section: object) -> bool:
    match section:
        case (str(), int(number), int() | float() as similarity):
            return number >= 0 and math.isfinite(similarity)
        case _:
            return False
