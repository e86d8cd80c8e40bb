"""The files of a manual, stored with its pages for servers that lack them."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

from fumishirube import IndexedFile, NotFound, Unreadable
from fumishirube.disk import StoredFile
from fumishirube_opensearch.cluster import Cluster
from fumishirube_opensearch.generations import IndexRecord

if TYPE_CHECKING:
    from fumishirube_opensearch.writing import PageRecord

FileContents: TypeAlias = Callable[[IndexedFile], Sequence[tuple[StoredFile, bytes]]]
"""Returns the files of a page with their bytes."""

MOST_STORED = 16 * 1024 * 1024
"""The most bytes of a stored file: the engine takes 100 MB in one request."""
_CACHED = 32 * 1024 * 1024
"""Bytes of files that stay in memory."""
_A_PAGE = 100


def packed(data: bytes) -> str:
    """Return bytes as a text for a document of the cluster."""
    return b64encode(zlib.compress(data)).decode()


def unpacked(text: str) -> bytes | None:
    """Return such bytes, or ``None`` for any other text."""
    try:
        return zlib.decompress(b64decode(text, validate=True))
    except (ValueError, zlib.error):
        return None


class ContentCache:
    """The files that were read last, by their SHA-256."""

    def __init__(self, most: int = _CACHED) -> None:
        self._most = most
        self._size = 0
        self._contents: OrderedDict[str, bytes] = OrderedDict()
        self._lock = Lock()

    def get(self, digest: str) -> bytes | None:
        """Return a file, or ``None``."""
        with self._lock:
            if digest in self._contents:
                self._contents.move_to_end(digest)
            return self._contents.get(digest)

    def put(self, digest: str, data: bytes) -> None:
        """Add a file; drop those that were not used for longest."""
        with self._lock:
            if digest not in self._contents:
                self._contents[digest] = data
                self._size += len(data)
            while self._size > self._most:
                self._size -= len(self._contents.popitem(last=False)[1])


class PageFiles:
    """The files of the pages of one generation."""

    def __init__(
        self,
        cluster: Cluster,
        record: IndexRecord,
        pages: Mapping[str, PageRecord],
        cache: ContentCache,
    ) -> None:
        self._cluster = cluster
        self._record = record
        self._pages = pages
        self._cache = cache

    @cached_property
    def by_path(self) -> Mapping[str, StoredFile]:
        """The files, by path."""
        return {path: file for path, (file, _) in self._owned.items()}

    @cached_property
    def _owned(self) -> Mapping[str, tuple[StoredFile, str]]:
        """Each file with the page that it was stored with."""
        rows = self._pages.items()
        return {file.path: (file, page) for page, row in rows for file in row.files}

    def read(self, path: str) -> bytes:
        """Return the bytes of a file.

        Raises:
            NotFound: when it is not stored, or no longer.
            Unreadable: when other bytes are stored than the page says.
        """
        if path not in self._owned:
            raise NotFound("no such file or folder", path=path)
        file, page = self._owned[path]
        data = self._cache.get(file.digest)
        if data is None:
            data = self._fetched(path, page)
            if data is None or sha256(data).hexdigest() != file.digest:
                raise Unreadable("the stored file is not as its page says", "damaged", path=path)
            self._cache.put(file.digest, data)
        return data

    def _fetched(self, path: str, page: str) -> bytes | None:
        live: dict[str, Any] = self._record.filters(["file"])
        live["bool"]["filter"].append({"term": {"of": page}})
        body = {"query": live, "size": _A_PAGE}
        (answer,) = self._cluster.searches(str(self._record.index), [body], whole=False)
        rows = [hit["_source"]["data"] for hit in answer["hits"]["hits"]]
        texts = [text for name, text in rows if name == path]
        if not texts:  # a minute after a newer commit
            raise NotFound("the file was changed meanwhile; call again", path=path)
        return unpacked(texts[0])
