"""Texts to vectors by one embedder, whose results are checked and whose failures are recorded."""

from __future__ import annotations

import hashlib
import logging
import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from fumishirube.corpus_kinds import EmbeddingCounts, SectionText
from fumishirube.errors import Cancelled, FumishirubeError, PluginError
from fumishirube.stages import Embedder, Vectors
from fumishirube.text.folding import estimate_tokens

if TYPE_CHECKING:  # it imports SQLite, which few workspaces need
    from fumishirube.engine.vectors.vector_file import SectionKeys

ReadSections: TypeAlias = Callable[[str], Sequence[SectionText | None] | None]
"""Returns the sections of a file, as the updates of :class:`SectionVectors` want them.

Of those that are ``None`` no vector is made.
"""

_QUERIES = 16
"""Vectors of queries that stay in memory: the runs of a search share their text."""

_LONGEST = 1e18
"""The length of a vector whose square is still a number of 32 bits, as vectors are stored."""

_log = logging.getLogger("fumishirube")

PIECE_TOKENS = 256
_BLOCKS = re.compile(r"\n[ \t]*\n")
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)", re.MULTILINE)


class NamedEmbedder(NamedTuple):
    """A running embedder, its name in the configuration, and what identifies its vectors."""

    name: str
    identity: str
    embedder: Embedder


class CheckedEmbedder:
    """An embedder, and the updates of vectors by it."""

    def __init__(self, named: NamedEmbedder) -> None:
        self._named = named
        self.query = lru_cache(_QUERIES)(self._query)
        self._works = False
        self._failed: Exception | None = None
        self._message: str | None = None
        self._unstored: str | None = None

    @property
    def failure(self) -> str | None:
        """The message of the last failure, to embed or to store, if that has not worked since."""
        return self._unstored or self._message

    def works(self) -> bool:
        """Tell whether it makes vectors with dimensions."""
        if not self._works:
            try:
                self._works = bool(self.embed(["a"], "query", 0)[0])
            except Exception:  # recorded in ``failure``; the search goes on with words alone
                return False
        return self._works

    def _query(self, text: str, dimensions: int) -> Sequence[float]:
        """Return the vector of a query."""
        return self.embed([text], "query", dimensions)[0]

    def embed(
        self, texts: Sequence[str], role: Literal["query", "passage"], dimensions: int
    ) -> Vectors:
        """Return the vectors of texts; if ``dimensions`` is not 0, all must have so many.

        Raises:
            Exception: whatever the embedder raises, after it was recorded.
            PluginError: when the vectors cannot be used.
        """
        try:
            made = [[*map(float, vector)] for vector in self._named.embedder.embed(texts, role)]
            named = f"embedder {self._named.name!r}"
            if fault := vector_fault(named, made, len(texts), dimensions):
                raise PluginError(fault)
        except Exception as error:
            self._fail(error)
            raise
        self._failed = self._message = None
        return made

    def update(
        self, write: Callable[[], EmbeddingCounts], stores: tuple[type[Exception], ...]
    ) -> EmbeddingCounts:
        """Return the counts of an update, or none if it fails, which is recorded.

        ``stores`` are the errors of what stores the vectors.

        Raises:
            Cancelled: when the caller has gone.
        """
        try:
            counts = write()
        except Cancelled:
            raise
        except Exception as error:
            if error is self._failed:  # recorded already
                pass
            elif isinstance(error, stores):
                reason = error if isinstance(error, FumishirubeError) else type(error).__name__
                self._unstored = f"the vectors cannot be stored: {reason}"
                _log.warning("%s", self._unstored)
            else:
                self._fail(error)
            return EmbeddingCounts()
        self._unstored = None
        return counts

    def _fail(self, error: Exception) -> None:
        """Record a failure: a message for the answers, the exception for the log."""
        self._failed = error
        if isinstance(error, FumishirubeError):
            self._message = str(error)
            _log.warning("%s", error)
        else:
            self._message = "the embedder failed; the log has the details"
            _log.exception("the embedder failed")


def vector_fault(embedder: str, made: Vectors, texts: int, dimensions: int = 0) -> str:
    """Return why an ``embedder``'s vectors cannot be those of so many texts; empty if they can.

    If ``dimensions`` is not 0, all must have so many.
    """
    sizes = {len(vector) for vector in made}
    if len(made) != texts or len(sizes) != 1:
        shape = f"{len(made)} vectors of {sorted(sizes)} dimensions"
        return f"the {embedder} made {shape} for {texts} texts"
    if dimensions and sizes != {dimensions}:
        shape = f"vectors of {max(sizes)} dimensions, and before of {dimensions}"
        return f"the {embedder} made {shape}; give another model another name, or another folder"
    if all(math.hypot(*vector) <= _LONGEST for vector in made):  # false for a NaN
        return ""
    return f"the {embedder} made a vector whose length is no usable number"


def divided(sections: Sequence[SectionText | None]) -> Sequence[Sequence[tuple[str, str]]]:
    """Return the pieces of each section of a file, each after its key.

    ``None`` stands for a section without a vector.
    """
    texts = (pieces(*section) if section else () for section in sections)
    return [[(_key(text), text) for text in section] for section in texts]


def keys_of(sections: Sequence[Sequence[tuple[str, str]]]) -> SectionKeys:
    """Return the keys of the pieces of each section."""
    return tuple(tuple(key for key, _ in section) for section in sections)


def _key(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def pieces(heading: str, text: str) -> list[str]:
    """Return the heading with the blocks of a text, joined up to the size limit; at least one.

    A block is never split, nor a fenced one at its blank lines.
    """
    packed: list[str] = []
    for block in _blocks(text):
        joined = f"{packed[-1]}\n\n{block}" if packed else block
        if packed and estimate_tokens(joined) <= PIECE_TOKENS:
            packed[-1] = joined
        else:
            packed.append(block)
    return [f"{heading}\n{piece}" for piece in packed] or [heading]


def _blocks(text: str) -> Iterator[str]:
    blocks = _BLOCKS.split(text)
    waiting: list[str] = []
    fences = 0
    for number, block in enumerate(blocks, 1):
        waiting.append(block)
        fences += len(_FENCE.findall(block))
        if fences % 2 == 0 or number == len(blocks):
            joined = "\n\n".join(waiting)
            if joined.strip():
                yield joined
            waiting = []
