"""Dividing JSON by its own structure: keys of objects and items of arrays, each with its path."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from fumishirube import Section
from fumishirube.text import Lines
from fumishirube_stages.loaders.divisions import sections_at
from fumishirube_stages.loaders.sections import mended

_MARK = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\]:,]|[^\s{}\[\]:,"]++')
_LONGEST_KEY = 60


class _JsonUnit(NamedTuple):
    """A value that is not divided: its path, where it begins with its key, and where it ends."""

    parent: str
    label: str
    start: int
    end: int

    @property
    def path(self) -> str:
        return f"{self.parent}{self.label}".removeprefix(".")


@dataclass
class _JsonContainer:
    """An object or an array whose end has not come yet."""

    path: str
    label: str
    start: int
    array: bool
    units: list[_JsonUnit] = field(default_factory=list)
    number: int = 0
    key: str | None = None
    key_start: int = 0


def json_sections(text: str, name: str, most: int) -> tuple[Section, ...]:
    """Return valid JSON in sections of about ``most`` characters; none where it has no such parts.

    A section holds a value, or values side by side, and begins on a line of its own; its title is
    the path.
    """
    lines = Lines(text)
    groups = [*_groups(text, _units(text, most), lines, most)]
    if len(groups) < len("ab"):
        return ()
    starts = [1, *(lines.at(group[0].start) for group in groups[1:])]
    titles = [mended(_title(group)) for group in groups]
    return tuple(
        section._replace(searched=_searched(text, section))
        for section in sections_at(text, lines, starts, titles, mended(name))
    )


def _units(text: str, most: int) -> Sequence[_JsonUnit]:
    """Return the values that are short enough, and those that hold no others, in order."""
    root = _JsonContainer("", "", 0, array=True)
    stack = [root]
    for match in _MARK.finditer(text):
        mark, start, top = match.group(), match.start(), stack[-1]
        if mark in "{[":
            label, begin = _label(top, start) if len(stack) > 1 else ("", start)
            stack.append(_JsonContainer(top.path + label, label, begin, array=mark == "["))
        elif mark in "}]":
            closed = stack.pop()
            _close(closed, stack[-1], match.end(), most)
        elif mark in (":", ","):
            continue
        elif not top.array and top.key is None:
            top.key, top.key_start = json.loads(mark), start
        else:
            label, begin = _label(top, start) if len(stack) > 1 else ("", start)
            top.units.append(_JsonUnit(top.path, label, begin, match.end()))
    return root.units


def _label(top: _JsonContainer, start: int) -> tuple[str, int]:
    """Return how the next value is called in its container, and where it begins with its key."""
    if top.array:
        top.number += 1
        return f"[{top.number - 1}]", start
    key, top.key = top.key or "", None
    return f".{key[:_LONGEST_KEY]}", top.key_start


def _close(closed: _JsonContainer, outer: _JsonContainer, end: int, most: int) -> None:
    """Take what a container holds as one unit if it is short, and else one by one."""
    if end - closed.start <= most or not closed.units:
        parent = closed.path.removesuffix(closed.label) if closed.label else closed.path
        outer.units.append(_JsonUnit(parent, closed.label, closed.start, end))
        return
    first = closed.units[0]
    outer.units.append(first._replace(start=closed.start))  # its container begins with it
    outer.units.extend(closed.units[1:])


def _groups(
    text: str, units: Sequence[_JsonUnit], lines: Lines, most: int
) -> Iterator[Sequence[_JsonUnit]]:
    """Join units of one container while they are short; each group begins on a line of its own."""
    group: list[_JsonUnit] = []
    for unit in units:
        if not group:
            group.append(unit)
            continue
        apart = unit.parent != group[-1].parent or unit.end - group[0].start > most
        line = lines.start(lines.at(unit.start))
        begins_line = line > group[0].start and not text[line : unit.start].strip(" \t{}[],")
        if apart and begins_line:
            yield group
            group = [unit]
        else:
            group.append(unit)
    if group:
        yield group


def _title(group: Sequence[_JsonUnit]) -> str:
    first, last = group[0], group[-1]
    if len(group) == 1:
        return first.path or "$"
    ending = last.label.removeprefix(".") if last.parent == first.parent else last.path
    return f"{first.path} … {ending}"


def _searched(text: str, section: Section) -> str:
    """Return the keys and values of a section, a line each, in order."""
    marks = _MARK.findall(text, section.start, section.end)
    return mended(
        "\n".join(
            json.loads(mark) if mark[0] == '"' else mark for mark in marks if mark not in "{}[]:,"
        )
    )
