"""Reads the own text of a section that a search returned."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from fumishirube import Document, Manual, ToolError, TraceRow, Unreadable
from fumishirube.commands import digest
from fumishirube.text import Lines, decode
from fumishirube_manual.json_escapes import unescaped

_BLOCK = re.compile(r":::[ \t]*([a-z]+)(-end)?[ \t]*([^:\n]*)$", re.MULTILINE)
"""The first or the last line of a block of Markdown that applies to some readers only, as in
``::: zone pivot="linux"`` and ``::: zone-end``."""

_FIRST = re.compile(r"^(?!:::|#|\s*$)", re.MULTILINE)
"""The first line of a section below its heading that is text."""

_HEADING = re.compile(r"#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*$", re.MULTILINE)

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
        self._files: dict[str, tuple[str, Lines]] = {}
        self._room = _CACHED_CHARS

    def of(self, row: TraceRow) -> OwnText | None:
        """Return a section's own text with its heading; ``None`` if it has changed or is deleted.

        The file's own lines are used if they are the section's text; otherwise, as for a file that
        its loader renders, the file is loaded.
        """
        try:
            written = self._written(row.path)
            own = _lines_of(*written, row) if written else None
            own = own or _loaded(self._manual.document(row.path), row)
            if own and row.start_line == 1 and own.text.startswith(_MARKS):
                own = own._replace(metadata=_metadata(own.text, self._manual.document(row.path)))
        except ToolError:
            return None
        return own and own._replace(text=unescaped(row.path, own.text))

    def _written(self, path: str) -> tuple[str, Lines] | None:
        """Return the text of a file, and its lines; ``None`` if it is binary."""
        if path in self._files:
            return self._files[path]
        data = self._manual.root.read_bytes(path)
        try:
            text = decode(data)
        except Unreadable:
            return None
        written = text, Lines(text)
        if len(text) <= self._room:
            self._room -= len(text)
            self._files[path] = written
        return written


def _lines_of(text: str, lines: Lines, row: TraceRow) -> OwnText | None:
    if row.end_line > lines.total:
        return None
    start = lines.start(row.start_line)
    own = text[start : lines.start(row.end_line + 1)]
    if not own.strip() or not digest(own).startswith(row.digest):
        return None
    heading = _HEADING.match(text, start + len(own))
    following = heading[1] if heading else ""
    if ":::" not in text:
        return OwnText(own, following=following)
    first = _FIRST.search(own)
    block = enclosing_block(text, start + (first.start() if first else 0))
    return OwnText(own, block, following)


def enclosing_block(text: str, place: int) -> str:
    """Return the first line of the innermost block around a place, without its colons."""
    led = f"\n{text}"
    opened: list[tuple[str, str]] = []
    for match in _blocks(led[: place + 1]):
        name, ends, rest = match.groups()
        if not ends:
            opened.append((name, rest.strip()))
        elif opened and opened[-1][0] == name:
            opened.pop()
    closed = {match[1] for match in _blocks(led[place:]) if match[2]} if opened else set()
    inside = [f"{name} {rest}".strip() for name, rest in opened if name in closed]
    return inside[-1] if inside else ""


def _blocks(text: str) -> Iterator[re.Match[str]]:
    """Yield the lines that begin or end a block; looking for colons first is ten times as fast."""
    place = text.find("\n:::")
    while place >= 0:
        match = _BLOCK.match(text, place + 1)
        if match:
            yield match
        place = text.find("\n:::", place + 1)


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
    for section in document.sections:
        if section.start_line == row.start_line:
            own = document.text[section.start : section.end]
            return OwnText(own) if digest(own).startswith(row.digest) else None
    return None
