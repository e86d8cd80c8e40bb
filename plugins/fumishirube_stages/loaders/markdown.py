"""Markdown: a file is divided at its headings."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field, field_validator

from fumishirube import (
    Document,
    Heading,
    LoaderRemark,
    Root,
    Section,
    Source,
    Stage,
    divide_at_headings,
)
from fumishirube.text import Lines, decode
from fumishirube_stages.loaders.globs import matcher
from fumishirube_stages.loaders.headings import MOST_STEPS, parsed
from fumishirube_stages.loaders.names import is_navigation, sources_ending
from fumishirube_stages.loaders.sections import mended

_FRONT_MATTER_OPENS = re.compile(r"---[ \t]*\n")
_FRONT_MATTER_CLOSES = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_FRONT_MATTER_LIMIT = 16_384
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
_SETTING = re.compile(r"[\w-]+:(?:\s|$)|[ \t#-]")


class Markdown(Stage):
    """Speaks for Markdown files. Each heading opens a section; so does text before the first.

    ``include`` and ``exclude`` are globs that choose the files, instead of the suffixes; exclude
    wins. Manuals are divided at every heading, and files in no known encoding are skipped; files
    that are studied are divided at three levels, and read as UTF-8 whatever they hold. The next
    two settings change that. A file of so many lists and tables that parsing takes more than
    ``parse_steps`` is skipped; the default is about four seconds.
    """

    reads_if: ClassVar[Mapping[str, str]] = {
        suffix: f"give it suffixes: [.md, {suffix}] in {{loaders}}" for suffix in _PLAIN_TEXT
    }

    suffixes: tuple[str, ...] = (".md",)
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    heading_levels: Annotated[int, Field(ge=1, le=6)] | None = None
    undecodable: Literal["skip", "replace"] | None = None
    parse_steps: Annotated[int, Field(ge=1)] = MOST_STEPS

    @field_validator("include", "exclude")
    @classmethod
    def _globs(cls, globs: tuple[str, ...]) -> tuple[str, ...]:
        matcher(globs)
        return globs

    def sources(self, root: Root) -> list[Source]:
        """Return the files that the globs choose, or that end in a suffix, whatever their case."""
        wanted, unwanted = matcher(self.include), matcher(self.exclude)
        chosen = _chosen(root, wanted) if self.include else sources_ending(root, self.suffixes)
        return (
            [source for source in chosen if not unwanted(source.path)] if self.exclude else chosen
        )

    def load(self, root: Root, source: Source) -> Document:
        """Read a file and divide it.

        Raises:
            Unreadable: when its text cannot be had.
        """
        path = source.path
        text, _ = _decoded(root.read_bytes(path), self.undecodable or "skip")
        front = _front_matter(text)
        stem = PurePosixPath(path).stem
        return Document(
            path=path,
            file_type="md",
            text=text,
            sections=tuple(_sections(text, front, stem, self)),
            navigation=is_navigation(path),
            facts={"title": front.title} if front.title else {},
            content=front.end,
        )

    def load_with_links(self, root: Root, source: Source) -> Document:
        """Read a file and divide it, with its links and what its front matter says.

        Raises:
            Unreadable: when its text cannot be had.
        """
        from fumishirube_stages.loaders.front_matter import front_matter  # noqa: PLC0415 - see links
        from fumishirube_stages.loaders.links import links  # noqa: PLC0415 - manuals need neither

        text, whole = _decoded(root.read_bytes(source.path), self.undecodable or "replace")
        front = front_matter(text)
        lines = Lines(text)
        structure = parsed(text, front.end, lines, self.parse_steps)
        headings = [
            heading for heading in structure.headings if heading.level <= (self.heading_levels or 3)
        ]
        linked = links(text, front.end, structure.opaque, structure.references)
        remarks = (
            () if whole else (LoaderRemark("undecodable", 1, "bytes that are no UTF-8 read as �"),)
        )
        return Document(
            path=source.path,
            file_type="md",
            text=text,
            sections=tuple(_studied(text, front.end, headings, lines)),
            links=linked.links,
            facts=front.facts,
            content=front.end,
            remarks=(*remarks, *front.remarks, *linked.remarks),
        )


class _FrontMatter(NamedTuple):
    """The offset at which YAML front matter ends, and the title it gives."""

    end: int = 0
    title: str | None = None


# --- sections -------------------------------------------------------------------------------


def _chosen(root: Root, wanted: Callable[[str], bool]) -> list[Source]:
    paths = dict.fromkeys(entry.path for entry in root.files())
    return [Source(path) for path in paths if wanted(path)]


def _decoded(data: bytes, undecodable: str) -> tuple[str, bool]:
    """Return the text, and whether every byte of it could be read."""
    if undecodable == "skip":
        return decode(data), True
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        text, whole = data.decode(), b"\0" not in data
    except UnicodeDecodeError:
        text, whole = data.decode("utf-8", "replace"), False
    return text.replace("\0", "�").replace("\r\n", "\n").replace("\r", "\n"), whole


def _sections(text: str, front: _FrontMatter, stem: str, settings: Markdown) -> Iterator[Section]:
    lines = Lines(text)
    structure = parsed(text, front.end, lines, settings.parse_steps)
    levels = settings.heading_levels or 6
    headings = [heading for heading in structure.headings if heading.level <= levels]
    return divide_at_headings(text, headings, front.title or stem, front.end, lines)


def _studied(text: str, begin: int, headings: Sequence[Heading], lines: Lines) -> Iterator[Section]:
    """Yield every section below the front matter; text before the first heading has no title."""
    first = lines.start(headings[0].line) if headings else len(text)
    before = text[begin:first]
    if before.strip():
        start = begin + len(before) - len(before.lstrip())
        last = lines.at(begin + len(before.rstrip()) - 1)
        yield Section("", lines.at(start), last, begin, first, first, begin, level=0)
    yield from divide_at_headings(text, headings, None, lines=lines)


# --- front matter ---------------------------------------------------------------------------


def _front_matter(text: str) -> _FrontMatter:
    """Find YAML between ``---`` and ``---`` at the very start; what is no mapping is text.

    Settings with a mistake, such as an unquoted colon, are still no text; they give no title.
    """
    opening = _FRONT_MATTER_OPENS.match(text)
    closing = opening and _FRONT_MATTER_CLOSES.search(text, opening.end())
    if not opening or not closing or closing.start() > _FRONT_MATTER_LIMIT:
        return _FrontMatter()
    import yaml  # noqa: PLC0415 - 12 ms that manuals without front matter do not need

    inner = text[opening.end() : closing.start()]
    try:
        # BaseLoader makes nothing but strings, lists and mappings.
        content = yaml.load(inner, yaml.BaseLoader)  # noqa: S506
    except (yaml.YAMLError, RecursionError):
        meant = all(_SETTING.match(line) for line in inner.splitlines() if line.strip())
        return _FrontMatter(closing.end()) if meant else _FrontMatter()
    if not isinstance(content, dict | None):
        return _FrontMatter()
    title = content.get("title") if content else None
    return _FrontMatter(closing.end(), mended(title.strip()) if isinstance(title, str) else None)
