"""What loaders share about files: which they claim, which only navigate, and their texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from pathlib import PurePosixPath
from typing import NamedTuple

from fumishirube import LoaderRemark, Root, Source
from fumishirube.disk import FolderEntry
from fumishirube.text import Lines, decode_with_encoding, fold, unify_line_ends

_NAVIGATION = re.compile(r"(?:\d[\d\-_. ]*)?(?:目次|もくじ|toc)")


def sources_ending(root: Root, suffixes: tuple[str, ...]) -> list[Source]:
    """Return a source for every file whose name ends so, whatever the case, sorted by path."""
    # Names that differ only in their Unicode form are one path, so that one file stands for both.
    return [Source(path) for path in dict.fromkeys(paths_ending(root.files(), suffixes))]


def paths_ending(
    files: Iterable[FolderEntry], suffixes: Sequence[str], *, extensionless: bool = False
) -> list[str]:
    """Return the paths of files whose names end so, whatever the case, or perhaps have no dot."""
    endings = tuple(suffix.lower() for suffix in suffixes)
    # There may be thousands of files, and a call for each takes twice as long.
    return [
        entry.path
        for entry in files
        if entry.name.lower().endswith(endings) or (extensionless and "." not in entry.name)
    ]


def left_nothing(
    loader: object, suffixes: Sequence[str], stages: Mapping[str, Sequence[object]]
) -> str | None:
    """Return the message for a loader whose suffixes all belong to loaders before it."""
    before = takewhile(lambda other: other is not loader, stages["loaders"])
    # Globs select other files than the suffixes.
    globs = ("include", "exclude")
    whole = [other for other in before if not any(getattr(other, name, ()) for name in globs)]
    claimed = {suffix.lower() for other in whole for suffix in getattr(other, "suffixes", ())}
    if suffixes and {suffix.lower() for suffix in suffixes} <= claimed:
        return f"loaders before it claim all files with {', '.join(suffixes)}"
    return None


def is_navigation(path: str) -> bool:
    """Tell whether the file is a table of contents by name: ``目次``, ``01_もくじ``, ``TOC``."""
    return _NAVIGATION.fullmatch(fold(PurePosixPath(path).stem)) is not None


class DecodedFile(NamedTuple):
    """A text with LF line ends, and remarks on what could not be decoded."""

    text: str
    remarks: tuple[LoaderRemark, ...] = ()


def decoded_file(data: bytes) -> DecodedFile:
    """Return the text of a file's bytes.

    Raises:
        Unreadable: with the reason ``undecodable``, when they are in no known encoding.
    """
    decoded = decode_with_encoding(data)
    text = unify_line_ends(decoded.text)
    if not decoded.cut:
        return DecodedFile(text)
    message = "the file ends within a character, which is read as �; it may be cut off"
    return DecodedFile(text, (LoaderRemark("undecodable", Lines(text).total, message),))
