"""Markdown files, divided at their headings."""

import codecs
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator

from fumishirube import (
    Document,
    Heading,
    LoaderRemark,
    Root,
    Section,
    Source,
    Stage,
    Unreadable,
    divide_at_headings,
)
from fumishirube.text import Lines, unify_line_ends
from fumishirube_stages.loaders.decoded_files import DecodedFile, decoded_file
from fumishirube_stages.loaders.front_matter import FrontMatter, front_matter, reader_texts
from fumishirube_stages.loaders.globs import matcher
from fumishirube_stages.loaders.headings import MOST_STEPS, headings, parsed
from fumishirube_stages.loaders.names import is_navigation, left_nothing, sources_ending

_PLAIN_TEXT = [
    ".adoc",
    ".cfg",
    ".conf",
    ".csv",
    ".ini",
    ".log",
    ".markdown",
    ".mdown",
    ".mdx",
    ".mkd",
    ".mkdn",
    ".org",
    ".qmd",
    ".rmd",
    ".rst",
    ".tex",
    ".text",
    ".toml",
    ".tsv",
    ".txt",
    ".xml",
    ".yaml",
    ".yml",
]

_PROSE = ("description", "summary", "abstract", "excerpt", "subtitle")
"""The keys of front matter that describe the page in sentences."""


class Markdown(Stage):
    """Claims Markdown files. Each heading begins a section; so does text before the first.

    The globs ``include`` and ``exclude`` select files instead of the suffixes; exclude wins.
    Manuals are divided at every heading, and files in an unknown encoding are skipped. Files loaded
    with their links are divided at three levels, and an unknown encoding is read as UTF-8. The next
    two settings change that. A file whose lists and tables take more than ``parse_steps`` to parse
    is skipped; the default is about four seconds.

    In manuals the texts of some keys of the front matter are searched, with the text before the
    first heading. Its other lines are metadata, which ``manual_find`` neither searches nor shows.
    That text goes by the title in the front matter, if there is one; without ``page_titles`` by the
    name of its file.
    """

    revision: ClassVar[int] = 8  # ends front matter at three dots only below settings
    by_name: ClassVar[bool] = True
    reads_if: ClassVar[Mapping[str, str]] = {
        suffix: f"give it suffixes: [.md, {suffix}] in {{loaders}}" for suffix in _PLAIN_TEXT
    }

    suffixes: tuple[str, ...] = (".md",)
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    front_matter: tuple[str, ...] = _PROSE
    page_titles: bool = True
    heading_levels: Annotated[int, Field(ge=1, le=6)] | None = None
    undecodable: Literal["skip", "replace"] | None = None
    parse_steps: Annotated[int, Field(ge=1)] = MOST_STEPS

    @field_validator("include", "exclude")
    @classmethod
    def _globs(cls, globs: tuple[str, ...]) -> tuple[str, ...]:
        matcher(globs)
        return globs

    def lacking(self, stages: Mapping[str, Sequence[object]]) -> str | None:
        """Return the message for suffixes that belong to earlier loaders, or ``None``."""
        return None if self.include else left_nothing(self, self.suffixes, stages)

    def sources(self, root: Root) -> list[Source]:
        """Return the files that match the globs, or have a suffix, in any case."""
        included, excluded = matcher(self.include), matcher(self.exclude)
        chosen = _chosen(root, included) if self.include else sources_ending(root, self.suffixes)
        return (
            [source for source in chosen if not excluded(source.path)] if self.exclude else chosen
        )

    def load(self, root: Root, source: Source) -> Document:
        """Read and divide a file.

        Raises:
            Unreadable: when its text cannot be read.
        """
        path = source.path
        text, remarks = _decoded(root.read_bytes(path), self.undecodable or "skip")
        front = reader_texts(text, {"title", *map(str.lower, self.front_matter)})
        stem = PurePosixPath(path).stem
        title = str(front.facts.get("title", stem)) if self.page_titles else stem
        return Document(
            path=path,
            file_type="md",
            text=text,
            sections=tuple(_sections(text, front, title, self)),
            navigation=is_navigation(path),
            facts=front.facts,
            content=front.end,
            remarks=(*remarks, *front.remarks),
        )

    def load_with_links(self, root: Root, source: Source) -> Document:
        """Read and divide a file, with its links and front matter.

        Raises:
            Unreadable: when its text cannot be read.
        """
        from fumishirube_stages.loaders.links import links  # noqa: PLC0415 - manuals need neither

        text, remarks = _decoded(root.read_bytes(source.path), self.undecodable or "replace")
        front = front_matter(text)
        lines = Lines(text)
        structure = parsed(text, front.end, lines, self.parse_steps)
        wanted = [
            heading for heading in structure.headings if heading.level <= (self.heading_levels or 3)
        ]
        linked = links(text, front.end, structure)
        return Document(
            path=source.path,
            file_type="md",
            text=text,
            sections=tuple(_linked_sections(text, front.end, wanted, lines)),
            links=linked.links,
            facts=front.facts,
            content=front.end,
            remarks=(*remarks, *front.remarks, *linked.remarks),
        )


# --- sections -------------------------------------------------------------------------------


def _chosen(root: Root, included: Callable[[str], bool]) -> list[Source]:
    paths = dict.fromkeys(entry.path for entry in root.files())
    return [Source(path) for path in paths if included(path)]


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
