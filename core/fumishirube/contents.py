"""A table of contents: which chapters a manual has, where they are, and what is wrong with it."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

from pydantic import JsonValue

from fumishirube.disk.roots import Root
from fumishirube.model import Document


class Chapter(NamedTuple):
    """An entry of a table of contents, repaired.

    ``file`` is as written; ``path`` is where that is inside the manual's folder, and ``None`` when
    it may not be read.
    """

    id: str
    title: str
    file: str
    children: list[JsonValue] | None = None
    path: str | None = None


class Contents(NamedTuple):
    """The chapters of a manual in order, and a sentence for each thing that was repaired."""

    chapters: tuple[Chapter, ...]
    warnings: tuple[str, ...] = ()


@runtime_checkable
class ContentsLoader(Protocol):
    """A loader whose manuals have a table of contents."""

    def contents(self, root: Root, path: str) -> Contents:
        """Return what the table of contents at a path says, and what was repaired in it.

        Raises:
            Unreadable: when it cannot be used; the message says why.
            NotFound: when there is no such file.
        """
        ...

    def chapter(self, root: Root, path: str) -> Document:
        """Read a chapter whatever its bytes, with its encoding.

        Raises:
            Unreadable: when it is too large.
            NotFound: when there is no such file.
        """
        ...
