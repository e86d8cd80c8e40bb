"""Decides which paths of the vault may be written, and which are hidden."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from datetime import date
from typing import Annotated

from pydantic import AfterValidator, Field

from fumishirube import Forbidden, InvalidPath
from fumishirube.disk import clean_new_path, clean_path, is_unfinished
from fumishirube.text import unseen_character
from fumishirube.tools import FailsWith
from fumishirube_vault.hidden_names import closed_segment

JOURNAL = ".system/journal"

_SYSTEM, _DAILY = ".system", "daily"
_UNLISTED = frozenset({".ds_store", "thumbs.db", "desktop.ini"})
_DAY = re.compile(r"daily/([0-9]{4}-[0-9]{2}-[0-9]{2})\.md")

NotePath = Annotated[
    str,
    AfterValidator(clean_path),
    FailsWith(InvalidPath),
    Field(description="In the vault."),
]


def is_hidden(path: str) -> bool:
    """Return whether a path belongs to the vault's own records, which no tool shows."""
    journal = [*map(_folded, path.split("/")[:2])] == JOURNAL.split("/")
    return journal or is_unfinished(path.rpartition("/")[2])


def is_unlisted(name: str) -> bool:
    """Return whether systems keep their own files under a name, which lists leave out."""
    return name.casefold() in _UNLISTED or name.startswith("._")


def may_create(path: str, allow_hidden: Collection[str]) -> None:
    """Check whether a note may be created at a path.

    Raises:
        Forbidden: in the reserved folder, below a name that begins with a dot, for a daily note
            whose name is not a date, for names with another meaning on other systems, and for those
            that no list shows.
    """
    may_write(path, allow_hidden)
    clean_new_path(path)
    if any(map(is_unlisted, path.split("/"))):
        raise Forbidden("choose another name: systems keep files of their own under it", path=path)
    if _top(path) == _DAILY and not _is_day(path):
        raise Forbidden("daily notes must be daily/YYYY-MM-DD.md", path=path)


def may_name(names: Collection[str], path: str) -> None:
    """Check the new segments of a path.

    Raises:
        Forbidden: when one of them contains an invisible character, and so looks like another.
    """
    for name in names:
        character = unseen_character(name)
        if character:
            raise Forbidden(f"choose another name: {character} in it is invisible", path=path)


def may_replace(path: str, allow_hidden: Collection[str]) -> None:
    """Check whether the text of a note may be changed.

    Raises:
        Forbidden: in the reserved folder, below a name that begins with a dot, and for daily notes.
    """
    may_write(path, allow_hidden)
    if _top(path) == _DAILY:
        raise Forbidden("daily notes stay as they were created; write another note", path=path)


def may_write(path: str, allow_hidden: Collection[str]) -> None:
    """Check whether any note may be written at a path.

    Raises:
        Forbidden: in the reserved folder, and below a name that begins with a dot.
    """
    if _top(path) == _SYSTEM:
        raise Forbidden(".system is reserved", path=path)
    if is_unfinished(path.rpartition("/")[2]):
        raise Forbidden("names that begin with ._fumishirube- are reserved", path=path)
    closed = closed_segment(path, allow_hidden)
    if closed is not None:
        raise Forbidden("notes are not written below names that begin with a dot", path=path)


def _is_day(path: str) -> bool:
    match = _DAY.fullmatch(path)
    try:
        return match is not None and bool(date.fromisoformat(match[1]))
    except ValueError:
        return False


def _top(path: str) -> str:
    return _folded(path.partition("/")[0])


def _folded(segment: str) -> str:
    """Return the form in which some file systems compare names."""
    return unicodedata.normalize("NFKC", segment).casefold().rstrip(". ")
