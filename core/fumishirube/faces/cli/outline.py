"""Plain data as YAML: one value a line, with comments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from pydantic import JsonValue

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_OTHERS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Words that YAML does not read as text."""


def outline(value: JsonValue, comments: Mapping[str, str], where: str = "") -> Iterator[str]:
    """Yield the lines of a value; ``comments`` have keys such as ``roots.manuals``."""
    if isinstance(value, dict):
        for key, member in value.items():
            here = f"{where}.{key}" if where else key
            yield from _entry(f"{_scalar(key)}:", member, comments, here, "  ")
    elif isinstance(value, list):
        for place, member in enumerate(value):
            here = f"{where}[{place}]"
            first, *rest = _block(member, comments, here)
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)


def _entry(
    head: str, value: JsonValue, comments: Mapping[str, str], where: str, indent: str
) -> Iterator[str]:
    if isinstance(value, (dict, list)) and value:
        yield head + _comment(comments, where)
        yield from (f"{indent}{line}" for line in outline(value, comments, where))
    else:
        yield f"{head} {_leaf(value, comments, where)}"


def _block(value: JsonValue, comments: Mapping[str, str], where: str) -> list[str]:
    if isinstance(value, (dict, list)) and value:
        return list(outline(value, comments, where))
    return [_leaf(value, comments, where)]


def _leaf(value: JsonValue, comments: Mapping[str, str], where: str) -> str:
    return _scalar(value) + _comment(comments, where)


def _comment(comments: Mapping[str, str], where: str) -> str:
    return f"  # {comments[where]}" if where in comments else ""


def _scalar(value: JsonValue) -> str:
    """Return a scalar as JSON, which is valid YAML; a plain word needs no quotes."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _OTHERS:
        return value
    return json.dumps(value, ensure_ascii=False)
