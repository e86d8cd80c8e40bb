"""What makes a document of a loader unusable: wrong types, another path, lines outside its text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fumishirube.documents import Document, Link, LoaderRemark, Section
from fumishirube.places import Place
from fumishirube.text.encoding import has_surrogates

_SEVERAL = (tuple, list)
_NUMBERS = {int}


def document_fault(document: object, path: str) -> str | None:
    """Return what is wrong with the document of a file, or ``None``; texts are not quoted."""
    if not isinstance(document, Document):
        return f"it gave a {type(document).__name__} and no document"
    if document.path != path:
        return "its document has another path than the file"
    if not _is_text(document.text):
        return "the text of its document is no Unicode text"
    if not _has_sound_values(document):
        return "a value of its document has a wrong type"
    if fault := _parts_fault(document):
        return fault
    if document.text.strip() and not (document.sections or document.navigation):
        return "its document has text, and no section that could be found"
    return None


def _has_sound_values(document: Document) -> bool:
    return (
        _is_text(document.file_type)
        and (document.encoding is None or isinstance(document.encoding, str))
        and isinstance(document.facts, Mapping)
        and type(document.content) is int
        and document.content >= 0
    )


def _parts_fault(document: Document) -> str | None:
    length, lines = len(document.text), document.text.count("\n") + 1

    def is_section(section: Any) -> bool:
        return _is_section(section, length, lines)

    checks: tuple[tuple[str, Any, Callable[[Any], bool]], ...] = (
        ("section", document.sections, is_section),
        ("link", document.links, _is_link),
        ("remark", document.remarks, _is_remark),
        ("place", document.places, _is_place),
    )
    for name, parts, is_sound in checks:
        if not isinstance(parts, _SEVERAL):
            return f"the {name}s of its document are a {type(parts).__name__} and no tuple"
        for number, part in enumerate(parts, start=1):
            if not is_sound(part):
                return f"{name} {number} of its document has a wrong type, or a place outside it"
    return None


def _is_section(section: Any, length: int, lines: int) -> bool:
    if not isinstance(section, Section) or {*map(type, section[1:8])} != _NUMBERS:
        return False
    title, first, last, start, end, extent, body, level, ancestors, searched = section
    return (
        0 <= start <= body <= end <= extent <= length
        and 1 <= first <= last <= lines
        and level >= 0
        and _is_text(title)
        and isinstance(ancestors, _SEVERAL)
        and (not ancestors or all(map(_is_text, ancestors)))
        and (searched is None or _is_text(searched))
    )


def _is_link(link: Any) -> bool:
    return (
        isinstance(link, Link)
        and all(map(_is_text, (link.target, link.text, link.anchor)))
        and type(link.line) is int
    )


def _is_remark(remark: Any) -> bool:
    return (
        isinstance(remark, LoaderRemark)
        and all(map(_is_text, (remark.code, remark.message)))
        and type(remark.line) is int
    )


def _is_place(place: Any) -> bool:
    return isinstance(place, Place) and type(place.line) is int


def _is_text(text: object) -> bool:
    """Tell whether a value is a text without surrogates, which cannot be encoded."""
    return isinstance(text, str) and not has_surrogates(text)
