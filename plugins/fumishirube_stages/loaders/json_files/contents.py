"""Parses a table of contents; repairs or drops defective entries one by one, with warnings."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from fumishirube import Chapter, Contents, InvalidPath, Unreadable
from fumishirube.disk import clean_path
from fumishirube_stages.divisions import without_surrogates

_SHOWN = 80
_DEEPEST = 100


class ParsedContents(NamedTuple):
    """What a table of contents lists, and the name that it gives the manual, if any."""

    contents: Contents
    manual: str | None


def parsed(text: str, name: str) -> ParsedContents:
    """Parse a table of contents; ``name`` is its file name.

    Raises:
        Unreadable: when it is not JSON, or has no list of chapters.
    """
    content = _json(text)
    entries = content.get("toc") if isinstance(content, dict) else None
    if not isinstance(entries, list):
        raise Unreadable("no array 'toc'", reason="unreadable")
    warnings: list[str] = []
    manual = content.get("manual")
    if not isinstance(manual, str):
        manual = None
        warnings.append("'manual' is no string")
    chapters: list[Chapter] = []
    ids: set[str] = set()
    for number, entry in enumerate(entries):
        chapter = _chapter(entry, f"toc[{number}]", name, warnings)
        if chapter is None:
            continue
        if chapter.id in ids:
            warnings.append(f"toc[{number}] has the id {_cut(chapter.id)} once more")
        ids.add(chapter.id)
        chapters.append(chapter)
    return ParsedContents(Contents(tuple(chapters), tuple(warnings)), manual)


def _json(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=lambda _: None, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise Unreadable(f"invalid JSON at line {error.lineno}", reason="unreadable") from error
    except RecursionError as error:
        raise Unreadable("JSON nested too deeply", reason="unreadable") from error
    except ValueError as error:
        raise Unreadable("a number of too many digits", reason="unreadable") from error


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


def _chapter(entry: Any, where: str, toc: str, warnings: list[str]) -> Chapter | None:
    """Return one entry, repaired; ``None`` when it is not a chapter."""
    if not isinstance(entry, dict):
        warnings.append(f"{where} is no object and was dropped")
        return None
    number: Any = entry.get("id")
    file: Any = entry.get("file")
    if isinstance(number, int) and not isinstance(number, bool):
        warnings.append(f"{where}.id is a number, taken as text")
        number = str(number)
    for key, value in (("id", number), ("file", file)):
        if not isinstance(value, str):
            warnings.append(f"{where} has no {key} that is a string and was dropped")
            return None
    title = entry.get("title")
    if not isinstance(title, str):
        warnings.append(f"{where}.title is no string; the id stands for it")
        title = number
    children = entry.get("children")
    if children is not None and (not isinstance(children, list) or _too_deep(children)):
        warnings.append(
            f"{where}.children is no array, or nested over {_DEEPEST} levels; null stands for it"
        )
        children = None
    path = _inside(file, toc)
    if path is None:
        warnings.append(f"{where}.file {_cut(file)} is refused: it must name a file in the folder")
    elif not path.lower().endswith(".txt"):
        warnings.append(f"{where}.file {_cut(file)} does not end in .txt")
    written = [number, title, file, children]
    cleaned = _all_cleaned(written)
    if cleaned != written:
        warnings.append(f"{where} holds lone surrogates; U+FFFD stands for them")
    number, title, file, children = cleaned
    return Chapter(number, title, file, children, path)


def _inside(file: str, toc: str) -> str | None:
    """Return the path of a chapter's file; ``None`` when it is outside the folder."""
    if "\\" in file or file != file.strip():
        return None
    try:
        path = clean_path(file)
    except InvalidPath:
        return None
    return None if path == toc else path


def _too_deep(value: list[Any]) -> bool:
    level: list[Any] = [value]
    for _ in range(_DEEPEST):
        level = [inner for outer in level for inner in _members(outer)]
        if not level:
            return False
    return True


def _members(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _all_cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, dict):
        return {without_surrogates(key): _all_cleaned(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_all_cleaned(member) for member in value]
    return value


def _cut(text: str) -> str:
    return repr(without_surrogates(text[:_SHOWN]))
