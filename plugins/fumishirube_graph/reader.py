"""The files of a folder, and what the index is to keep of each: read anew only when it changed."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from fumishirube import (
    Document,
    IndexedFile,
    LinkLoader,
    Loader,
    Section,
    Source,
    SurfaceContext,
    ToolError,
    Unreadable,
)
from fumishirube.disk import RACY_NS, FolderEntry
from fumishirube.text import Lines
from fumishirube_graph.records import Record, record_of

MOST_BYTES = 8 * 1024 * 1024

_UNSURE = "?"


class ClaimedDocument(NamedTuple):
    """A file, and the loader that speaks for it."""

    loader: Loader
    source: Source
    entry: FolderEntry


class FolderComparison(NamedTuple):
    """What is in the index and no more in the folder, what is to be read, and what is neither."""

    gone: list[str]
    changed: list[str]
    unchanged: int


class DocumentReader:
    """Looks at the desk's root, and reads files."""

    def __init__(self, context: SurfaceContext) -> None:
        self._context = context
        self._sure: dict[str, str] = {}

    def claimed(self) -> dict[str, ClaimedDocument]:
        """Return every file that a loader speaks for; the first loader keeps it."""
        root = self._context.root
        entries = {entry.path: entry for entry in root.files()}
        claims: dict[str, ClaimedDocument] = {}
        for loader in self._context.loaders():
            for source in loader.sources(root):
                if source.path in entries:
                    claim = ClaimedDocument(loader, source, entries[source.path])
                    claims.setdefault(source.path, claim)
        return claims

    def compared(
        self,
        pages: Mapping[str, IndexedFile],
        claimed: Mapping[str, ClaimedDocument],
        *,
        full: bool,
        only: str | None = None,
    ) -> FolderComparison:
        """Compare the index with the folder; with ``full`` everything is to be read."""
        gone = [path for path in pages if path not in claimed and only in (None, path)]
        changed = [
            path
            for path, claim in claimed.items()
            if only in (None, path)
            if full or path not in pages or not self._same(pages[path], claim.entry)
        ]
        return FolderComparison(gone, changed, len(claimed) - len(changed))

    def page(
        self, claim: ClaimedDocument, before: IndexedFile | None, *, full: bool = False
    ) -> IndexedFile:
        """Read one file; what has only been touched stays what it was."""
        entry = claim.entry
        stamp = _stamp(entry)
        if time.time_ns() - entry.modified_ns <= RACY_NS:
            stamp += _UNSURE
        if entry.size > min(MOST_BYTES, self._context.root.limits.file_bytes):
            return IndexedFile(entry.path, stamp, "too_large")
        sha = self._sha(entry)
        if not sha:
            return IndexedFile(entry.path, stamp, "unreadable")
        same = before is not None and sha_of(before) == sha
        if before is not None and same and not full:
            return before._replace(stamp=stamp)
        updated_ms = entry.modified_ns // 1_000_000
        if before is not None and same:
            row: Any = before.about
            updated_ms = Record.read(row).updated_ms
        try:
            document = self._studied(claim)
        except Unreadable as error:
            return IndexedFile(entry.path, stamp, error.reason)
        except ToolError:
            return IndexedFile(entry.path, stamp, "unreadable")
        about: Any = record_of(document, sha, updated_ms, self._inside)
        return IndexedFile(entry.path, stamp, sections=len(document.sections), about=about)

    def _same(self, page: IndexedFile, entry: FolderEntry) -> bool:
        """Compare stamps; a file indexed within two seconds of its change is read once more.

        The clock of a file system may be too coarse to tell two quick changes apart.
        """
        stamp, unsure, _ = page.stamp.partition(_UNSURE)
        if stamp != _stamp(entry):
            return False
        if not unsure or self._sure.get(entry.path) == page.stamp:
            return True
        if self._sha(entry) != sha_of(page):
            return False
        if time.time_ns() - entry.modified_ns > RACY_NS:
            self._sure[entry.path] = page.stamp
        return True

    def _sha(self, entry: FolderEntry) -> str:
        """Return the hash of a file's bytes; empty when it cannot be read."""
        try:
            return hashlib.sha256(self._context.root.read_bytes(entry.path)).hexdigest()
        except ToolError:
            return ""

    def _inside(self, path: str) -> bool:
        workspace = self._context.folder("workspace").path
        try:
            return (workspace / path).resolve().is_relative_to(workspace.resolve())
        except (OSError, RuntimeError):  # links in a circle
            return False

    def _studied(self, claim: ClaimedDocument) -> Document:
        """Read a document; a loader that does not study gives its sections and no links."""
        if isinstance(claim.loader, LinkLoader):
            return claim.loader.load_with_links(self._context.root, claim.source)
        document = claim.loader.load(self._context.root, claim.source)
        if document.sections:
            return document
        text = document.text
        whole = Section("", 1, Lines(text).total, 0, len(text), len(text), 0, level=0)
        return document._replace(sections=(whole,))


def sha_of(page: IndexedFile) -> str:
    """Return the hash of the bytes that a page was read from; empty for a skipped one."""
    row: Any = page.about
    return str(row[-2]) if row else ""


def _stamp(entry: FolderEntry) -> str:
    return f"{entry.size}:{entry.modified_ns}"
