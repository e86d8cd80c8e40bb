"""TocText: the ``.txt`` chapters that a table of contents beside them names."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any

from pydantic import Field

from shirube import (
    Document,
    InvalidPath,
    Root,
    Source,
    Stage,
    ToolError,
    clean_path,
    decode,
)
from shirube_builtin.loaders.names import is_navigation
from shirube_builtin.loaders.sections import whole

TOC = "00_目次.json"


class TocText(Stage):
    """Speaks for the chapters that ``00_目次.json`` names; each is one section.

    A table of contents that cannot be used, or an entry of it, costs only itself. Of two that
    name one chapter the outermost decides, and of two entries the first.
    """

    max_toc_bytes: int = Field(default=8 * 1024 * 1024, ge=1)

    def sources(self, root: Root) -> list[Source]:
        """Return the chapters that are there, each governed by its table of contents."""
        files = root.files()
        listed = {entry.path for entry in files}
        tocs = (entry.path for entry in files if entry.name == TOC)
        chapters: dict[str, Source] = {}
        for toc in sorted(tocs, key=lambda path: (path.count("/"), path)):
            for path in self._titles(root, toc):
                if path in listed:
                    chapters.setdefault(path, Source(path, (toc,)))
        return list(chapters.values())

    def load(self, root: Root, source: Source) -> Document:
        """Read a chapter, titled by its table of contents, or by its stem if that is gone.

        Raises:
            Unreadable: when its text cannot be had.
        """
        path = source.path
        text = decode(root.read_bytes(path))
        titles = [self._titles(root, toc) for toc in source.governed_by]
        stem = PurePosixPath(path).stem
        sections = whole(text, next((each[path] for each in titles if path in each), stem))
        return Document(path, "txt", text, sections, navigation=is_navigation(path))

    def _titles(self, root: Root, toc: str) -> Mapping[str, str]:
        """Return the title of each chapter that a table of contents names, by path."""
        try:
            small = root.stat(toc).size <= self.max_toc_bytes
            return _titles_below(toc.rpartition("/")[0], root.read_bytes(toc) if small else b"")
        except ToolError:
            return {}


# Chapters are read one at a time, and each asks its table of contents again.
@lru_cache(maxsize=4)
def _titles_below(folder: str, data: bytes) -> Mapping[str, str]:
    titles: dict[str, str] = {}
    for file, title in _chapters(data):
        titles.setdefault(f"{folder}/{file}" if folder else file, title)
    return MappingProxyType(titles)


def _chapters(data: bytes) -> Iterator[tuple[str, str]]:
    try:
        content = json.loads(decode(data))
    except (ToolError, ValueError, RecursionError):
        return
    entries = content.get("toc") if isinstance(content, dict) else None
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            yield from _chapter(entry.get("id"), entry.get("title"), entry.get("file"))


def _chapter(number: Any, title: Any, file: Any) -> Iterator[tuple[str, str]]:
    """Yield one entry's file and title; nothing when it is no chapter."""
    if isinstance(number, bool) or not isinstance(number, int | str):
        return
    if not isinstance(file, str) or "\\" in file or not file.lower().endswith(".txt"):
        return
    try:
        path = clean_path(file)
    except InvalidPath:
        return
    yield path, title if isinstance(title, str) else str(number)
