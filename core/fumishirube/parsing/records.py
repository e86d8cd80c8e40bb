"""Documents as plain data, for other processes and for files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fumishirube.documents import Document, LoaderRemark, Section
from fumishirube.places import Place

_PLAIN = ("navigation", "encoding", "damaged", "scan_only")
"""Fields of a document that are JSON as they are."""


def document_record(document: Document) -> dict[str, Any]:
    """Return a document as JSON data, without its links and its path."""
    return {
        "file_type": document.file_type,
        "text": document.text,
        "sections": [list(section) for section in document.sections],
        "places": [list(place) for place in document.places],
        "remarks": [list(remark) for remark in document.remarks],
        "facts": dict(document.facts),
        "content": document.content,
        **{name: getattr(document, name) for name in _PLAIN},
    }


def document_of(record: Mapping[str, Any], path: str) -> Document:
    """Return the document of a record.

    Raises:
        ValueError: when the record is invalid.
    """
    try:
        document = Document(
            path=path,
            file_type=str(record["file_type"]),
            text=str(record["text"]),
            sections=tuple(_section(values) for values in record["sections"]),
            places=tuple(Place(*values) for values in record["places"]),
            remarks=tuple(LoaderRemark(*values) for values in record["remarks"]),
            facts=dict(record["facts"]),
            content=int(record["content"]),
            **{name: record[name] for name in _PLAIN},
        )
    except (KeyError, TypeError) as error:
        raise ValueError("it is no document") from error
    length = len(document.text)
    for section in document.sections:
        if not 0 <= section.start <= section.body <= section.end <= section.extent <= length:
            raise ValueError("a section is outside its text")
    return document


def _section(values: Any) -> Section:
    section = Section(*values)
    return section._replace(ancestors=tuple(map(str, section.ancestors)))
