"""Divides JSON by its structure: keys of objects and items of arrays, each with its path."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from fumishirube import Section
from fumishirube.text import Lines
from fumishirube_stages.divisions import sections_at, without_surrogates

_MARK = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\]:,]|[^\s{}\[\]:,"]++')
_LONGEST_KEY = 60
_LONGEST_PATH = 490
"""The most characters of one of the two paths in a title, which end in what they name."""


class _JsonUnit(NamedTuple):
    """An undivided value: its path, its start including its key, and its end."""

    parent: str
    label: str
    start: int
    end: int

    @property
    def path(self) -> str:
        return f"{self.parent}{self.label}".removeprefix(".")


@dataclass
class _JsonContainer:
    """An object or an array that is being parsed."""

    path: str
    label: str
    start: int
    array: bool
    units: list[_JsonUnit] = field(default_factory=list)
    number: int = 0
    key: str | None = None
    key_start: int = 0


def json_sections(text: str, name: str, most: int) -> tuple[Section, ...]:
    """Divide valid JSON into sections of about ``most`` characters; empty where that is impossible.

    A section is one value or adjacent ones. It begins on a line of its own; its title is the path.
    """
    lines = Lines(text)
    groups = [*_groups(text, _units(text, most), lines, most)]
    if len(groups) < len("ab"):
        return ()
    starts = [1, *(lines.at(group[0].start) for group in groups[1:])]
    titles = [without_surrogates(_title(group)) for group in groups]
    return tuple(
        section._replace(searched=_searched(text, section))
        for section in sections_at(text, lines, starts, titles, without_surrogates(name))
    )


def _units(text: str, most: int) -> Sequence[_JsonUnit]:
    """Return the values that are short enough, and scalars, in order."""
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
    """Return the next value's name in its container, and its start including its key."""
    if top.array:
        top.number += 1
        return f"[{top.number - 1}]", start
    key, top.key = top.key or "", None
    return f".{key[:_LONGEST_KEY]}", top.key_start


def _close(closed: _JsonContainer, outer: _JsonContainer, end: int, most: int) -> None:
    """Add a finished container as one unit if it is short, else its units."""
    if end - closed.start <= most or not closed.units:
        parent = closed.path.removesuffix(closed.label) if closed.label else closed.path
        outer.units.append(_JsonUnit(parent, closed.label, closed.start, end))
        return
    first = closed.units[0]
    outer.units.append(first._replace(start=closed.start))  # includes the container's start
    outer.units.extend(closed.units[1:])


def _groups(
    text: str, units: Sequence[_JsonUnit], lines: Lines, most: int
) -> Iterator[Sequence[_JsonUnit]]:
    """Group adjacent short units of a container; each group begins on a line of its own."""
    group: list[_JsonUnit] = []
    for unit, line in zip(units, _begun_lines(text, units, lines), strict=True):
        if group and line > group[0].start:
            apart = unit.parent != group[-1].parent or unit.end - group[0].start > most
            if apart:
                yield group
                group = []
        group.append(unit)
    if group:
        yield group


def _begun_lines(text: str, units: Sequence[_JsonUnit], lines: Lines) -> Iterator[int]:
    """Yield the start of each unit's line; -1 if more than brackets is before the unit there."""
    line = place = -1
    begins = False
    for unit in units:
        if (start := lines.start(lines.at(unit.start))) != line:
            line = place = start
            begins = True
        begins = begins and not text[place : unit.start].strip(" \t{}[],")
        place = unit.start
        yield line if begins else -1


def _title(group: Sequence[_JsonUnit]) -> str:
    first, last = group[0], group[-1]
    if len(group) == 1:
        return _shortened(first.path) or "$"
    ending = last.label.removeprefix(".") if last.parent == first.parent else last.path
    return f"{_shortened(first.path)} … {_shortened(ending)}"


def _shortened(path: str) -> str:
    return path if len(path) <= _LONGEST_PATH else f"…{path[1 - _LONGEST_PATH :]}"


def _searched(text: str, section: Section) -> str:
    """Return the keys and values of a section in order, one a line."""
    marks = _MARK.findall(text, section.start, section.end)
    return without_surrogates(
        "\n".join(
            json.loads(mark) if mark[0] == '"' else mark for mark in marks if mark not in "{}[]:,"
        )
    )
