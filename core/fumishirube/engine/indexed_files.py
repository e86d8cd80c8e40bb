"""What an index stores of a file: its record, and its sections as passages."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from pydantic import JsonValue

from fumishirube.documents import Document, Section
from fumishirube.errors import ToolError, Unreadable
from fumishirube.model import Passage
from fumishirube.stages import IndexedFile
from fumishirube.text.folding import fold, words

IndexedPage: TypeAlias = tuple[IndexedFile, Sequence[Any]]
"""The record of a file and its sections: passages, or what an index has prepared of them."""

FIELDS = ("title", "headings", "path", "body")
"""The searchable fields of a passage."""

_DIGEST_DIGITS = 12
_TEXT, _BESIDE = "text", "beside"
_AROUND = "# \n"
"""What is around the title in the lines of a heading."""


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
    about = _text_record(document, sections)
    return IndexedFile(path, stamp, None, len(sections), blank, about), sections


def digest(text: str) -> str:
    """Return the start of the SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_DIGITS]


def passages(document: Document) -> list[Passage]:
    """Return the sections of a document as an index stores them."""
    stem = document.path.rpartition(".")[0] or document.path
    path = fold(stem)
    return [_passage(document, section, path) for section in document.sections]


def _above(document: Document, section: Section) -> str:
    """Return the titles above a section: that of the page, and the headings around it."""
    title = document.title
    known = {fold(heading) for heading in (section.title, *section.ancestors)}
    above = section.ancestors if fold(title) in known else (title, *section.ancestors)
    return fold("\n".join(filter(None, above)))


def _passage(document: Document, section: Section, path: str) -> Passage:
    own = document.text[section.start : section.end]
    body = document.text[section.body : section.end]
    return Passage(
        path=document.path,
        start_line=section.start_line,
        end_line=section.end_line,
        title=section.title,
        ancestors=section.ancestors,
        level=section.level,
        digest=digest(own),
        fields={
            "title": fold(section.title),
            "headings": _above(document, section),
            "path": path,
            "body": fold(body if section.searched is None else section.searched),
        },
    )


def _text_record(document: Document, sections: Sequence[Passage]) -> JsonValue:
    """Return what an index stores of a file, to exclude it later or to read it unparsed.

    That is a digest of its text, and the words of the file that are not in its passages: in
    headings as written, front matter, escapes, and sections that are not searched.
    """
    beside: dict[str, None] = {}
    for section, passage in zip(document.sections, sections, strict=True):
        body = section.body if section.searched is None and passage.fields["body"] else section.end
        outside = document.text[section.start : body]
        known: set[str] = set()
        if passage.fields["body"]:
            if outside.strip(_AROUND) == section.title:
                continue  # most headings have the words of their titles
            names = ("title",) if section.searched is None else ("title", "body")
            known = {run for name in names for run, _ in words(passage.fields[name])}
        beside |= dict.fromkeys(run for run, _ in words(fold(outside)) if run not in known)
    return {_TEXT: digest(document.text), _BESIDE: " ".join(beside)}


def text_digest(page: IndexedFile) -> object:
    """Return the digest of the text of an indexed file; ``None`` of one without a text."""
    return page.about.get(_TEXT) if isinstance(page.about, dict) else None


def words_beside(page: IndexedFile) -> str | None:
    """Return the words of a file that are not in its passages; ``None`` of an older record."""
    beside = page.about.get(_BESIDE) if isinstance(page.about, dict) else None
    return beside if isinstance(beside, str) else None
