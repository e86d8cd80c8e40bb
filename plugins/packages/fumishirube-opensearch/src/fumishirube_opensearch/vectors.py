"""Vectors of sections in a k-NN field, which the cluster searches itself."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from fumishirube import Budget, Corpus, FumishirubeError, IndexDamaged
from fumishirube.tools import EmbeddingCounts
from fumishirube_opensearch.bulks import Bulks
from fumishirube_opensearch.cluster import Cluster, VectorSearch
from fumishirube_opensearch.connection import Unavailable
from fumishirube_opensearch.corpus import SharedCorpus
from fumishirube_opensearch.generations import IndexRecord
from fumishirube_opensearch.lease import RecordStore, Writer
from fumishirube_opensearch.nearest_sections import NearestSections, PieceSearch
from fumishirube_opensearch.searches import Searches
from fumishirube_opensearch.vector_documents import (
    FileVectors,
    FoundPiece,
    Write,
    file_marker,
    piece_documents,
    unpacked_vector,
    vector_index_body,
)
from fumishirube_opensearch.vector_updates import Embed, Read, VectorUpdate

if TYPE_CHECKING:
    from fumishirube_opensearch import OpenSearch

_READ_SECONDS = 1.0
"""For how long the record is not read again."""
_RETRY_SECONDS = 0.05
_BATCH = 5000
_KEYS = 500
_PATHS = 10_000
"""How many paths a filter has at most; the engine takes six times as many."""


class ClusterVectors:
    """The vectors of one manual by one embedder, in an index of their own.

    A document for each piece has the vector, and the path and the stamp of its file. Another one
    for each file says at which stamp it is complete; its version is the number of the commit, so
    that the engine refuses an earlier writer. A record, as of any index, has the lease of the
    writer and changes with every commit. What was replaced is deleted after that.
    """

    def __init__(
        self, cluster: Cluster, settings: OpenSearch, meta: str, name: str, identity: str
    ) -> None:
        self._cluster = cluster
        self._settings = settings
        self._name = f"{name}-vectors-{sha256(identity.encode()).hexdigest()[:12]}"
        self._store = RecordStore(cluster, meta, self._name)
        self._holder = secrets.token_hex(8)
        self._writer: Writer | None = None
        self._record = IndexRecord()
        self._stamps: Mapping[str, str] = {}
        self._sections = NearestSections(self._pieces)
        self._read = 0.0
        self._lock = Lock()

    def stamps(self) -> Mapping[str, str]:
        """Return the complete files with their stamps: the same object until that changes."""
        with self._lock:
            if self._writer is None and time.monotonic() > self._read + _READ_SECONDS:
                read = self._store.read()
                self._see(read[0] if read else IndexRecord())
                self._read = time.monotonic()
            return self._stamps

    def update(
        self, stamps: Mapping[str, str], read: Read, embed: Embed, go_on: Callable[[], bool]
    ) -> EmbeddingCounts:
        """Store what has no vector, and delete the vectors that no file needs, if it may write."""
        if not self._settings.writes:
            return EmbeddingCounts()
        with self.writing(go_on) as mine:
            if not mine:
                return EmbeddingCounts(cut=True)
            return VectorUpdate(self, embed, go_on).run(stamps, read)

    @contextmanager
    def writing(self, go_on: Callable[[], bool]) -> Iterator[bool]:
        """Become the writer; yield ``False`` if another one stays busy until time is up."""
        seconds = self._settings.lease_seconds
        while (writer := Writer.of(self._store, self._holder, seconds)) is None:
            if not go_on():
                yield False
                return
            time.sleep(_RETRY_SECONDS)
        try:
            index = writer.record.index
            if index is not None and not self._cluster.has_index(index):
                writer.replace(lambda now: replace(now, index=None, commit=secrets.token_hex(8)))
            with self._lock:
                self._see(writer.record)
                self._writer = writer
            yield True
        finally:
            self._writer = None
            with suppress(FumishirubeError):  # it expires
                writer.release()

    def known(self, keys: Collection[str]) -> Mapping[str, Sequence[float]]:
        """Return the stored vectors of texts, by their hash."""
        vectors: dict[str, Sequence[float]] = {}
        for part in _parts([*keys], _KEYS) if self._record.index else ():
            bodies = [{"query": {"term": {"key": k}}, "size": 1, "_source": ["data"]} for k in part]
            answers = self._cluster.searches(str(self._record.index), bodies, whole=False)
            for key, answer in zip(part, answers, strict=True):
                for hit in answer["hits"]["hits"]:
                    vectors[key] = unpacked_vector(hit["_source"]["data"])
        return vectors

    def write(self, files: Sequence[FileVectors]) -> None:
        """Store vectors, and delete those of complete files at other stamps."""
        writer = self._current_writer()
        size = next((len(piece.vector) for file in files for piece in file.pieces), 0)
        if size and writer.record.index is None:
            self._make_index(writer, size)
        if writer.record.index is None:  # files without a text are embedded with the next ones
            return
        complete = {file.path: file.stamp for file in files if file.complete}
        self._commit(writer, [row for file in files for row in piece_documents(file)], complete)
        self._stamps = {**self._stamps, **complete}

    def drop(self, paths: Collection[str]) -> None:
        """Delete the vectors of files."""
        writer = self._current_writer()
        self._commit(writer, (), dict.fromkeys(paths, ""))
        self._stamps = {path: s for path, s in self._stamps.items() if path not in paths}

    def nearest(
        self,
        vector: Sequence[float],
        stamps: Mapping[str, str],
        limit: int,
        within: frozenset[str] | None,
        per_file: int | None,
        on: Corpus | None,
    ) -> Sequence[tuple[str, int, float]]:
        """Return the sections most similar to a vector, by HNSW of Lucene.

        The search is sent with those of the corpus ``on``; in its rehearsal none is found.

        Raises:
            Unavailable: when not every shard answers.
        """
        return self._sections.nearest(self._stamps, vector, stamps, limit, within, per_file, on)

    def _pieces(self, piece: PieceSearch, on: Corpus | None) -> Sequence[FoundPiece] | None:
        index = self._record.index
        if index is None:
            return ()
        wanted: dict[str, Any] = {"vector": [*piece.vector], "k": piece.limit}
        if piece.within is not None and len(piece.within) <= _PATHS:
            wanted["filter"] = {"terms": {"of": sorted(piece.within)}}
        body = {
            "query": {"knn": {"vector": wanted}},
            "size": piece.limit,
            "_source": ["of", "stamp", "number"],
            "track_total_hits": False,
        }
        search = VectorSearch(index, str(self._record.commit), body)
        if isinstance(on, SharedCorpus):
            answer = on.similar(search)
        else:
            (answer,) = Searches(self._cluster, index, whole=False).answers([search])
        if answer is None:
            return None
        if isinstance(answer.error, IndexDamaged):
            self._read = 0.0
            raise Unavailable("the vectors are gone from the cluster") from answer.error
        if answer.error:
            raise answer.error
        if answer.partial:
            total, done = answer.shards["total"], answer.shards["successful"]
            raise Unavailable(f"{total - done} of {total} shards with vectors not searched")
        return answer.pieces

    def _current_writer(self) -> Writer:
        if self._writer is None:
            raise RuntimeError("vectors are stored by the writer; use this inside writing()")
        return self._writer

    def _make_index(self, writer: Writer, size: int) -> None:
        name = f"{self._name}-{secrets.token_hex(4)}"
        self._cluster.make_index(name, vector_index_body(self._settings, size))
        self._record = writer.replace(lambda now: replace(now, index=name))

    def _commit(self, writer: Writer, pieces: Sequence[Write], stamps: Mapping[str, str]) -> None:
        """Store pieces, and at which stamps files are complete; delete their other pieces.

        Raises:
            Forbidden: when another writer has taken over.
        """
        number = writer.record.next
        self._send(map(_lines, pieces))
        self._send(_lines(file_marker(path, stamp, number)) for path, stamp in stamps.items())
        self._cluster.refresh(str(writer.record.index), Budget())
        self._record = writer.replace(
            lambda now: replace(now, next=number + 1, commit=secrets.token_hex(8))
        )
        self._delete_others(stamps)

    def _send(self, writes: Iterable[bytes]) -> None:
        index, size = str(self._record.index), self._settings.bulk_bytes
        with Bulks(self._cluster, index, size, Budget()) as bulks:
            for lines in writes:
                bulks.add(lines)
            bulks.finish()

    def _delete_others(self, stamps: Mapping[str, str]) -> None:
        """Delete the pieces of files at other stamps than these."""
        for part in _parts([*stamps], _KEYS):
            bodies = [
                {
                    "query": {
                        "bool": {
                            "filter": [{"term": {"kind": "piece"}}, {"term": {"of": path}}],
                            "must_not": [{"term": {"stamp": stamps[path]}}],
                        }
                    },
                    "size": 10_000,
                    "_source": False,
                }
                for path in part
            ]
            answers = self._cluster.searches(str(self._record.index), bodies, whole=False)
            hits = [hit["_id"] for answer in answers for hit in answer["hits"]["hits"]]
            self._send(to_json({"delete": {"_id": key}}) + b"\n" for key in hits)

    def _see(self, record: IndexRecord) -> None:
        """Read the files that were completed since the known record."""
        if record.commit == self._record.commit:
            self._record = record
            return
        same = record.index == self._record.index
        stamps = dict(self._stamps) if same else {}
        since = self._record.next - 1 if same else 0
        if record.index is not None:
            try:
                for path, stamp in self._completed(record.index, since):
                    stamps[path] = stamp
            except IndexDamaged:  # the next writer makes it again
                stamps = {}
        self._record, self._stamps = record, {p: s for p, s in stamps.items() if s}

    def _completed(self, index: str, since: int) -> Iterator[tuple[str, str]]:
        """Yield files and stamps written after a commit, in order; an empty stamp if dropped.

        Raises:
            IndexDamaged: when the index is gone, or a part of it.
        """
        kind: Any = [{"term": {"kind": "file"}}, {"range": {"at": {"gte": since}}}]
        body: dict[str, Any] = {
            "query": {"bool": {"filter": kind}},
            "size": _BATCH,
            "sort": [{"at": "asc"}, {"of": "asc"}],
            "_source": ["of", "stamp"],
            "track_total_hits": False,
        }
        for hit in self._cluster.all_hits(index, body):
            yield hit["_source"]["of"], hit["_source"]["stamp"]


def _lines(write: Write) -> bytes:
    action, body = write
    return b"%b\n%b\n" % (to_json({"index": action}), to_json(body))


def _parts(rows: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (rows[at : at + size] for at in range(0, len(rows), size))
