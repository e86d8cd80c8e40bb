"""A cache of documents from slow loaders, and of texts of parts of files, by their content."""

from __future__ import annotations

import gzip
import hashlib
import json
import logging
import os
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock

from fumishirube.disk.own_files import open_own
from fumishirube.disk.roots import Root
from fumishirube.disk.scratch import replace_file
from fumishirube.documents import Document, Source
from fumishirube.engine.claiming_loaders import goes_by_name
from fumishirube.engine.indexed_files import digest
from fumishirube.errors import Forbidden, Unreadable
from fumishirube.optional_attributes import CACHING, DRAWS_PAGES, ISOLATED
from fumishirube.parsing.pictures import PageView, Picture, PictureLoader
from fumishirube.parsing.records import document_of, document_record
from fumishirube.stages import Loader

FOLDER = "parsed"
MOST_BYTES = 1024**3
"""The size of the cache; what was not used for the longest time is dropped first."""
_LEAST_BYTES = 4096
"""The space that a file takes at least."""
_LARGEST = 64 * 1024**2
"""The most bytes of one document or text; a larger one is parsed again."""
_MOST_UNCHECKED = 64 * 1024**2
"""The most bytes that are written before the size is checked again."""

_VERSION = 3

_log = logging.getLogger("fumishirube")


class ParsedDocuments:
    """The cached documents, below the state folder."""

    def __init__(self, state: Root) -> None:
        self._state = state
        self._lock = Lock()
        self._unchecked: int | None = None

    def document(self, key: str, path: str) -> Document | None:
        """Return the document of a key, or ``None`` if it is missing or damaged."""
        record = self._read(self._file(key))
        try:
            return None if record is None else document_of(json.loads(record), path)
        except (ValueError, RecursionError):
            return None

    def put(self, key: str, document: Document) -> None:
        """Store a document, unless it is too large; ignore write errors."""
        self._write(self._file(key), json.dumps(document_record(document)))

    def text(self, key: str) -> str | None:
        """Return the text of a part of a file, or ``None`` if it is missing or damaged."""
        return self._read(self._text_file(key))

    def put_text(self, key: str, text: str) -> None:
        """Store the text of a part of a file, unless it is too large; ignore write errors."""
        self._write(self._text_file(key), text)

    @staticmethod
    def _read(file: Path) -> str | None:
        """Return the text of a file; ``None`` if it is missing, damaged, or larger than any."""
        try:
            with (
                os.fdopen(open_own(file, os.O_RDONLY), "rb") as packed,
                gzip.open(packed) as stream,
            ):
                data = stream.read(_LARGEST + 1)
            text = data.decode("utf-8", "surrogatepass")
        except (OSError, ValueError, EOFError, zlib.error):
            return None
        if len(data) > _LARGEST:
            return None
        with suppress(OSError):  # others may only read it
            os.utime(file)
        return text

    def _write(self, file: Path, text: str) -> None:
        written = text.encode("utf-8", "surrogatepass")
        if len(written) > _LARGEST:
            return
        data = gzip.compress(written, compresslevel=3)
        try:
            self._state.make(FOLDER)
            replace_file(file, data)
            self._prune(max(len(data), _LEAST_BYTES))
        except (OSError, Forbidden):
            _log.warning("a parsed text cannot be stored; it will be parsed again")

    def _prune(self, written: int) -> None:
        """Drop what was not used for the longest time, at the first write and then sometimes."""
        with self._lock:
            if self._unchecked is not None and self._unchecked + written < _MOST_UNCHECKED:
                self._unchecked += written
                return
            self._unchecked = 0
        used = []
        for entry in os.scandir(self._state.path / FOLDER):
            with suppress(FileNotFoundError):  # another process drops files too
                status = entry.stat()
                used.append((status.st_mtime_ns, max(status.st_size, _LEAST_BYTES), entry.path))
        total = sum(size for _, size, _ in used)
        for _, size, path in sorted(used):
            if total <= MOST_BYTES:
                return
            Path(path).unlink(missing_ok=True)
            total -= size

    def _file(self, key: str) -> Path:
        return self._state.path / FOLDER / f"{key}.json.gz"

    def _text_file(self, key: str) -> Path:
        return self._state.path / FOLDER / f"{digest(key, 40)}.txt.gz"


class RememberingLoader:
    """A loader whose documents are cached by the content of their files.

    Documents of such loaders may have places.
    """

    placed = True

    def __init__(self, loader: Loader, fingerprint: str, documents: ParsedDocuments) -> None:
        self.isolated = ISOLATED.of(loader)
        self.draws_pages = DRAWS_PAGES.of(loader)
        self.problem_of: Callable[[Root], str | None]
        self.problem_of = getattr(loader, "problem_of", lambda _root: None)
        caching = CACHING.of(loader)
        self._loader: Loader = caching(documents) if caching else loader
        self.sources = self._loader.sources
        self._fingerprint = fingerprint
        self._documents = documents

    @property
    def by_name(self) -> bool:
        """Whether the names of the files alone decide which the loader claims."""
        return goes_by_name(self._loader)

    def picture(self, root: Root, source: Source, view: PageView) -> Picture:
        """Draw a page; pictures are not cached."""
        if not isinstance(self._loader, PictureLoader):
            raise Unreadable("its loader draws no pages", "no_picture", path=source.path)
        return self._loader.picture(root, source, view)

    def load(self, root: Root, source: Source) -> Document:
        """Return the document of a file, parsed now or earlier."""
        key = self._key(root, source)
        document = self._documents.document(key, source.path)
        if document is None:
            document = self._loader.load(root, source)
            if self._key(root, source) == key:  # else it may be the document of other bytes
                self._documents.put(key, document)
        return document

    def _key(self, root: Root, source: Source) -> str:
        """Return the key of the present content of a file."""
        content = hashlib.sha256(f"{_VERSION}{self._fingerprint}".encode())
        for path in (source.path, *source.governed_by):
            content.update(hashlib.sha256(root.read_bytes(path)).digest())
        # A document may be named after the stem of its file.
        content.update(source.path.rpartition("/")[2].encode("utf-8", "surrogatepass"))
        return content.hexdigest()[:40]
