"""The texts of a manual's files, for who reads them through."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple


class FileText(NamedTuple):
    """A file's text, as its loader reads it.

    ``headings`` are those of the section that holds a line, the outermost first.
    """

    path: str
    text: str
    headings: Callable[[int], Sequence[str]]


class UnreadFile(NamedTuple):
    """A file that was not read, and why."""

    path: str
    reason: str


class ManualTexts(NamedTuple):
    """The files of a manual that may hold what is looked for; the others surely do not.

    ``files`` and ``sections`` count all of them, read or ruled out. ``unlisted`` counts, by reason,
    what lies in the folder and is no file of the manual; ``degraded`` says what was not as it
    should be.
    """

    files: int
    sections: int
    texts: Iterable[FileText | UnreadFile]
    unlisted: Mapping[str, int]
    degraded: str | None
