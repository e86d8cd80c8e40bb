"""Vectors of passages: embedded when the text is new, stored in a file, compared by cosine."""

from __future__ import annotations

import hashlib
import logging
import re
import sqlite3
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from operator import mul
from pathlib import Path
from typing import Literal, NamedTuple

from fumishirube import Embedder, FumishirubeError
from fumishirube import Vectors as EmbedderVectors
from fumishirube.text import estimate_tokens
from fumishirube_graph.records import Doc

PASSAGE_TOKENS = 256

_log = logging.getLogger("fumishirube")

_BATCH = 64
_BLOCKS = re.compile(r"\n[ \t]*\n")
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)", re.MULTILINE)


class Progress(NamedTuple):
    """How many of the passages have a vector."""

    completed: int
    total: int


class EmbeddingCounts(NamedTuple):
    """The counts of one round of embedding."""

    embedded: int = 0
    reused: int = 0
    dropped: int = 0


class SimilarSection(NamedTuple):
    """A section and its similarity."""

    doc: Doc
    number: int
    likeness: float


class Vectors:
    """The vectors of one embedder with its settings, in a file of their own.

    There are none without an embedder, with a failing one, or with one without dimensions. A model
    is loaded only when there is a text to embed. ``failure`` is the message of the last failure.
    """

    def __init__(self, embedder: Embedder | None, file: Path) -> None:
        self._embedder = embedder
        self._file = file
        self._stored: dict[str, array[float]] = {}
        self._keys: dict[str, tuple[Doc, list[list[str]]]] = {}
        self._progress: tuple[Mapping[str, Doc], Mapping[str, array[float]], Progress] | None = None
        self.failure: str | None = None
        if embedder is not None and file.exists():
            self._load()

    @cached_property
    def active(self) -> bool:
        """Whether an embedder produces vectors; stored vectors answer this without calling it."""
        if self._stored or self._embedder is None:
            return self._embedder is not None
        try:
            return bool(len(self._embed(["a"], "query")[0]))
        except Exception:  # logged below; the search goes on with words alone
            return False

    @property
    def present(self) -> bool:
        """Whether there is any vector."""
        return bool(self._stored)

    def progress(self, docs: Mapping[str, Doc]) -> Progress:
        """Return how many of the documents' passages have a vector."""
        if not self.active:
            return Progress(0, 0)
        stored = self._stored
        cached = self._progress
        if cached is None or cached[0] is not docs or cached[1] is not stored:
            keys = {key for doc in docs.values() for section in self._of(doc) for key in section}
            cached = (docs, stored, Progress(len(keys & stored.keys()), len(keys)))
            self._progress = cached
        return cached[2]

    def bring_up_to_date(
        self, docs: Iterable[Doc], go_on: Callable[[], bool] = lambda: True
    ) -> EmbeddingCounts:
        """Embed the passages without a vector, and delete the vectors without a passage."""
        if not self.active:
            return EmbeddingCounts()
        docs = list(docs)
        paths = {doc.path for doc in docs}
        for path in [*self._keys]:
            if path not in paths:
                self._keys.pop(path, None)
        texts = {_key(text): text for doc in docs for section in passages(doc) for text in section}
        gone = self._stored.keys() - texts.keys()
        new = [key for key in texts if key not in self._stored]
        done = 0
        with closing(self._open()) as base:
            for start in range(0, len(new), _BATCH):
                if not go_on():
                    break
                batch = new[start : start + _BATCH]
                made = self._embed([texts[key] for key in batch], "passage")
                rows = [(key, array("f", vector)) for key, vector in zip(batch, made, strict=True)]
                with base:
                    base.executemany(
                        "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                        [(key, vector.tobytes()) for key, vector in rows],
                    )
                self._stored = {**self._stored, **dict(rows)}
                done += len(batch)
            with base:
                base.executemany("DELETE FROM vectors WHERE key = ?", [(key,) for key in gone])
        self._stored = {key: stored for key, stored in self._stored.items() if key not in gone}
        return EmbeddingCounts(done, len(texts) - len(new), len(gone))

    def nearest(self, text: str, docs: Iterable[Doc], limit: int) -> list[SimilarSection]:
        """Return the sections with the passage most similar to a text, best first."""
        if not self._stored:
            return []
        (query_vector,) = self._embed([text], "query")
        sections = [
            SimilarSection(doc, number, likeness)
            for doc in docs
            for number, likeness in self._likenesses(doc, query_vector)
            if likeness > 0
        ]
        sections.sort(key=lambda section: (-section.likeness, section.doc.path, section.number))
        return sections[:limit]

    def likeness(self, first: Doc, second: Doc) -> tuple[float, int, int]:
        """Return the best similarity of a section of each document, and the two sections."""
        best = (0.0, 0, 0)
        for number, keys in enumerate(self._of(first)):
            for mine in (self._stored[key] for key in keys if key in self._stored):
                for place, likeness in self._likenesses(second, mine):
                    if likeness > best[0]:
                        best = (likeness, number, place)
        return best

    def fail(self, error: Exception) -> None:
        """Record a failure: a message for the answers, the exception for the log."""
        if isinstance(error, FumishirubeError):
            self.failure = str(error)
            _log.warning("%s", error)
        else:
            self.failure = "the embedder failed; the log has the details"
            _log.exception("the embedder failed")

    def _embed(self, texts: Sequence[str], role: Literal["query", "passage"]) -> EmbedderVectors:
        if self._embedder is None:
            return []
        try:
            made = self._embedder.embed(texts, role)
        except Exception as error:
            self.fail(error)
            raise
        self.failure = None
        return made

    def _likenesses(self, doc: Doc, target: Sequence[float]) -> Iterator[tuple[int, float]]:
        for number, keys in enumerate(self._of(doc)):
            values = [_dot(target, self._stored[key]) for key in keys if key in self._stored]
            if values:
                yield number, min(1.0, max(0.0, *values, 0.0))

    def _of(self, doc: Doc) -> list[list[str]]:
        cached = self._keys.get(doc.path)
        if cached is None or cached[0].record is not doc.record:
            cached = (doc, [[_key(text) for text in section] for section in passages(doc)])
            self._keys[doc.path] = cached
        return cached[1]

    def _load(self) -> None:
        try:
            with closing(self._open()) as base:
                rows = base.execute("SELECT key, vector FROM vectors").fetchall()
        except sqlite3.OperationalError:
            _log.exception("the vectors cannot be read now; they are made again")
            return
        except sqlite3.DatabaseError:
            # Derived data: an unreadable file is made again.
            self._file.unlink(missing_ok=True)
            return
        for key, data in rows:
            vector = array("f")
            vector.frombytes(data)
            self._stored[key] = vector

    def _open(self) -> sqlite3.Connection:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        base = sqlite3.connect(self._file, timeout=30)
        base.execute(
            "CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB) WITHOUT ROWID"
        )
        return base


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    dot: float = sum(map(mul, left, right))
    return dot


def passages(doc: Doc) -> Iterator[list[str]]:
    """Yield the passages of each section: blocks, joined up to the size limit.

    A fenced block is never split at its blank lines, and no passage spans two sections.
    """
    for part in doc.record.parts:
        packed: list[str] = []
        for block in _blocks(doc.text(part)):
            joined = f"{packed[-1]}\n\n{block}" if packed else block
            if packed and estimate_tokens(joined) <= PASSAGE_TOKENS:
                packed[-1] = joined
            else:
                packed.append(block)
        heading = part.heading or doc.title
        yield [f"{heading}\n{text}" for text in packed] or [heading]
    if not doc.record.parts:
        yield [doc.title]


def _blocks(text: str) -> Iterator[str]:
    waiting = ""
    for block in _BLOCKS.split(text):
        waiting = f"{waiting}\n\n{block}" if waiting else block
        if len(_FENCE.findall(waiting)) % 2 == 0:
            if waiting.strip():
                yield waiting
            waiting = ""
    if waiting.strip():
        yield waiting


def _key(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
