"""The texts of a manual's files, for reading from beginning to end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple


class FileText(NamedTuple):
    """A file's text, as its loader reads it.

    ``headings`` are those of the section that contains a line, the outermost first.
    """

    path: str
    text: str
    headings: Callable[[int], Sequence[str]]


class UnreadFile(NamedTuple):
    """A file that was not read, and why."""

    path: str
    reason: str


class ManualTexts(NamedTuple):
    """The files of a manual that may contain a text; no other files do.

    ``files`` and ``sections`` count all of them, read or excluded. ``unlisted`` counts, by reason,
    entries of the folder that are no files of the manual; ``degraded`` describes a failure that
    affects the result.
    """

    files: int
    sections: int
    texts: Iterable[FileText | UnreadFile]
    unlisted: Mapping[str, int]
    degraded: str | None
