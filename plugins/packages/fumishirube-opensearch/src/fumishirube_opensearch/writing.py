"""One commit: documents sent in bulk, and the record that makes them count."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any, NamedTuple

from pydantic_core import to_json

from fumishirube import Budget, FumishirubeError, IndexedFile
from fumishirube.disk import StoredFile
from fumishirube_opensearch.bulks import Bulks
from fumishirube_opensearch.cluster import Cluster
from fumishirube_opensearch.files import MOST_STORED, FileContents, packed
from fumishirube_opensearch.generations import IndexRecord, Replaced
from fumishirube_opensearch.lease import Writer, now
from fumishirube_opensearch.sections import Sections

_GRACE_MS = 60_000
"""How long searches of an earlier generation find what was replaced since."""


class PageRecord(NamedTuple):
    """A page as stored in the index, the version of its documents, and its stored files."""

    page: IndexedFile
    version: str
    documents: int
    searched: int
    blank: int
    lengths: Mapping[str, int]
    files: tuple[StoredFile, ...] = ()

    def data(self) -> list[Any]:
        """Return the record as the fields of its document."""
        return [[*self.page], *self[1:]]

    @classmethod
    def of(cls, data: Sequence[Any]) -> PageRecord:
        """Return the record of a document."""
        page, version, documents, searched, blank, lengths, files = data
        stored = tuple(StoredFile(*file) for file in files)
        return cls(IndexedFile(*page), version, documents, searched, blank, lengths, stored)


def expired_indexes(record: IndexRecord) -> Collection[str]:
    """Return the indexes that were replaced so long ago that no search reads them any more."""
    return [name for name, since in record.retired.items() if since < now() - _GRACE_MS]


class Update:
    """A commit in progress: its documents have a number that counts once it is complete."""

    def __init__(
        self,
        cluster: Cluster,
        sections: Sections,
        writer: Writer,
        pages: dict[str, PageRecord],
        bulk_bytes: int,
        budget: Budget,
        contents: FileContents | None = None,
        manual: str = "",
        origin: str = "",
    ) -> None:
        self._cluster = cluster
        self._sections = sections
        self._writer = writer
        self._budget = budget
        self._contents = contents
        self._manual = manual
        self._origin = origin
        self._index = str(writer.record.index)
        self._number = writer.record.next
        self._bulks = Bulks(cluster, self._index, bulk_bytes, budget)
        self._written: list[str] = []
        self._replaced: dict[str, int] = {}
        self.pages = pages

    def run(
        self, gone: Collection[str], pages: Iterable[tuple[IndexedFile, Sequence[Any]]]
    ) -> IndexRecord:
        """Write the pages, and make all of them count at once."""
        self._writer.replace(lambda record: replace(record, next=self._number + 1))
        with self._bulks:
            try:
                expired = self._written_all(gone, pages)
            except BaseException:
                self._take_back()
                raise
        return self._writer.replace(lambda record: self._committed(record, expired))

    def _written_all(
        self, gone: Collection[str], pages: Iterable[tuple[IndexedFile, Sequence[Any]]]
    ) -> Collection[str]:
        """Write all documents, and return the replaced versions that were deleted."""
        for path in gone:
            if self._forget(path):
                self._add_row(f"{self._version(path)}-0", {"kind": "gone", "of": path})
        for page, sections in pages:
            self._forget(page.path)
            self._page(page, sections)
        expired = self._delete_expired()
        self._bulks.finish()
        self._cluster.refresh(self._index, self._budget)
        return expired

    def _committed(self, record: IndexRecord, expired: Collection[str]) -> IndexRecord:
        lengths: Counter[str] = Counter()
        for page in self.pages.values():
            lengths.update(page.lengths)
        since = now()
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
            manual=self._manual,
            origin=self._origin,
        )

    def _page(self, page: IndexedFile, sections: Sequence[Any]) -> None:
        version = self._version(page.path)
        lengths: Counter[str] = Counter()
        searched = 0
        for number, each in enumerate(sections, 1):
            section = self._sections.prepared(each)
            self._add(f"{version}-{number}", section.document, version)
            if section.lengths:
                searched += 1
                lengths.update(dict(zip(self._sections.names, section.lengths, strict=True)))
        files = self._files(page, version, len(sections) + 1)
        documents = len(sections) + 1 + len(files)
        blank = len(sections) - searched
        record = PageRecord(page, version, documents, searched, blank, dict(lengths), files)
        self._add_row(f"{version}-0", self._sections.page(page.path, record.data()), version)
        self.pages[page.path] = record

    def _files(self, page: IndexedFile, version: str, first: int) -> tuple[StoredFile, ...]:
        """Store the files of a page, except very large ones; return which."""
        if self._contents is None:
            return ()
        stored = [(file, data) for file, data in self._contents(page) if file.size <= MOST_STORED]
        for number, (file, data) in enumerate(stored, first):
            document = {"kind": "file", "of": page.path, "line": number}
            self._add_row(
                f"{version}-{number}", {**document, "data": [file.path, packed(data)]}, version
            )
        return tuple(file for file, _ in stored)

    def _forget(self, path: str) -> bool:
        before = self.pages.pop(path, None)
        if before is None:
            return False
        self._replaced[before.version] = before.documents
        return True

    def _version(self, path: str) -> str:
        """Return the name of a page's documents in this commit, different in every commit."""
        return f"{self._number:x}-{sha256(path.encode()).hexdigest()[:16]}"

    def _add_row(self, key: str, row: Mapping[str, Any], version: str = "") -> None:
        self._add(key, to_json(row)[:-1], version)

    def _add(self, key: str, document: bytes, version: str = "") -> None:
        end = f',"version":"{version or key}","born":{self._number}}}\n'
        self._bulks.add(b'{"index":{"_id":"%b"}}\n%b%b' % (key.encode(), document, end.encode()))
        self._written.append(key)

    def _delete(self, key: str) -> None:
        self._bulks.add(b'{"delete":{"_id":"%b"}}\n' % key.encode())

    def _delete_expired(self) -> Collection[str]:
        """Delete what was replaced so long ago that no search reads it any more."""
        before = now() - _GRACE_MS
        replaced = self._writer.record.replaced
        expired = {key: row for key, row in replaced.items() if row.since < before}
        for version, row in expired.items():
            for number in range(row.documents):
                self._delete(f"{version}-{number}")
        return expired

    def _take_back(self) -> None:
        """Delete what was written and never counted; if that fails, it only takes up space."""
        self._bulks.drop()
        try:
            for key in self._written:
                self._delete(key)
            self._bulks.finish()
        except FumishirubeError:
            return
