"""Parses TOML documents, and keeps the comments behind a table that is removed or replaced."""

from __future__ import annotations

from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import InlineTable, Table, Whitespace


def parsed(text: str) -> tomlkit.TOMLDocument:
    """Return the document of a text.

    Raises:
        ValueError: when it cannot be parsed.
    """
    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        raise ValueError(str(error)) from error


def ending(table: Any) -> str:
    """Return the blank lines and comments after the last value of a table: they are of the next."""
    if not isinstance(table, Table):
        return ""
    rows = [*table.value.body]
    comments: list[str] = []
    while rows and rows[-1][0] is None:
        comments.insert(0, rows.pop()[1].as_string())
    return (ending(rows[-1][1]) if rows else "") + "".join(comments)


def append(table: Any, comments: str) -> None:
    """Append what :func:`ending` returned to a table, which is only written after that."""
    if isinstance(table, Table):
        table.value.body.append((None, Whitespace(comments)))


def remove_table(document: Any, key: str, name: str) -> None:
    """Remove the table ``name`` of the table ``key``, and that too if nothing else is in it.

    After that, the document is only for being written as text.
    """
    for place, (heading, outer) in enumerate(document.body):
        if heading is None or heading.key != key:
            continue
        if isinstance(outer, InlineTable):
            del outer[name]
            empty = not outer
        else:
            _cut(outer.value.body, name)
            empty = not outer.trivia.comment and not outer.as_string().strip()
        if empty:
            document.body[place] = (None, Whitespace(""))


def _cut(body: list[tuple[Any, Any]], name: str) -> None:
    for place, (heading, inner) in enumerate(body):
        if heading is not None and heading.key == name:
            body[place] = (None, Whitespace(ending(inner).lstrip("\r\n")))
