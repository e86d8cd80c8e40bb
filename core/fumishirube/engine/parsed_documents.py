"""A cache of documents from slow loaders, by the content of their files."""

from __future__ import annotations

import gzip
import hashlib
import json
import logging
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

from fumishirube.disk.roots import Root
from fumishirube.documents import Document, Source
from fumishirube.errors import Forbidden
from fumishirube.parsing.records import document_of, document_record
from fumishirube.stages import Loader

FOLDER = "parsed"
MOST_BYTES = 1024**3
"""The size of the cache; the least recently used documents are dropped first."""

_VERSION = 2

_log = logging.getLogger("fumishirube")


class ParsedDocuments:
    """The cached documents, below the state folder."""

    def __init__(self, state: Root) -> None:
        self._state = state
        self._lock = Lock()
        self._pruned = False

    def document(self, key: str, path: str) -> Document | None:
        """Return the document of a key, or ``None`` if it is missing or damaged."""
        file = self._file(key)
        try:
            document = document_of(json.loads(gzip.decompress(file.read_bytes())), path)
            os.utime(file)
        except (OSError, ValueError, EOFError):
            return None
        return document

    def put(self, key: str, document: Document) -> None:
        """Store a document; ignore write errors."""
        data = gzip.compress(json.dumps(document_record(document)).encode(), compresslevel=3)
        try:
            self._state.make(FOLDER)
            with self._written(self._file(key)) as part:
                part.write_bytes(data)
            self._prune()
        except (OSError, Forbidden):
            _log.warning("a parsed document cannot be stored; it will be parsed again")

    @contextmanager
    def _written(self, file: Path) -> Iterator[Path]:
        """Yield a temporary file, which replaces the target when it is complete."""
        handle, name = tempfile.mkstemp(dir=file.parent)
        os.close(handle)
        part = Path(name)
        try:
            yield part
            part.replace(file)
        finally:
            with suppress(FileNotFoundError):
                part.unlink()

    def _prune(self) -> None:
        """Drop the least recently used documents, once in a process."""
        with self._lock:
            if self._pruned:
                return
            self._pruned = True
        folder = self._state.path / FOLDER
        sizes = [(entry.stat(), entry.path) for entry in os.scandir(folder) if entry.is_file()]
        total = sum(status.st_size for status, _ in sizes)
        for status, path in sorted(sizes, key=lambda pair: pair[0].st_mtime_ns):
            if total <= MOST_BYTES:
                return
            Path(path).unlink(missing_ok=True)
            total -= status.st_size

    def _file(self, key: str) -> Path:
        return self._state.path / FOLDER / f"{key}.json.gz"


class RememberingLoader:
    """A loader whose documents are cached by the content of their files.

    Documents of such loaders may have places.
    """

    placed = True

    def __init__(self, loader: Loader, fingerprint: str, documents: ParsedDocuments) -> None:
        self.isolated: bool = getattr(loader, "isolated", False)
        self._loader = loader
        self._fingerprint = fingerprint
        self._documents = documents

    def sources(self, root: Root) -> Iterable[Source]:
        """Return the files that the loader claims."""
        return self._loader.sources(root)

    def load(self, root: Root, source: Source) -> Document:
        """Return the document of a file, parsed now or earlier.

        Raises:
            Unreadable: when the loader cannot read it.
        """
        content = hashlib.sha256(f"{_VERSION}{self._fingerprint}".encode())
        for path in (source.path, *source.governed_by):
            content.update(hashlib.sha256(root.read_bytes(path)).digest())
        # A document may be named after the stem of its file.
        content.update(source.path.rpartition("/")[2].encode("utf-8", "surrogatepass"))
        key = content.hexdigest()[:40]
        document = self._documents.document(key, source.path)
        if document is None:
            document = self._loader.load(root, source)
            self._documents.put(key, document)
        return document
