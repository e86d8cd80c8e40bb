"""The ``.txt`` chapters that a table of contents lists."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import ClassVar

from pydantic import Field

from fumishirube import Contents, Document, Root, Source, Stage, ToolError
from fumishirube.text import decode, decode_lossy, nfc
from fumishirube_stages.divisions import whole
from fumishirube_stages.loaders.json_files.contents import parsed
from fumishirube_stages.source_files import decoded_file, is_navigation

TOC = "00_目次.json"


class TocText(Stage):
    """Claims the chapters that ``00_目次.json`` lists; each is one section.

    A table of contents or an entry that cannot be used is ignored. Of two tables that list one
    chapter the outermost counts, and of two entries the first. Files over ``max_chapter_bytes`` are
    not read.
    """

    revision: ClassVar[int] = 5  # takes no damaged text for UTF-16
    reads_if: ClassVar[Mapping[str, str]] = {".txt": f"name them in a {TOC} beside them"}

    max_chapter_bytes: int = Field(default=8 * 1024 * 1024, ge=1)

    def sources(self, root: Root) -> list[Source]:
        """Return the existing chapters, each governed by its table of contents."""
        files = root.files()
        tocs = [entry.path for entry in files if entry.name == TOC]
        listed = {entry.path for entry in files} if tocs else set[str]()
        chapters: dict[str, Source] = {}
        for toc in sorted(tocs, key=lambda path: (path.count("/"), path)):
            for path in self._titles(root, toc):
                if path in listed:
                    chapters.setdefault(path, Source(path, (toc,)))
        return list(chapters.values())

    def load(self, root: Root, source: Source) -> Document:
        """Read a chapter, titled by its table of contents, or by its stem without one."""
        path = source.path
        text, remarks = decoded_file(self._read(root, path))
        titles = [self._titles(root, toc) for toc in source.governed_by]
        stem = PurePosixPath(path).stem
        sections = whole(text, next((each[path] for each in titles if path in each), stem))
        return Document(
            path, "txt", text, sections, navigation=is_navigation(path), remarks=remarks
        )

    def contents(self, root: Root, path: str) -> Contents:
        """Parse a table of contents, and report what was repaired.

        Raises:
            Unreadable: when it cannot be used; the message has the reason.
            NotFound: when there is no such file.
        """
        decoded = decode_lossy(self._read(root, path))
        contents, manual = parsed(decoded.text, path)
        folder = root.path.name
        warnings = [*contents.warnings]
        if decoded.damaged:
            warnings.append(f"{path} holds bytes that are no {decoded.encoding}")
        if manual is not None and nfc(manual) != nfc(folder):
            warnings.append("'manual' is not the name of the folder")
        return contents._replace(warnings=tuple(warnings))

    def chapter(self, root: Root, path: str) -> Document:
        """Read a chapter with any bytes; the document has its encoding and whether it is damaged.

        Raises:
            Unreadable: when it is too large.
            NotFound: when there is no such file.
        """
        text, encoding, damaged = decode_lossy(self._read(root, path))
        sections = whole(text, PurePosixPath(path).stem)
        return Document(path, "txt", text, sections, encoding=encoding, damaged=damaged)

    def _read(self, root: Root, path: str) -> bytes:
        most = min(self.max_chapter_bytes, root.limits.file_bytes)
        return replace(root, limits=replace(root.limits, file_bytes=most)).read_bytes(path)

    def _titles(self, root: Root, toc: str) -> Mapping[str, str]:
        """Return the titles in a table of contents, by path."""
        try:
            return _titles_below(toc.rpartition("/")[0], self._read(root, toc))
        except ToolError:
            return {}


# Cached: chapters are loaded one at a time, and each needs its table of contents.
@lru_cache(maxsize=4)
def _titles_below(folder: str, data: bytes) -> Mapping[str, str]:
    titles: dict[str, str] = {}
    for chapter in parsed(decode(data), TOC).contents.chapters:
        path = chapter.path
        if path is not None and path.lower().endswith(".txt"):
            titles.setdefault(f"{folder}/{path}" if folder else path, chapter.title)
    return MappingProxyType(titles)
