"""The right to write: the record of an index, its lease, and the draft of another index."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from threading import Event, Lock, Thread

from fumishirube import Forbidden, FumishirubeError
from fumishirube_opensearch.cluster import Cluster, Stored, WriteConflict
from fumishirube_opensearch.generations import IndexRecord


class RecordStore:
    """Reads and replaces the record of one index."""

    def __init__(self, cluster: Cluster, meta: str, name: str) -> None:
        self._cluster = cluster
        self._meta = meta
        self.name = name

    def read(self) -> tuple[IndexRecord, Stored] | None:
        """Return the record, and the version that the next write must name; ``None`` without one.

        A record of another layout counts as missing.
        """
        stored = self._cluster.get(self._meta, self.name)
        if stored is None:
            return None
        try:
            return IndexRecord.of(stored.body), stored
        except (TypeError, KeyError, ValueError):
            return IndexRecord(), stored

    def write(self, record: IndexRecord, after: Stored | None) -> Stored:
        """Replace the record that was read.

        Raises:
            WriteConflict: when another process has replaced it.
        """
        try:
            return self._cluster.put(self._meta, self.name, record.body(), after)
        except WriteConflict:
            # A write whose answer was lost is sent again, and then conflicts with itself.
            stored = self._cluster.get(self._meta, self.name)
            if stored is not None and stored.body == json.loads(json.dumps(record.body())):
                return stored
            raise


class Writer:
    """Holds the lease while it writes, and renews it; one for each writing process and manual."""

    def __init__(
        self, store: RecordStore, record: IndexRecord, stored: Stored, seconds: float
    ) -> None:
        self._store = store
        self._stored = stored
        self._seconds = seconds
        self._lock = Lock()
        self._ended = Event()
        self._lost = False
        self._record = record
        self._draft: IndexRecord | None = None
        self._thread = Thread(target=self._renew, daemon=True, name="fumishirube-lease")
        self._thread.start()

    @classmethod
    def of(cls, store: RecordStore, holder: str, seconds: float) -> Writer | None:
        """Become the writer; return ``None`` while another process is."""
        read = store.read()
        record, stored = read or (IndexRecord(), None)
        lease = record.lease
        if lease.holder not in (None, holder) and lease.until > now():
            return None
        taken = record.taken(holder, now() + int(seconds * 1000))
        try:
            return cls(store, taken, store.write(taken, stored), seconds)
        except WriteConflict:
            return None

    @property
    def record(self) -> IndexRecord:
        """The current record, or the draft that will replace it."""
        return self._draft or self._record

    def begin_draft(self, index: str) -> IndexRecord:
        """Write all changes to another index, which counts once it is published."""
        before = self._record
        self._draft = IndexRecord(index=index, next=before.next, lease=before.lease)
        return self._draft

    def publish_draft(self) -> IndexRecord:
        """Replace the record by the draft, and retire the index before it.

        Raises:
            Forbidden: when another writer has taken over.
        """
        draft, self._draft = self._draft, None
        if draft is None:
            raise RuntimeError("there is no draft")

        def published(record: IndexRecord) -> IndexRecord:
            return replace(draft, lease=record.lease, retired=record.retiring(now()))

        return self.replace(published)

    def drop_draft(self) -> None:
        """Write changes to the current index again."""
        self._draft = None

    def replace(self, change: Callable[[IndexRecord], IndexRecord]) -> IndexRecord:
        """Replace the record by the result of a function.

        Raises:
            Forbidden: when another writer has taken over.
        """
        if self._draft is not None:
            self._draft = change(self._draft)
            return self._draft
        return self._written(change)

    def _written(self, change: Callable[[IndexRecord], IndexRecord]) -> IndexRecord:
        with self._lock:
            if self._lost:
                raise Forbidden(_TAKEN_OVER)
            record = change(self._record)
            try:
                self._stored = self._store.write(record, self._stored)
            except WriteConflict as error:
                self._lost = True
                raise Forbidden(_TAKEN_OVER) from error
            self._record = record
            return record

    def release(self) -> None:
        """Release the lease, if this process still holds it."""
        self._ended.set()
        self._thread.join()
        if not self._lost:
            lease = replace(self._record.lease, holder=None, until=0)
            self._written(lambda record: replace(record, lease=lease))

    def _renew(self) -> None:
        while not self._ended.wait(self._seconds / 3):
            try:
                self._written(self._renewed)
            except FumishirubeError:
                if self._lost:
                    return  # else the cluster is away, and the next renewal may succeed

    def _renewed(self, record: IndexRecord) -> IndexRecord:
        until = now() + int(self._seconds * 1000)
        return replace(record, lease=replace(record.lease, until=until))


_TAKEN_OVER = "another process has become the indexer"


def now() -> int:
    """Return the time in milliseconds of the Unix epoch."""
    return time.time_ns() // 1_000_000
