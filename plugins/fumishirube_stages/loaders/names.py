"""What a file's name says: whether a loader speaks for it, and whether it only navigates."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from fumishirube import Root, Source
from fumishirube.text import fold

_NAVIGATION = re.compile(r"(?:\d[\d\-_. ]*)?(?:目次|もくじ|toc)")


def sources_ending(root: Root, suffixes: tuple[str, ...]) -> list[Source]:
    """Return a source for every file whose name ends so, whatever the case, sorted by path."""
    endings = tuple(suffix.lower() for suffix in suffixes)
    paths = [entry.path for entry in root.files() if entry.name.lower().endswith(endings)]
    # Names that differ only in their Unicode form are one path, so that one file stands for both.
    return [Source(path) for path in dict.fromkeys(paths)]


def is_navigation(path: str) -> bool:
    """Tell whether the file is a table of contents by name: ``目次``, ``01_もくじ``, ``TOC``."""
    return _NAVIGATION.fullmatch(fold(PurePosixPath(path).stem)) is not None
