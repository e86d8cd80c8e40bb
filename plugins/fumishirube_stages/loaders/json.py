"""JSON files, divided by structure, and searched by keys and values."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Annotated, Any, ClassVar

from pydantic import Field

from fumishirube import Document, Root, Section, Source, Stage
from fumishirube_stages.divisions import PASSAGE_CHARS, whole
from fumishirube_stages.source_files import (
    decoded_file,
    is_navigation,
    left_nothing,
    sources_ending,
)

_WORDS = {True: "true", False: "false", None: "null"}


class Json(Stage):
    """Claims JSON files. A short one is one section, titled by the file's name.

    A longer one is divided, at keys and items at the beginning of lines, into sections of about
    ``section_chars``, titled by their paths; with ``null`` it stays one section.
    """

    revision: ClassVar[int] = 4  # takes no damaged text for UTF-16
    by_name: ClassVar[bool] = True

    suffixes: tuple[str, ...] = (".json",)
    section_chars: Annotated[int, Field(ge=1)] | None = PASSAGE_CHARS

    def lacking(self, stages: Mapping[str, Sequence[object]]) -> str | None:
        """Return the message for suffixes that belong to earlier loaders, or ``None``."""
        return left_nothing(self, self.suffixes, stages)

    def sources(self, root: Root) -> list[Source]:
        """Return the files with one of the suffixes, in any case."""
        return sources_ending(root, self.suffixes)

    def load(self, root: Root, source: Source) -> Document:
        """Read a file; invalid JSON is searched as plain text."""
        text, remarks = decoded_file(root.read_bytes(source.path))
        return Document(
            path=source.path,
            file_type="json",
            text=text,
            sections=self._sections(text, PurePosixPath(source.path).name),
            navigation=is_navigation(source.path),
            remarks=remarks,
            scan_only=True,
        )

    def _sections(self, text: str, name: str) -> tuple[Section, ...]:
        try:
            content = json.loads(
                text,
                object_pairs_hook=tuple,  # a dict would drop repeated keys
                parse_int=str,
                parse_float=str,
                parse_constant=str,
            )
        except (ValueError, RecursionError):
            return whole(text, name)
        most = self.section_chars
        if most and len(text) > most:
            from fumishirube_stages.loaders.json_files import json_divisions  # noqa: PLC0415 - for long ones

            if sections := json_divisions.json_sections(text, name, most):
                return sections
        return whole(text, name, "\n".join(_scalars(content)))


def _scalars(content: Any) -> Iterator[str]:
    """Yield the keys and scalar values in order, without recursion.

    A tuple is an object or a pair of it, a list an array.
    """
    waiting = [iter((content,))]
    while waiting:
        for item in waiting[-1]:
            if isinstance(item, list | tuple):
                waiting.append(iter(item))
                break
            yield item if isinstance(item, str) else _WORDS[item]
        else:
            waiting.pop()
