"""Reading a table of contents: what is defective in it is repaired singly, and told."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from fumishirube import Chapter, Contents, InvalidPath, Unreadable
from fumishirube.disk import clean_path
from fumishirube_stages.loaders.sections import mended

_SHOWN = 80
_DEEPEST = 100


def parsed(text: str, name: str) -> Contents:
    """Return what a table of contents says; ``name`` is the file it stands in.

    Raises:
        Unreadable: when it is no JSON, or lists no chapters.
    """
    content = _json(text)
    entries = content.get("toc") if isinstance(content, dict) else None
    if not isinstance(entries, list):
        raise Unreadable("no array 'toc'", reason="unreadable")
    warnings: list[str] = []
    if not isinstance(content.get("manual"), str):
        warnings.append("'manual' is no string")
    chapters: list[Chapter] = []
    known: set[str] = set()
    for number, entry in enumerate(entries):
        chapter = _chapter(entry, f"toc[{number}]", name, warnings)
        if chapter is None:
            continue
        if chapter.id in known:
            warnings.append(f"toc[{number}] has the id {_cut(chapter.id)} once more")
        known.add(chapter.id)
        chapters.append(chapter)
    return Contents(tuple(chapters), tuple(warnings))


def named(text: str) -> str | None:
    """Return the name that a usable table of contents gives its manual."""
    manual = _json(text).get("manual")
    return manual if isinstance(manual, str) else None


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
    """Return one entry, repaired; nothing when it is no chapter."""
    if not isinstance(entry, dict):
        warnings.append(f"{where} is no object and was dropped")
        return None
    number, file = entry.get("id"), entry.get("file")
    if isinstance(number, int) and not isinstance(number, bool):
        warnings.append(f"{where}.id is a number, taken as text")
        number = str(number)
    for key, value in (("id", number), ("file", file)):
        if not isinstance(value, str):
            warnings.append(f"{where} has no {key} that is a string and was dropped")
            return None
    assert isinstance(number, str)
    assert isinstance(file, str)
    title = entry.get("title")
    if not isinstance(title, str):
        warnings.append(f"{where}.title is no string; the id stands for it")
        title = number
    children = entry.get("children")
    if children is not None and (not isinstance(children, list) or _too_deep(children)):
        warnings.append(f"{where}.children is no usable array; null stands for it")
        children = None
    path = _inside(file, toc)
    if path is None:
        warnings.append(f"{where}.file {_cut(file)} is refused: it must name a file in the folder")
    elif not path.lower().endswith(".txt"):
        warnings.append(f"{where}.file {_cut(file)} does not end in .txt")
    if _scarred((number, title, file, children)):
        warnings.append(f"{where} holds lone surrogates; U+FFFD stands for them")
    return Chapter(mended(number), mended(title), mended(file), _mended_all(children), path)


def _inside(file: str, toc: str) -> str | None:
    """Return the path that a chapter's file name stands for; ``None`` for what is refused."""
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


def _mended_all(value: Any) -> Any:
    if isinstance(value, str):
        return mended(value)
    if isinstance(value, dict):
        return {mended(key): _mended_all(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_mended_all(member) for member in value]
    return value


def _scarred(value: Any) -> bool:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str) and mended(item) != item:
            return True
        if isinstance(item, tuple):
            waiting.extend(item)
        waiting.extend([*item] if isinstance(item, dict) else ())
        waiting.extend(_members(item))
    return False


def _cut(text: str) -> str:
    return repr(mended(text[:_SHOWN]))
