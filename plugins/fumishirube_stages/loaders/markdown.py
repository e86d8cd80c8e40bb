"""Markdown files, divided at their headings."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator

from fumishirube import Document, Root, Source, Stage
from fumishirube_stages.divisions import MOST_STEPS
from fumishirube_stages.loaders.markdown_files.globs import matcher
from fumishirube_stages.source_files import left_nothing, sources_ending

_PLAIN_TEXT = """
    .adoc .cfg .conf .csv .ini .log .markdown .mdown .mdx .mkd .mkdn .org
    .qmd .rmd .rst .tex .text .toml .tsv .txt .xml .yaml .yml
""".split()  # noqa: SIM905 - a list of quoted suffixes is harder to read

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
        """Read and divide a file."""
        from fumishirube_stages.loaders.markdown_files import markdown_documents  # noqa: PLC0415 - for new files

        return markdown_documents.document(source.path, root.read_bytes(source.path), self)

    def load_with_links(self, root: Root, source: Source) -> Document:
        """Read and divide a file, with its links and front matter."""
        from fumishirube_stages.loaders.markdown_files import markdown_documents  # noqa: PLC0415 - for new files

        return markdown_documents.linked_document(source.path, root.read_bytes(source.path), self)


def _chosen(root: Root, included: Callable[[str], bool]) -> list[Source]:
    paths = dict.fromkeys(entry.path for entry in root.files())
    return [Source(path) for path in paths if included(path)]
