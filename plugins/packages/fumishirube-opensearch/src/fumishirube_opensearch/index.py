"""The running form: one manual's index in the cluster, and the content of its last commit."""

from __future__ import annotations

import secrets
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fumishirube import (
    Budget,
    Corpus,
    Fields,
    FumishirubeError,
    IndexDamaged,
    IndexedFile,
    Root,
)
from fumishirube.disk import StoredFile
from fumishirube_opensearch.cluster import Cluster, vector_note
from fumishirube_opensearch.corpus import SharedCorpus
from fumishirube_opensearch.files import ContentCache, FileContents, PageFiles
from fumishirube_opensearch.generations import IndexRecord
from fumishirube_opensearch.lease import RecordStore, Writer, now
from fumishirube_opensearch.names import index_name, manual_of, meta_name, origin_of
from fumishirube_opensearch.searches import Searches
from fumishirube_opensearch.sections import Sections, index_body
from fumishirube_opensearch.vectors import ClusterVectors
from fumishirube_opensearch.writing import PageRecord, Update, expired_indexes

if TYPE_CHECKING:
    from fumishirube_opensearch import OpenSearch

_RETRY_SECONDS = 0.05
_BATCH = 5000
_META: Mapping[str, Any] = {
    "settings": {"number_of_shards": 1, "auto_expand_replicas": "0-2"},
    "mappings": {"dynamic": False, "properties": {"index": {"type": "keyword"}}},
}


