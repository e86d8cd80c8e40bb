"""Makes documents of Markdown: their sections, front matter and links."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from fumishirube import Document, Heading, LoaderRemark, Section, Unreadable, divide_at_headings
from fumishirube.text import Lines, unify_line_ends
from fumishirube_stages.loaders.markdown_files.front_matter import (
    FrontMatter,
    front_matter,
    reader_texts,
)
from fumishirube_stages.loaders.markdown_files.headings import headings, parsed
from fumishirube_stages.source_files import DecodedFile, decoded_file, is_navigation

if TYPE_CHECKING:
    from fumishirube_stages.loaders.markdown import Markdown


def document(path: str, data: bytes, settings: Markdown) -> Document:
    """Return the document of a file of a manual."""
    text, remarks = _decoded(data, settings.undecodable or "skip")
    front = reader_texts(text, {"title", *map(str.lower, settings.front_matter)})
    stem = PurePosixPath(path).stem
    title = str(front.facts.get("title", stem)) if settings.page_titles else stem
    return Document(
        path=path,
        file_type="md",
        text=text,
        sections=tuple(_sections(text, front, title, settings)),
        navigation=is_navigation(path),
        facts=front.facts,
        content=front.end,
        remarks=(*remarks, *front.remarks),
    )


def linked_document(path: str, data: bytes, settings: Markdown) -> Document:
    """Return the document of a file, with its links."""
    from fumishirube_stages.loaders.markdown_files.links import links  # noqa: PLC0415 - manuals need neither

    text, remarks = _decoded(data, settings.undecodable or "replace")
    front = front_matter(text)
    lines = Lines(text)
    structure = parsed(text, front.end, lines, settings.parse_steps)
    most = settings.heading_levels or 3
    wanted = [heading for heading in structure.headings if heading.level <= most]
    linked = links(text, front.end, structure)
    return Document(
        path=path,
        file_type="md",
        text=text,
        sections=tuple(_linked_sections(text, front.end, wanted, lines)),
        links=linked.links,
        facts=front.facts,
        content=front.end,
        remarks=(*remarks, *front.remarks, *linked.remarks),
    )


def _decoded(data: bytes, undecodable: str) -> DecodedFile:
    """Return the text, with a remark unless every byte could be decoded."""
    if undecodable == "skip":
        return decoded_file(data)
    with suppress(Unreadable):
        decoded = decoded_file(data)
        if "\0" not in decoded.text:
            return decoded
    text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace").replace("\0", "�")
    remark = LoaderRemark("undecodable", 1, "bytes that are no UTF-8 read as �")
    return DecodedFile(unify_line_ends(text), (remark,))


# --- sections -------------------------------------------------------------------------------


def _sections(text: str, front: FrontMatter, title: str, settings: Markdown) -> Iterator[Section]:
    lines = Lines(text)
    levels = settings.heading_levels or 6
    wanted = [
        heading
        for heading in headings(text, front.end, lines, settings.parse_steps)
        if heading.level <= levels
    ]
    described = [str(written) for key, written in front.facts.items() if key != "title"]
    for section in divide_at_headings(text, wanted, title, front.end, lines):
        if section.start or not described:
            yield section
        else:
            body = text[section.body : section.end]
            yield section._replace(searched="\n".join((*described, body)))


def _linked_sections(
    text: str, begin: int, headings: Sequence[Heading], lines: Lines
) -> Iterator[Section]:
    """Yield the sections below the front matter; text before the first heading has no title."""
    first = lines.start(headings[0].line) if headings else len(text)
    before = text[begin:first]
    if before.strip():
        start = begin + len(before) - len(before.lstrip())
        last = lines.at(begin + len(before.rstrip()) - 1)
        yield Section("", lines.at(start), last, begin, first, first, begin, level=0)
    yield from divide_at_headings(text, headings, None, lines=lines)
