"""Documents and pictures as plain data, for other processes and for files."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from fumishirube.documents import Document, LoaderRemark, Section
from fumishirube.parsing.pictures import PNG, PageView, Picture
from fumishirube.places import Place

_PLAIN = ("navigation", "encoding", "damaged", "scan_only")
"""Fields of a document that are JSON as they are."""
_LARGEST_PICTURE = 16 * 1024 * 1024


def result_record(result: Document | Picture) -> dict[str, Any]:
    """Return what a parser gives as JSON data."""
    if isinstance(result, Picture):
        return {"picture": b64encode(result.data).decode(), "marked": result.marked}
    return {"document": document_record(result)}


def page_view(record: Sequence[Any]) -> PageView:
    """Return the view of a record, which is a list."""
    page, lines, marked = record
    return PageView(page, tuple(lines), tuple(marked))


def picture_of(record: Mapping[str, Any]) -> Picture:
    """Return the picture of a record.

    Raises:
        ValueError: when it is no PNG file, or a very large one.
    """
    data = b64decode(str(record["picture"]), validate=True)
    if not data.startswith(PNG) or len(data) > _LARGEST_PICTURE:
        raise ValueError("it is no picture of a page")
    return Picture(data, int(record["marked"]))


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
