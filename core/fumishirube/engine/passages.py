"""Passages: the sections of a document in the form that an index stores."""

from __future__ import annotations

import hashlib

from fumishirube.documents import Document, Section
from fumishirube.model import Passage
from fumishirube.text.folding import fold

FIELDS = ("title", "headings", "path", "body")
"""The searchable fields of a passage."""

_DIGEST_DIGITS = 12


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
