"""The writer's side: the lease, documents sent in bulk, and the record that makes them count."""

from __future__ import annotations

import json
import secrets
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from threading import Event, Lock, Thread
from typing import Any, NamedTuple, TypeAlias

from fumishirube import Budget, Forbidden, FumishirubeError, IndexedFile, Passage
from fumishirube_opensearch.cluster import Cluster, Conflict, Stored
from fumishirube_opensearch.generations import Record, Replaced
from fumishirube_opensearch.sections import Sections

_GRACE_MS = 60_000
"""How long searches of an earlier generation find what was replaced since."""
_MOST_RANGES = 64
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class PageRecord(NamedTuple):
    """A page as the index remembers it, and the version of its documents."""

    page: IndexedFile
    version: str
    documents: int
    searched: int
    blank: int
    lengths: Mapping[str, int]

    def data(self) -> list[Any]:
        """Return the record as its document carries it."""
        return [[*self.page], *self[1:]]

    @classmethod
    def of(cls, data: Sequence[Any]) -> PageRecord:
        """Return the record of a document."""
        page, *rest = data
        return cls(IndexedFile(*page), *rest)


PageRecords: TypeAlias = Mapping[str, PageRecord]


class RecordStore:
    """Reads and replaces the record of one index."""

    def __init__(self, cluster: Cluster, meta: str, name: str) -> None:
        self._cluster = cluster
        self._meta = meta
        self.name = name

    def read(self) -> tuple[Record, Stored] | None:
        """Return the record, and what a write after it has to name; nothing when there is none.

        A record of another layout is none.
        """
        stored = self._cluster.get(self._meta, self.name)
        if stored is None:
            return None
        try:
            return Record.of(stored.body), stored
        except (TypeError, KeyError, ValueError):
            return Record(), stored

    def write(self, record: Record, after: Stored | None) -> Stored:
        """Replace the record that was read.

        Raises:
            Conflict: when another one has replaced it.
        """
        try:
            return self._cluster.put(self._meta, self.name, record.body(), after)
        except Conflict:
            # A write whose answer was lost is sent again, and then conflicts with itself.
            stored = self._cluster.get(self._meta, self.name)
            if stored is not None and stored.body == json.loads(json.dumps(record.body())):
                return stored
            raise


class Writer:
    """Holds the lease while it writes, and renews it; one a writing process and manual."""

    def __init__(self, store: RecordStore, record: Record, stored: Stored, seconds: float) -> None:
        self._store = store
        self._stored = stored
        self._seconds = seconds
        self._lock = Lock()
        self._ended = Event()
        self._lost = False
        self.record = record
        self._thread = Thread(target=self._renew, daemon=True, name="fumishirube-lease")
        self._thread.start()

    @classmethod
    def of(cls, store: RecordStore, holder: str, seconds: float) -> Writer | None:
        """Become the writer, or return nothing while another one is."""
        read = store.read()
        record, stored = read or (Record(), None)
        lease = record.lease
        if lease.holder not in (None, holder) and lease.until > _now():
            return None
        taken = record.taken(holder, _now() + int(seconds * 1000))
        try:
            return cls(store, taken, store.write(taken, stored), seconds)
        except Conflict:
            return None

    def replace(self, change: Callable[[Record], Record]) -> Record:
        """Replace the record by what a function makes of it.

        Raises:
            Forbidden: when another writer has taken over.
        """
        with self._lock:
            if self._lost:
                raise Forbidden(_TAKEN_OVER)
            record = change(self.record)
            try:
                self._stored = self._store.write(record, self._stored)
            except Conflict as error:
                self._lost = True
                raise Forbidden(_TAKEN_OVER) from error
            self.record = record
            return record

    def release(self) -> None:
        """Give the lease back, if it is still held."""
        self._ended.set()
        self._thread.join()
        if not self._lost:
            lease = replace(self.record.lease, holder=None, until=0)
            self.replace(lambda record: replace(record, lease=lease))

    def _renew(self) -> None:
        while not self._ended.wait(self._seconds / 3):
            try:
                self.replace(self._renewed)
            except FumishirubeError:
                if self._lost:
                    return  # otherwise the cluster is away for a moment, and the next turn may do

    def _renewed(self, record: Record) -> Record:
        until = _now() + int(self._seconds * 1000)
        return replace(record, lease=replace(record.lease, until=until))


_TAKEN_OVER = "another process has become the indexer"


