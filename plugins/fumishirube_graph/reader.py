"""Reads files into index records, and reuses the record of a file whose bytes did not change."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import Any

from fumishirube import (
    ClaimedFile,
    Document,
    IndexedFile,
    LinkLoader,
    Section,
    SurfaceContext,
    ToolError,
    Unreadable,
)
from fumishirube.text import Lines
from fumishirube_graph.records import Record, record_of, stays_below

MOST_BYTES = 8 * 1024 * 1024


class DocumentReader:
    """Reads the files of the context's folder."""

    def __init__(self, context: SurfaceContext) -> None:
        self._context = context
        self.files = context.claimed_files()
        self._inside = partial(stays_below, context.folder("workspace").path)

    def page(self, claim: ClaimedFile, before: IndexedFile | None) -> IndexedFile:
        """Read one file; if its content is that of its record, so is the time of its change."""
        path, stamp = claim.source.path, self.files.stamp(claim)
        if claim.size > min(MOST_BYTES, self._context.root.limits.file_bytes):
            return IndexedFile(path, stamp, "too_large")
        try:
            sha = hashlib.sha256(self._context.root.read_bytes(path)).hexdigest()
        except ToolError:
            return IndexedFile(path, stamp, "unreadable")
        updated_ms = claim.modified_ns // 1_000_000
        if before is not None and sha_of(before) == sha:
            row: Any = before.about
            updated_ms = Record.read(row).updated_ms
        try:
            document = self.files.load(claim, links=True)
        except Unreadable as error:
            return IndexedFile(path, stamp, error.reason)
        except ToolError:
            return IndexedFile(path, stamp, "unreadable")
        if not isinstance(claim.loader, LinkLoader):
            document = _with_sections(document)
        about: Any = record_of(document, sha, updated_ms, self._inside)
        return IndexedFile(path, stamp, sections=len(document.sections), about=about)


def _with_sections(document: Document) -> Document:
    """Complete a document of a loader without links, so that it has at least one section."""
    if document.sections:
        return document
    text = document.text
    whole = Section("", 1, Lines(text).total, 0, len(text), len(text), 0, level=0)
    return document._replace(sections=(whole,))


def sha_of(page: IndexedFile) -> str:
    """Return the hash of the bytes of a page; empty for a skipped page."""
    row: Any = page.about
    return str(row[-2]) if row else ""
