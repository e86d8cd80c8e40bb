"""Parses front matter, the YAML block at the start of a document, as YAML 1.2."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from pydantic import JsonValue

from fumishirube import LoaderRemark
from fumishirube_stages.loaders.divisions import without_surrogates

if TYPE_CHECKING:
    import yaml

_OPENS = re.compile(r"---[ \t]*\n")
_CLOSES = re.compile(r"^---[ \t]*(?:\n|\Z)", re.MULTILINE)
_NESTING = "[{-?:"
"""Every nested collection begins with one of these."""
_NESTED = 1_000
_LONGEST_NESTED = 65_536
"""The most characters for the slow parser, about a second of work."""
_MOST_VALUES = 10_000
"""The most values; an alias repeats everything it refers to."""
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEAN = re.compile(r"true|True|TRUE|false|False|FALSE")
_NUMBER = re.compile(
    r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"
    r"|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)


class FrontMatter(NamedTuple):
    """The offset of the content, the values of the front matter, and remarks.

    Scalars that are not text are ``{"scalar": "as written"}``; the title is always text.
    """

    end: int = 0
    facts: Mapping[str, JsonValue] = {}
    remarks: tuple[LoaderRemark, ...] = ()


def front_matter(text: str) -> FrontMatter:
    """Parse the block between ``---`` on the first line and the next ``---``, if any."""
    opening = _OPENS.match(text)
    closing = opening and _CLOSES.search(text, opening.end())
    if not opening or not closing:
        return FrontMatter()
    try:
        return FrontMatter(closing.end(), _facts(text[opening.end() : closing.start()]))
    except ValueError as error:
        remark = LoaderRemark("front_matter_invalid", 1, f"the front matter is ignored: {error}")
        return FrontMatter(closing.end(), {}, (remark,))


def _facts(block: str) -> dict[str, JsonValue]:
    """Return the values of the block by key.

    Raises:
        ValueError: when it is not a YAML mapping, has a key twice, or is too large.
    """
    import yaml  # noqa: PLC0415 - 12 ms that documents without front matter do not need

    # PyYAML's C parser is ten times faster where available, but very deep nesting crashes the
    # process; the Python parser only raises an error.
    shallow = sum(map(block.count, _NESTING)) <= _NESTED
    if not shallow and len(block) > _LONGEST_NESTED:
        raise ValueError(f"it has over {_LONGEST_NESTED} characters")
    try:
        node = yaml.compose(
            block,
            Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader) if shallow else yaml.BaseLoader,
        )
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError("it is no valid YAML") from error
    if node is None:
        return {}
    if not isinstance(node, yaml.MappingNode):
        raise ValueError("it is no mapping of keys to values")  # noqa: TRY004 - of the text
    if sum(_width(value) for _, value in node.value) > _MOST_VALUES:
        raise ValueError(f"it makes over {_MOST_VALUES} values")
    facts: dict[str, JsonValue] = {}
    for key, value in node.value:
        name = str(key.value) if isinstance(key, yaml.ScalarNode) else ""
        if name in facts:
            raise ValueError(f"the key {name[:40]!r} occurs twice")
        facts[name] = _title(value) if name == "title" else _value(value, 0)
    return facts


def _width(node: yaml.Node) -> int:
    """Return the number of values in a node."""
    return 1 if isinstance(node.value, str) else 1 + len(node.value)


def _title(node: yaml.Node) -> str | None:
    """Return a scalar as written, ``yes`` and ``012`` included."""
    value = _value(node, 0)
    if isinstance(value, dict) and isinstance(value.get("scalar"), str):
        value = value["scalar"]
    return value if isinstance(value, str) else None


def _value(node: yaml.Node, depth: int) -> JsonValue:
    import yaml  # noqa: PLC0415 - imported already by whoever composed the node

    if isinstance(node, yaml.ScalarNode):
        text = without_surrogates(str(node.value))
        if node.style:  # quoted, or a block scalar
            return text
        if text in _NULL:
            return None
        typed = _BOOLEAN.fullmatch(text) or _NUMBER.fullmatch(text)
        return {"scalar": text} if typed else text
    # An anchor may be referenced within its own node.
    if isinstance(node, yaml.SequenceNode) and not depth:
        return [_value(member, depth + 1) for member in node.value]
    return {}