class SharedIndex:
    """Follows the record of one manual; several servers may, and one of them writes."""

    def __init__(self, settings: OpenSearch, folder: Root, fields: Fields) -> None:
        self._settings = settings
        self._fields = fields
        self._sections = Sections(fields)
        self.preparation = self._sections.prepare
        self._cluster = Cluster(settings)
        self._holder = secrets.token_hex(8)
        self._manual = manual_of(folder)
        self._name = index_name(settings, self._manual, fields)
        self._origin = origin_of(folder) if settings.writes else ""
        meta = meta_name(settings)
        self._meta = meta
        self._store = RecordStore(self._cluster, meta, self._name)
        self._writer: Writer | None = None
        self._contents = ContentCache()
        self._vectors: dict[str, ClusterVectors] = {}
        self._view: SharedCorpus | None = None
        self._budget = Budget()
        self._see(IndexRecord(), {})
        try:
            self._open(meta)
        except BaseException:
            self._cluster.close()
            raise

    def _open(self, meta: str) -> None:
        self._cluster.make_index(meta, _META)
        with suppress(IndexDamaged):  # the next writer rebuilds it
            self.refresh()

    def pages(self) -> Mapping[str, IndexedFile]:
        """Return the files of the last commit, by path."""
        return self._pages

    def refresh(self) -> None:
        """Read what other processes have committed.

        Raises:
            IndexDamaged: when the record, or the engine's index that it names, is gone.
        """
        read = self._store.read()
        record = read[0] if read else IndexRecord()
        if record.commit == self._record.commit:
            return
        if record.generation == 0:
            raise IndexDamaged("the record of the index is gone from the cluster")
        self._see(record, self._load(record))

    @contextmanager
    def writing(self, budget: Budget) -> Iterator[bool]:
        """Become the writer; yield ``False`` if another one stays busy."""
        writer = self._wait_for_lease(budget) if self._settings.writes else None
        if writer is None:
            yield False
            return
        self._writer, self._budget = writer, budget
        try:
            self._prepare(writer)
            yield True
        finally:
            self._writer, self._budget = None, Budget()
            with suppress(FumishirubeError):  # it expires
                writer.release()

    @contextmanager
    def rebuilding(self, budget: Budget) -> Iterator[bool]:
        """Fill another index, which replaces this one when the body ends without an error.

        Until then every server answers from the current one. Yields ``False`` when another
        writer stays busy.
        """
        with self.writing(budget) as mine:
            writer = self._writer
            if not mine or writer is None:
                yield False
                return
            before, pages = self._record, self._indexed
            index = self._make_index()
            self._see(writer.begin_draft(index), {})
            try:
                yield True
                self._see(writer.publish_draft(), self._indexed)
            except BaseException:
                writer.drop_draft()
                self._see(before, pages)
                with suppress(FumishirubeError):
                    self._cluster.delete_index(index)
                raise

    def sync(
        self, gone: Collection[str], pages: Iterable[tuple[IndexedFile, Sequence[Any]]]
    ) -> None:
        """Replace the named pages and commit; after an error none of it counts."""
        self.sync_with_files(gone, pages, None)

    def sync_with_files(
        self,
        gone: Collection[str],
        pages: Iterable[tuple[IndexedFile, Sequence[Any]]],
        contents: FileContents | None,
    ) -> None:
        """Replace the named pages with their files, and commit."""
        if self._writer is None:
            raise RuntimeError("sync() is only for the writer; use it inside writing()")
        update = Update(
            self._cluster,
            self._sections,
            self._writer,
            dict(self._indexed),
            self._settings.bulk_bytes,
            self._budget,
            *((contents, self._manual, self._origin) if contents and self._settings.files else ()),
        )
        self._see(update.run(gone, pages), update.pages)

    def files(self) -> Mapping[str, StoredFile]:
        """Return the stored files of the last commit, by path."""
        return self._files.by_path

    def read_file(self, path: str) -> bytes:
        """Return the bytes of a stored file.

        Raises:
            NotFound: when it is not stored, or no longer.
            Unreadable: when other bytes are stored than the page says.
        """
        return self._files.read(path)

    def corpus(self, manual_id: str) -> Corpus:
        """Return a view of the last commit."""
        if self._view is None or self._view.manual_id != manual_id:
            self._view = SharedCorpus(
                manual_id, self._record, self._fields, self._searches, self._settings.verified
            )
        return self._view

    def vector_store(self, identity: str) -> ClusterVectors | None:
        """Return the vectors of an embedder; ``None`` where this server has to compare them."""
        if identity not in self._vectors and self._comparison[0]:
            self._vectors[identity] = ClusterVectors(
                self._cluster, self._settings, self._meta, self._name, identity
            )
        return self._vectors.get(identity)

    def vector_note(self) -> str:
        """Return who compares vectors, and why, as a part of a sentence."""
        return self._comparison[1]

    @cached_property
    def _comparison(self) -> tuple[bool, str]:
        return vector_note(self._cluster, wanted=self._settings.knn)

    def close(self) -> None:
        """Close the connections."""
        self._view = None
        self._cluster.close()

    def _see(self, record: IndexRecord, indexed: Mapping[str, PageRecord]) -> None:
        self._record, self._indexed = record, indexed
        self._pages = {path: row.page for path, row in indexed.items()}
        whole = self._settings.shards > 1
        self._files = PageFiles(self._cluster, record, indexed, self._contents)
        self._searches = Searches(self._cluster, record.index, whole=whole)
        self._view = None

    def _prepare(self, writer: Writer) -> None:
        """Read what the last writer has committed; start with an empty index if that is gone."""
        record = writer.record
        if record.index is not None and self._cluster.has_index(record.index):
            with suppress(IndexDamaged):
                if record.commit != self._record.commit:
                    self._see(record, self._load(record))
                self._delete_expired(writer)
                return
        index = self._make_index()
        writer.replace(
            lambda old: IndexRecord(
                index=index, next=old.next, lease=old.lease, retired=old.retiring(now())
            )
        )
        self._see(writer.record, {})

    def _delete_expired(self, writer: Writer) -> None:
        """Delete the indexes that were replaced some time ago."""
        expired = expired_indexes(writer.record)
        for name in expired:
            self._cluster.delete_index(name)
        if expired:
            rest = {k: v for k, v in writer.record.retired.items() if k not in expired}
            writer.replace(lambda record: replace(record, retired=rest))

    def _make_index(self) -> str:
        """Create an index with a new name in the cluster, and return the name."""
        index = f"{self._name}-{secrets.token_hex(4)}"
        settings = self._settings
        self._cluster.make_index(
            index, index_body(self._fields, settings.shards, settings.replicas)
        )
        return index

    def _wait_for_lease(self, budget: Budget) -> Writer | None:
        patience = self._settings.writer_wait_ms / 1000
        if budget.left is not None:
            patience = min(patience, budget.left)
        deadline = time.monotonic() + patience
        while True:
            writer = Writer.of(self._store, self._holder, self._settings.lease_seconds)
            if writer is not None or time.monotonic() >= deadline:
                return writer
            budget.check()
            time.sleep(_RETRY_SECONDS)

    def _load(self, record: IndexRecord) -> Mapping[str, PageRecord]:
        """Return the pages of a record: what changed since the known record, or all.

        Raises:
            IndexDamaged: when there are fewer or more than the record says.
        """
        if record.index is None:
            return {}
        since = self._record.generation
        if record.index == self._record.index and any(
            low <= since <= high for low, high in record.ranges
        ):
            pages = dict(self._indexed)
            for path, row in self._changes(record, since):
                if row is None:
                    pages.pop(path, None)
                else:
                    pages[path] = row
            if len(pages) == record.pages:
                return pages
        pages = {path: row for path, row in self._changes(record, 0) if row is not None}
        if len(pages) != record.pages:
            raise IndexDamaged("pages of the index are gone from the cluster")
        return pages

    def _changes(self, record: IndexRecord, since: int) -> Iterator[tuple[str, PageRecord | None]]:
        """Yield pages in the order in which they were written, or removed, after a generation."""
        live = record.filters(["page", "gone"] if since else ["page"])
        live["bool"]["filter"].append({"range": {"born": {"gt": since}}})
        body = {
            "query": live,
            "size": _BATCH,
            "sort": [{"born": "asc"}, {"of": "asc"}],
            "track_total_hits": False,
        }
        for hit in self._cluster.all_hits(str(record.index), body):
            data = hit["_source"].get("data")
            yield hit["sort"][1], PageRecord.of(data) if data else None