class Update:
    """One commit on its way: documents of a number that does not count before it is complete."""

    def __init__(
        self,
        cluster: Cluster,
        sections: Sections,
        writer: Writer,
        pages: dict[str, PageRecord],
        bulk_bytes: int,
        budget: Budget,
    ) -> None:
        self._cluster = cluster
        self._sections = sections
        self._writer = writer
        self._bulk_bytes = bulk_bytes
        self._budget = budget
        self._index = str(writer.record.index)
        self._number = writer.record.next
        self._lines: list[bytes] = []
        self._bytes = 0
        self._written: list[str] = []
        self._replaced: dict[str, int] = {}
        self.pages = pages

    def run(
        self, gone: Collection[str], pages: Iterable[tuple[IndexedFile, Sequence[Passage]]]
    ) -> Record:
        """Write the pages, and make them count all at once."""
        self._writer.replace(lambda record: replace(record, next=self._number + 1))
        try:
            for path in gone:
                if self._forget(path):
                    self._add(f"{self._version(path)}-0", {"kind": "gone", "of": path})
            for page, passages in pages:
                self._forget(page.path)
                self._page(page, passages)
            expired = self._delete_expired()
            self._send()
            self._cluster.refresh(self._index, self._budget)
        except BaseException:
            self._take_back()
            raise
        return self._writer.replace(lambda record: self._committed(record, expired))

    def _committed(self, record: Record, expired: Collection[str]) -> Record:
        lengths: Counter[str] = Counter()
        for page in self.pages.values():
            lengths.update(page.lengths)
        since = _now()
        replaced = {key: row for key, row in record.replaced.items() if key not in expired}
        replaced |= {key: Replaced(since, number) for key, number in self._replaced.items()}
        return replace(
            record,
            ranges=record.committed(self._number),
            replaced=replaced,
            pages=len(self.pages),
            searched=sum(page.searched for page in self.pages.values()),
            blank=sum(page.blank for page in self.pages.values()),
            lengths=dict(lengths),
            commit=secrets.token_hex(8),
        )

    def _page(self, page: IndexedFile, passages: Sequence[Passage]) -> None:
        version = self._version(page.path)
        lengths: Counter[str] = Counter()
        searched = 0
        for number, passage in enumerate(passages, 1):
            document = self._sections.document(passage)
            self._add(f"{version}-{number}", document, version)
            if document["kind"] == "section":
                searched += 1
                lengths.update({name: len(text) for name, text in passage.fields.items()})
        blank = len(passages) - searched
        record = PageRecord(page, version, len(passages) + 1, searched, blank, dict(lengths))
        self._add(f"{version}-0", self._sections.page(page.path, record.data()), version)
        self.pages[page.path] = record

    def _forget(self, path: str) -> bool:
        before = self.pages.pop(path, None)
        if before is None:
            return False
        self._replaced[before.version] = before.documents
        return True

    def _version(self, path: str) -> str:
        """Return the name of a page's documents of this commit; no other commit has the same."""
        return f"{self._number:x}-{sha256(path.encode()).hexdigest()[:16]}"

    def _add(self, key: str, document: Mapping[str, Any], version: str = "") -> None:
        body = {**document, "version": version or key, "born": self._number}
        action = f'{{"index":{{"_id":"{key}"}}}}\n'
        self._line(action + _ENCODER.encode(body) + "\n")
        self._written.append(key)

    def _line(self, text: str) -> None:
        encoded = text.encode()
        if self._bytes + len(encoded) > self._bulk_bytes:
            self._send()
        self._lines.append(encoded)
        self._bytes += len(encoded)

    def _send(self) -> None:
        lines, self._lines, self._bytes = self._lines, [], 0
        if lines:
            self._cluster.bulk(self._index, b"".join(lines), self._budget)

    def _delete_expired(self) -> Collection[str]:
        """Delete what was replaced so long ago that no search looks for it any more."""
        before = _now() - _GRACE_MS
        replaced = self._writer.record.replaced
        expired = {key: row for key, row in replaced.items() if row.since < before}
        for version, row in expired.items():
            for number in range(row.documents):
                self._line(f'{{"delete":{{"_id":"{version}-{number}"}}}}\n')
        return expired

    def _take_back(self) -> None:
        """Delete what was written and never counted; where that fails, it just takes up room."""
        self._lines, self._bytes = [], 0
        try:
            for key in self._written:
                self._line(f'{{"delete":{{"_id":"{key}"}}}}\n')
            self._send()
        except FumishirubeError:
            return


def _now() -> int:
    """Return the time in milliseconds of the Unix epoch."""
    return time.time_ns() // 1_000_000
