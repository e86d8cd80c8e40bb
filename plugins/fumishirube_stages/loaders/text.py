"""Plain text, marked-up text, and tables."""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Annotated, ClassVar

from pydantic import Field

from fumishirube import Document, Root, Source, Stage, Unreadable
from fumishirube.text import is_cjk
from fumishirube_stages.divisions import without_surrogates
from fumishirube_stages.loaders.toc_text import TOC
from fumishirube_stages.source_files import (
    DecodedFile,
    decoded_file,
    is_navigation,
    left_nothing,
    paths_ending,
)

_CONTROLS = re.compile("[\0-\x08\x0e-\x1a\x1c-\x1f\ue000-\uf8ff]")
_SAMPLE = 65_536
_MOST_CONTROLS = 0.01
_LONGEST_LINE = 10_000
_LEAST_SPACE = 0.1
_LEAST_CJK = 0.2


class Text(Stage):
    """Claims text that no earlier loader claims, also names in ``extensionless``.

    Headings of reStructuredText (also in other files with directives), AsciiDoc and Org begin
    sections; so do the entries of a reference: objects of directives (``.. option::``), terms of
    glossaries, and terms of AsciiDoc (``core.editor::``). Anchors and attributes right above belong
    to them. Other text is divided at blank lines into passages of about 30 lines or 1,500
    characters, and tables (``.csv``, ``.tsv``) into rows under their header. Binary and minified
    files and those over ``most_bytes`` are skipped.
    For logs add ``.log`` to the suffixes.
    """

    revision: ClassVar[int] = 9  # begins sections with the anchors above their titles
    by_name: ClassVar[bool] = True
    reads_if: ClassVar[Mapping[str, str]] = {".log": "give it suffixes: [.txt, .log] in {loaders}"}

    suffixes: tuple[str, ...] = (
        ".txt",
        ".text",
        ".rst",
        ".adoc",
        ".asciidoc",
        ".org",
        ".csv",
        ".tsv",
    )
    extensionless: bool = True
    most_bytes: Annotated[int, Field(ge=1)] = 16 * 1024 * 1024

    def lacking(self, stages: Mapping[str, Sequence[object]]) -> str | None:
        """Return the message for suffixes that belong to earlier loaders, or ``None``."""
        return None if self.extensionless else left_nothing(self, self.suffixes, stages)

    def sources(self, root: Root) -> list[Source]:
        """Return the files of these suffixes, without a printed copy of a table of contents."""
        files = root.files()
        paths = paths_ending(files, self.suffixes, extensionless=self.extensionless)
        listed = {entry.path for entry in files} if paths else set[str]()
        return [Source(path) for path in dict.fromkeys(paths) if not _is_printed_toc(path, listed)]

    def load(self, root: Root, source: Source) -> Document:
        """Read and divide a file.

        Raises:
            Unreadable: when it is not text for people.
        """
        from fumishirube_stages.loaders.text_files import text_sections  # noqa: PLC0415 - for new files

        path = source.path
        text, remarks = self._decoded(root.read_bytes(path))
        name = PurePosixPath(path)
        suffix = name.suffix.lower()
        _check_lines(text, suffix)
        title = text_sections.org_title(text) if suffix == ".org" else ""
        return Document(
            path=path,
            file_type=suffix[1:] or "txt",
            text=text,
            sections=text_sections.sections(text, title or without_surrogates(name.stem), suffix),
            navigation=is_navigation(path),
            facts={"title": title} if title else {},
            remarks=remarks,
        )

    def _decoded(self, data: bytes) -> DecodedFile:
        if len(data) > self.most_bytes:
            raise Unreadable(
                f"the text has over {self.most_bytes} bytes; raise most_bytes of the loader 'text'",
                reason="too_large",
            )
        try:
            decoded = decoded_file(data)
        except Unreadable as error:
            if b"\0" in data[:_SAMPLE]:
                raise Unreadable("the file is binary", reason="binary") from error
            raise
        sample = decoded.text[:_SAMPLE]
        if len(_CONTROLS.findall(sample)) > _MOST_CONTROLS * len(sample):
            raise Unreadable("the file is binary", reason="binary")
        return decoded


def _is_printed_toc(path: str, listed: set[str]) -> bool:
    """Return whether a file is a printed copy of ``00_目次.json``."""
    folder, _, name = path.rpartition("/")
    stem = TOC.removesuffix(".json")
    return name == f"{stem}.txt" and (f"{folder}/{TOC}" if folder else TOC) in listed


def _check_lines(text: str, suffix: str) -> None:
    """Refuse minified text: long lines with almost no spaces.

    Japanese has no spaces either, and tables have few.
    """
    longest = max(text.split("\n"), key=len)
    if len(longest) <= _LONGEST_LINE or suffix in (".csv", ".tsv"):
        return
    sample = longest[:_LONGEST_LINE]
    space = sum(map(str.isspace, sample)) / len(sample)
    if space < _LEAST_SPACE and sum(map(is_cjk, sample)) / len(sample) < _LEAST_CJK:
        raise Unreadable("the text is minified: lines without spaces", reason="minified")
