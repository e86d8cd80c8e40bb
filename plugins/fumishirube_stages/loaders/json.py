"""Json: a file is divided by its structure, and searched by its keys and values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Annotated, Any

from pydantic import Field

from fumishirube import Document, Root, Section, Source, Stage
from fumishirube.text import decode
from fumishirube_stages.loaders.divisions import PASSAGE_CHARS
from fumishirube_stages.loaders.json_divisions import json_sections
from fumishirube_stages.loaders.names import is_navigation, sources_ending
from fumishirube_stages.loaders.sections import whole

_WORDS = {True: "true", False: "false", None: "null"}


class Json(Stage):
    """Speaks for JSON files. A short one is one section, titled by the file's name.

    A longer one is divided at keys and items that begin lines, into sections of about
    ``section_chars``, titled by their paths; with ``null`` it is one section as well.
    """

    suffixes: tuple[str, ...] = (".json",)
    section_chars: Annotated[int, Field(ge=1)] | None = PASSAGE_CHARS

    def sources(self, root: Root) -> list[Source]:
        """Return every file that ends in one of the suffixes, whatever their case."""
        return sources_ending(root, self.suffixes)

    def load(self, root: Root, source: Source) -> Document:
        """Read a file; one that is no JSON is searched as it stands.

        Raises:
            Unreadable: when its text cannot be had.
        """
        text = decode(root.read_bytes(source.path))
        name, searched = PurePosixPath(source.path).name, _searched(text)
        sections: tuple[Section, ...] = ()
        if searched is not None and self.section_chars and len(text) > self.section_chars:
            sections = json_sections(text, name, self.section_chars)
        sections = sections or whole(text, name, searched)
        navigation = is_navigation(source.path)
        return Document(source.path, "json", text, sections, navigation=navigation, scan_only=True)


def _searched(text: str) -> str | None:
    """Return the keys and scalar values, a line each, in order; ``None`` for what is no JSON."""
    try:
        content = json.loads(
            text,
            object_pairs_hook=tuple,  # keeps keys that occur twice
            parse_int=str,
            parse_float=str,
            parse_constant=str,
        )
    except (ValueError, RecursionError):
        return None
    return "\n".join(_scalars(content))


def _scalars(content: Any) -> Iterator[str]:
    """Walk without recursion: a tuple is an object's pairs or one of them, a list an array."""
    waiting = [iter((content,))]
    while waiting:
        for item in waiting[-1]:
            if isinstance(item, list | tuple):
                waiting.append(iter(item))
                break
            yield item if isinstance(item, str) else _WORDS[item]
        else:
            waiting.pop()
