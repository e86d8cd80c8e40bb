"""Reads the own text of a section that a search returned."""

from __future__ import annotations

import hashlib

from fumishirube import Document, SurfaceContext, ToolError, TraceRow, Unreadable
from fumishirube.text import Lines, decode


def own_text(context: SurfaceContext, manual_id: str, row: TraceRow) -> str | None:
    """Return a section's own text with its heading; ``None`` when it has changed or was deleted.

    The file's own lines are used if they are the section's text; otherwise, as for a file that
    its loader renders, the file is loaded.
    """
    try:
        written = _as_written(context.root.child(manual_id).read_bytes(row.path), row)
        return written or _loaded(context.manual(manual_id).document(row.path), row)
    except ToolError:
        return None


def _as_written(data: bytes, row: TraceRow) -> str | None:
    """Return the section from the file's own lines; ``None`` if it is binary, or differs."""
    try:
        return _lines_of(decode(data), row)
    except Unreadable:
        return None


def _lines_of(text: str, row: TraceRow) -> str | None:
    lines = Lines(text)
    if row.end_line > lines.total:
        return None
    own = text[lines.start(row.start_line) : lines.start(row.end_line + 1)]
    return own if own.strip() and _digest(own).startswith(row.digest) else None


def _loaded(document: Document, row: TraceRow) -> str | None:
    for section in document.sections:
        if section.start_line == row.start_line:
            own = document.text[section.start : section.end]
            return own if _digest(own).startswith(row.digest) else None
    return None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
