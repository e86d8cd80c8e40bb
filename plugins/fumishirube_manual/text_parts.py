"""Parts of answers as text: places, headings, numbered lines, and other members."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from fumishirube.tools import compact
from fumishirube_manual.evidence.markup import rendered_title
from fumishirube_manual.rows import HEADING_SEPARATOR, cited_path

Json = Mapping[str, Any]

_PLACE = re.compile(r"((?:.+#)?L)(\d+(?: .*)?)", re.DOTALL)
"""The file and the line of a place of an equal line, with its heading if that is another one."""
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")


def place_text(row: Any) -> str:
    """Return the place of a file: its path, or the beginning of a citation."""
    return cited_path(str(row["path"]), row.get("manual_id"))


def places_text(places: Sequence[str]) -> str:
    """Return places of equal lines, those in one folder in braces.

    Further ones of a file are given by their numbers and headings alone.
    """
    folders: list[tuple[str, list[str]]] = []
    file = None
    for place in places:
        match = _PLACE.fullmatch(place)
        path = match[1] if match is not None else ""
        folder = path[: path.rfind("/") + 1]
        if match is not None and path == file:
            folders[-1][1].append(match[2])
        elif folder and folders and folder == folders[-1][0]:
            folders[-1][1].append(place.removeprefix(folder))
        else:
            folders.append((folder, [place.removeprefix(folder)]))
        file = path
    texts = [(folder, ", ".join(names), len(names) > 1) for folder, names in folders]
    return ", ".join(
        f"{folder}{{{text}}}" if several and folder else folder + text
        for folder, text, several in texts
    )


def split_path(path: str) -> list[str]:
    """Return the headings of a heading path, as they are rendered, and equal ones in a row once.

    A long section goes on in passages of its own title.
    """
    return unrepeated(map(rendered_title, path.split(HEADING_SEPARATOR)))


def unrepeated(headings: Iterable[str]) -> list[str]:
    """Return headings without those that are equal to the one above, as of passages."""
    return [heading for heading, _ in groupby(headings)]


def last_heading(section: str) -> str:
    """Return the last heading of a heading path."""
    return section.rpartition(HEADING_SEPARATOR)[2]


def heading_of(line: str) -> str:
    """Return a line of a heading as the heading is named: without marks and tags."""
    return _TAG.sub("", line).strip("# \t")


def section_of(headings: Sequence[str], path: str) -> str:
    """Return the heading path of a section; empty if it is only the file's name or path.

    Equal headings in a row, as of the passages of a long section, are one.
    """
    name = path.rpartition("/")[2]
    titles = [*filter(None, unrepeated(headings))]
    named_so = titles in ([path], [name], [name.rpartition(".")[0]])
    return "" if named_so else HEADING_SEPARATOR.join(titles)


def below(headings: list[str], above: list[str]) -> list[str]:
    """Return headings without those at the beginning that are also at the beginning of others."""
    while len(headings) > 1 and headings[0] == above[0]:
        headings, above = headings[1:], above[1:] or [""]
    return headings


def numbered(lines: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Yield lines with their numbers before them."""
    for number, line in lines:
        yield f"{number} {line}"


def line_ranges(numbers: Iterable[int]) -> Iterator[str]:
    """Yield ascending line numbers as ``L3`` or, where several follow each other, ``L3-L5``."""
    for _, run in groupby(enumerate(numbers), key=lambda item: item[1] - item[0]):
        first, *others = [number for _, number in run]
        yield f"L{first}-L{others[-1]}" if others else f"L{first}"


def other_members(answer: Json, formatted: set[str]) -> Iterator[str]:
    """Yield the other members as JSON."""
    for key, value in answer.items():
        if key == "manuals":
            yield f"manuals: {comma_separated(value)}"
        elif key not in formatted and value not in (None, [], {}, ""):
            yield f"{key}: {value if isinstance(value, str) else compact(value)}"


def comma_separated(words: Any) -> str:
    """Return words in a row."""
    return ", ".join(map(str, words))
