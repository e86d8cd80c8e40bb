"""Vectors of hashed terms: no model, no download, deterministic."""

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import Field

from fumishirube import Stage, Vectors
from fumishirube.text import fold

_SIGN = 1
_BYTES = 8
_SHORTEST, _LONGEST = 2, 4


class Hashing(Stage):
    """Hashes terms into a fixed number of dimensions, each with a sign, weighted by frequency.

    Terms are pieces of two to four characters. Terms that share a dimension cancel out as often as
    they add up, after Weinberger and others, "Feature Hashing for Large Scale Multitask Learning"
    (2009). Texts are similar when they share pieces, in any order.
    """

    dimensions: Annotated[int, Field(ge=1, le=65_536)] = 256

    def embed(self, texts: Sequence[str], role: Literal["query", "passage"]) -> Vectors:
        """Return a vector of unit length for each text, also for one without terms."""
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self.dimensions
        for term, count in Counter(_terms(fold(text))).items():
            number = _number(term)
            weight = 1.0 + math.log(count)
            vector[(number >> _SIGN) % self.dimensions] += weight if number & _SIGN else -weight
        length = math.sqrt(sum(value * value for value in vector))
        if not length:
            return [1.0] + [0.0] * (self.dimensions - 1)
        return [value / length for value in vector]


def _terms(folded: str) -> Iterator[str]:
    for length in range(_SHORTEST, min(_LONGEST, len(folded)) + 1):
        yield from (folded[at : at + length] for at in range(len(folded) - length + 1))
    if 0 < len(folded) < _SHORTEST:
        yield folded


@lru_cache(maxsize=65_536)
def _number(term: str) -> int:
    """Return a number for a term; the same in every process, unlike ``hash``."""
    spelled = term.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(spelled, digest_size=_BYTES).digest(), "big")
