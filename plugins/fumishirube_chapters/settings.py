"""Settings that several modules of the chapters share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from fumishirube import Root

MODES = ("plain", "regex", "loose")
"""The scorers of ``search_text``, named by its ``mode``."""
EXCEPTIONS = "exceptions"
MOST_RESULTS = 100


class LocationSettings(NamedTuple):
    """The file of a table of contents in a manual's folder, and which links are followed.

    Nothing outside the folders in ``allowed`` is read.
    """

    toc: str
    allowed: Sequence[Path]
    links: bool = False


class ChapterCacheSettings(NamedTuple):
    """The number of chapters in memory, their lifetime in seconds, and the file of projections.

    The file is in the ``folder``. It is ``named`` when a user has chosen it: then it may be one of
    something else.
    """

    chapters: int
    seconds: int
    folder: Root
    name: str
    named: bool = False
