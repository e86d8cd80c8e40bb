"""No vectors."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from fumishirube import Stage, Vectors


class NullEmbedder(Stage):
    """Returns vectors without dimensions: nothing is similar to anything."""

    needs: ClassVar[tuple[str, ...]] = ()

    def embed(self, texts: Sequence[str], role: Literal["query", "passage"]) -> Vectors:
        """Return an empty vector for each text."""
        return [() for _ in texts]
