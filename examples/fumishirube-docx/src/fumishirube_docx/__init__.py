"""A loader for Fumishirube: Word documents (.docx), divided at their headings."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated

from pydantic import Field

from fumishirube import Document, Loader, Register, Root, Source, Stage, divide_at_headings, hook

_OPEN_ELSEWHERE = "~$"
"""What Word calls the file beside a document that somebody has open."""


class Docx(Stage):
    """Speaks for Word documents, and reads what they say as Markdown, divided at the headings.

    A document is a packed folder; one that would unpack to over ``unpacked_bytes`` is skipped.
    """

    suffixes: tuple[str, ...] = (".docx",)
    unpacked_bytes: Annotated[int, Field(ge=1)] = 128 * 1024 * 1024

    def sources(self, root: Root) -> list[Source]:
        """Return every file that ends in one of the suffixes, whatever their case."""
        endings = tuple(suffix.lower() for suffix in self.suffixes)
        files = [entry for entry in root.files() if entry.name.lower().endswith(endings)]
        paths = [entry.path for entry in files if not entry.name.startswith(_OPEN_ELSEWHERE)]
        return [Source(path) for path in dict.fromkeys(paths)]

    def load(self, root: Root, source: Source) -> Document:
        """Read a document.

        Raises:
            Unreadable: when it is too large, damaged, or no Word document at all.
        """
        from fumishirube_docx.package import read  # noqa: PLC0415 - 100 ms that a search does not need

        content = read(root.read_bytes(source.path), self.unpacked_bytes)
        title = content.title or PurePosixPath(source.path).stem
        sections = tuple(divide_at_headings(content.text, content.headings, title))
        return Document(source.path, "docx", content.text, sections)


@hook
def register_loaders(register: Register[Loader]) -> None:
    """Offer the loader."""
    register("docx", Docx)
