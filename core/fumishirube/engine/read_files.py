"""What an index stores of a file: made in this process, or in one that only reads files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from fumishirube.documents import Document
from fumishirube.engine.passages import passages
from fumishirube.engine.text_narrowing import text_record
from fumishirube.errors import ToolError, Unreadable
from fumishirube.stages import IndexedFile

IndexedPage: TypeAlias = tuple[IndexedFile, Sequence[Any]]
"""The record of a file and its sections: passages, or what an index has prepared of them."""


def read_file(load: Callable[[], Document], path: str, stamp: str) -> IndexedPage:
    """Return the record of a file and its sections; none if it cannot be read."""
    try:
        document = load()
    except Unreadable as error:
        return IndexedFile(path, stamp, error.reason), ()
    except ToolError as error:
        return IndexedFile(path, stamp, error.code), ()
    if document.navigation:
        return IndexedFile(path, stamp, "navigation_file"), ()
    sections = passages(document)
    blank = sum(not passage.fields["body"] for passage in sections)
    about = text_record(document, sections)
    return IndexedFile(path, stamp, None, len(sections), blank, about), sections
