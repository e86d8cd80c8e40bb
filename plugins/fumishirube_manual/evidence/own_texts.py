"""Reads the own text of a section that a search returned."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cached_property
from typing import NamedTuple

from fumishirube import Document, Manual, ToolError, TraceRow, Unreadable
from fumishirube.commands import digest
from fumishirube.text import Lines, decode
from fumishirube_manual.citations import section_at
from fumishirube_manual.evidence.code_blocks import EnclosingBlocks
from fumishirube_manual.evidence.markup import unescaped

_FIRST = re.compile(r"^(?!:::|#|\s*$)", re.MULTILINE)
"""The first line of a section below its heading that is text."""

_HEADING = re.compile(r"#{1,6}[ \t]+([^\n]*)")

_MARKS = ("---", "+++")
_KEY = re.compile(r"(?![ \t#+-])(.+?)(?::(?=\s|$)|[ \t]=)|---|\.\.\.|\+\+\+|\[")
"""The key of a value of front matter in YAML or TOML, a table, or the line that ends it."""
_QUOTES = ("'", '"')

_CACHED_CHARS = 4_000_000
"""The most characters of files that are cached for further sections."""


class OwnText(NamedTuple):
    """A section's own text, its heading included, and the block of the page that it begins in.

    ``following`` is the heading of the section after it, without its marks, in a file of Markdown.
    ``metadata`` are its lines, counted from 0, of front matter that is not searched.
    """

    text: str
    block: str = ""
    following: str = ""
    metadata: Collection[int] = ()


class OwnTexts:
    """Reads own texts of the sections of one manual; several of one file read it once."""

    def __init__(self, manual: Manual) -> None:
        self._manual = manual
        self._files: dict[str, _WrittenFile] = {}
        self._room = _CACHED_CHARS

    def of(self, row: TraceRow) -> OwnText | None:
        """Return a section's own text with its heading; ``None`` if it has changed or is deleted.

        The file's own lines are used if they are the section's text; otherwise, as for a file that
        its loader renders, the file is loaded.
        """
        try:
            written = self._written(row.path)
            own = _lines_of(written, row) if written else None
            own = own or _loaded(self._manual.document(row.path), row)
            if own and row.start_line == 1 and own.text.startswith(_MARKS):
                own = own._replace(metadata=_metadata(own.text, self._manual.document(row.path)))
        except ToolError:
            return None
        return own and own._replace(text=unescaped(row.path, own.text))

    def _written(self, path: str) -> _WrittenFile | None:
        """Return the text of a file; ``None`` if it is binary."""
        if path in self._files:
            return self._files[path]
        data = self._manual.root.read_bytes(path)
        try:
            written = _WrittenFile(decode(data))
        except Unreadable:
            return None
        if len(written.text) <= self._room:
            self._room -= len(written.text)
            self._files[path] = written
        return written


class _WrittenFile:
    """The text of a file, its lines, and the blocks in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = Lines(text)

    @cached_property
    def blocks(self) -> EnclosingBlocks:
        return EnclosingBlocks(self.text)


def _lines_of(file: _WrittenFile, row: TraceRow) -> OwnText | None:
    text, lines = file.text, file.lines
    if row.end_line > lines.total:
        return None
    start = lines.start(row.start_line)
    own = text[start : lines.start(row.end_line + 1)]
    if not own.strip() or not digest(own).startswith(row.digest):
        return None
    heading = _HEADING.match(text, start + len(own))
    following = heading[1].rstrip(" \t").rstrip("#").rstrip(" \t") if heading else ""
    first = _FIRST.search(own)
    line = lines.at(start + first.start()) if first else row.start_line
    return OwnText(own, file.blocks.around(line), following)


def _metadata(own: str, document: Document) -> Collection[int]:
    """Return the lines of the front matter, counted from 0, without the texts that are searched."""
    searched = document.facts.keys() - {"title"}
    is_searched, quote = False, ""
    metadata: set[int] = set()
    for at, line in enumerate(own[: document.content].split("\n")[:-1]):
        if quote:
            quote = "" if line.rstrip().endswith(quote) else quote
        elif key := _KEY.match(line):
            value = line[key.end() :].strip()
            is_searched = (key[1] or "").strip("\"' \t") in searched
            closed = len(value) > 1 and value.endswith(value[0])
            quote = value[0] if is_searched and value[:1] in _QUOTES and not closed else ""
        if (not is_searched and not (line.startswith("{") and searched)) or line.startswith("#"):
            metadata.add(at)
    return metadata


def _loaded(document: Document, row: TraceRow) -> OwnText | None:
    section = section_at(document, row.start_line, row.digest)
    return OwnText(document.text[section.start : section.end]) if section else None
