"""Changes a member of an object in a JSON text, and leaves the rest of the text as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


class _Member(NamedTuple):
    """Where a member of an object is: where its name and its value begin, and its end."""

    begin: int
    value: int
    end: int


def with_value(text: str, path: Sequence[str], value: Any, indent: str) -> str:
    """Return a text with a value at a path of names, whose last ones may be new.

    The text is that of an object without duplicate names; so is all on the path that exists.
    ``indent`` is that of one level, for new lines.
    """
    start = _after_blanks(text, 0)
    for place, name in enumerate(path, start=1):
        members, end = _members(text, start)
        if name not in members:
            for missing in reversed(path[place:]):
                value = {missing: value}
            return _inserted(text, start, end, [*members.values()], name, value, indent)
        start = members[name].value
    written = _written(value, _line_indent(text, start), indent)
    return text[:start] + written + text[_DECODER.raw_decode(text, start)[1] :]


def without_value(text: str, path: Sequence[str]) -> str:
    """Return a text without the member at a path of names, all of which exist."""
    start = _after_blanks(text, 0)
    for name in path[:-1]:
        start = _members(text, start)[0][name].value
    members, end = _members(text, start)
    if len(members) == 1:
        return f"{text[: start + 1]}{text[end:]}"
    rows = [*members.values()]
    place = [*members].index(path[-1])
    if place:
        return text[: rows[place - 1].end] + text[rows[place].end :]
    return text[: rows[0].begin] + text[rows[1].begin :]


def _inserted(
    text: str,
    start: int,
    end: int,
    members: Sequence[_Member],
    name: str,
    value: Any,
    indent: str,
) -> str:
    """Return a text with one more member at the end of an object, in lines like the others."""
    key = json.dumps(name, ensure_ascii=False)
    if not members:
        outer = _line_indent(text, start)
        written = _written(value, outer + indent, indent)
        return f"{text[: start + 1]}\n{outer}{indent}{key}: {written}\n{outer}{text[end:]}"
    last = members[-1].end
    if "\n" in text[start : members[0].begin]:
        inner = _line_indent(text, members[0].begin)
        return f"{text[:last]},\n{inner}{key}: {_written(value, inner, indent)}{text[last:]}"
    return f"{text[:last]}, {key}: {json.dumps(value, ensure_ascii=False)}{text[last:]}"


def _members(text: str, start: int) -> tuple[dict[str, _Member], int]:
    """Return the members of the object that begins somewhere, and the place of its last brace."""
    members: dict[str, _Member] = {}
    place = _after_blanks(text, start + 1)
    while text[place] != "}":
        name, colon = _DECODER.raw_decode(text, place)
        value = _after_blanks(text, _after_blanks(text, colon) + 1)
        _, end = _DECODER.raw_decode(text, value)
        members[name] = _Member(place, value, end)
        place = _after_blanks(text, end)
        if text[place] == ",":
            place = _after_blanks(text, place + 1)
    return members, place


def _after_blanks(text: str, place: int) -> int:
    match = _BLANK.match(text, place)
    assert match is not None
    return match.end()


def _line_indent(text: str, place: int) -> str:
    """Return the blanks at the beginning of the line of a place."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _written(value: Any, outer: str, indent: str) -> str:
    """Return a value as JSON, whose lines after the first are indented further."""
    return json.dumps(value, ensure_ascii=False, indent=indent).replace("\n", f"\n{outer}")
