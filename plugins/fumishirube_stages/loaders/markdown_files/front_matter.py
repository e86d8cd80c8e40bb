"""Parses front matter, the block at the start of a document: YAML 1.2, or in manuals TOML."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from pydantic import JsonValue

from fumishirube import LoaderRemark
from fumishirube_stages.divisions import without_surrogates

if TYPE_CHECKING:
    import yaml

_OPENS = re.compile(r"---[ \t]*\n")
_TOML = re.compile(r"\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*(?:\n|\Z)", re.MULTILINE | re.DOTALL)
_LONG_KEY = re.compile(r"""(?:\.[ \t]*(?:[\w-]+|'[^'\n]*'|"(?:[^"\\\n]|\\.)*")[ \t]*){100}""")
"""Many parts of a key of TOML; the time to parse it grows by their square."""
_CLOSES = re.compile(r"^---[ \t]*(?:\n|\Z)", re.MULTILINE)
_YAML_ENDS = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_NESTING = "[{-?:"
"""Every nested collection begins with one of these."""
_NESTED = 1_000
_LONGEST = 1_048_576
"""The most characters, about a second of work."""
_LONGEST_NESTED = 65_536
"""The most characters for the slow parser, about a second of work."""
_MOST_VALUES = 10_000
"""The most values; an alias repeats everything it refers to."""
_ONE_LINE = re.compile(r"^([\w-]+):[ \t]+([^\s>|&*!\[{].*)$", re.MULTILINE)
"""A key with a value on its line that is no block, list, mapping, alias or tag."""
_KEY = re.compile(r"""[ \t]*(?:[\w.:-]+|"[^"\n]*"|'[^'\n]*'):(?:\s|$)""")
_SETTING = re.compile(rf"{_KEY.pattern}|[ \t#-]")
_TITLE = "title"
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
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


class _WrittenBlock(NamedTuple):
    """The YAML of the front matter, and the offset of the content."""

    yaml: str
    end: int

    @property
    def is_settings(self) -> bool:
        """Whether each line, if any, looks like YAML, one with a key; perhaps with a mistake."""
        lines = [line for line in self.yaml.splitlines() if line.strip()]
        return not lines or (any(map(_KEY.match, lines)) and all(map(_SETTING.match, lines)))


def _written_block(text: str, closes: re.Pattern[str] = _CLOSES) -> _WrittenBlock | None:
    """Return what is between ``---`` on the first line and the next line that closes it, if any."""
    opening = _OPENS.match(text)
    closing = opening and closes.search(text, opening.end())
    if not opening or not closing:
        return None
    return _WrittenBlock(text[opening.end() : closing.start()], closing.end())


def front_matter(text: str) -> FrontMatter:
    """Parse the front matter of a text, if it has any."""
    block = _written_block(text)
    if block is None:
        return FrontMatter()
    try:
        return FrontMatter(block.end, _facts(block.yaml))
    except ValueError as error:
        remark = LoaderRemark("front_matter_invalid", 1, f"the front matter is ignored: {error}")
        return FrontMatter(block.end, {}, (remark,))


def reader_texts(text: str, keys: Collection[str]) -> FrontMatter:
    """Return where the content begins in a manual, and the texts of some keys, in any case.

    There, front matter that is no mapping is text, such as a slide between two rules. With a
    mistake, such as an unquoted colon, it is not text either, and the values that are written on
    the lines of their keys are read. Lines of settings may also end with ``...``, as YAML does.
    """
    if toml := _TOML.match(text):
        return _of_toml(toml, keys)
    block = _written_block(text, _YAML_ENDS)
    if block is None or not block.is_settings:
        block = _written_block(text)
    if block is None:
        return FrontMatter()
    import yaml  # noqa: PLC0415 - as below

    try:
        node = _composed(block.yaml)
    except ValueError:
        return (
            FrontMatter(block.end, _described(_one_line_values(block, keys)))
            if block.is_settings
            else FrontMatter()
        )
    if not isinstance(node, yaml.MappingNode):
        return FrontMatter(0 if block.yaml.strip() else block.end)
    if not all(isinstance(key, yaml.ScalarNode) for key, _ in node.value):
        return FrontMatter(block.end if block.is_settings else 0)
    aliased: set[int] = set()
    texts = {
        key.value: "\n".join(_texts(value, aliased))
        for key, value in node.value
        if key.value.lower() in keys
        and (key.value.lower() != _TITLE or isinstance(value, yaml.ScalarNode))
    }
    return FrontMatter(block.end, _described(texts))


def _described(texts: Mapping[str, str]) -> Mapping[str, str]:
    """Return the texts that are not empty, by key; the title, in any case, is on one line."""
    described = {key: text for key, text in texts.items() if text.strip()}
    for key in [key for key in described if key.lower() == _TITLE]:
        title = " ".join(_CONTROLS.sub(" ", described.pop(key)).split())
        described |= {_TITLE: title} if title else {}
    return described


def _of_toml(written: re.Match[str], keys: Collection[str]) -> FrontMatter:
    """Return the texts of keys between ``+++``; what is no TOML is text."""
    import tomllib  # noqa: PLC0415 - few documents need it

    slow = len(written[1]) > _LONGEST_NESTED or _LONG_KEY.search(written[1])
    try:
        values = {} if slow else tomllib.loads(written[1])
    except (ValueError, RecursionError):
        return FrontMatter()
    texts = {
        key: "\n".join(text.strip() for text in texts if isinstance(text, str))
        for key, value in values.items()
        for texts in [value if isinstance(value, list) else [value]]
        if key.lower() in keys and (key.lower() != _TITLE or isinstance(value, str))
    }
    return FrontMatter(written.end(), _described(texts))


def _one_line_values(block: _WrittenBlock, keys: Collection[str]) -> Mapping[str, str]:
    """Return the values of keys that are on their lines in a block with a mistake."""
    if len(block.yaml) > _LONGEST:
        return {}
    values: dict[str, str] = {}
    for match in _ONE_LINE.finditer(block.yaml):
        value = match[2].strip()
        quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
        if match[1].lower() in keys and (written := value[1:-1] if quoted else value):
            values.setdefault(match[1], without_surrogates(written))
    return values


def _texts(node: yaml.Node, known: set[int]) -> Iterator[str]:
    """Yield a text as written, or those of a list; other values have none.

    One that an alias repeats is left out: a short file can repeat a text millions of times.
    """
    import yaml  # noqa: PLC0415 - imported already by whoever composed the node

    for member in node.value if isinstance(node, yaml.SequenceNode) else [node]:
        if not isinstance(member, yaml.ScalarNode) or id(member) in known:
            continue
        known.add(id(member))
        written = without_surrogates(str(member.value).strip())
        if written and (member.style or written not in _NULL):
            yield written


def _composed(written: str) -> yaml.Node | None:
    """Return the node that a block makes; ``None`` if it is empty.

    Raises:
        ValueError: when it is not YAML, or is too large.
    """
    import yaml  # noqa: PLC0415 - 12 ms that documents without front matter do not need

    # PyYAML's C parser is ten times faster where available, but very deep nesting crashes the
    # process; the Python parser only raises an error, and takes escaped surrogates.
    shallow = sum(map(written.count, _NESTING)) <= _NESTED
    longest = _LONGEST if shallow else _LONGEST_NESTED
    if len(written) > longest:
        raise ValueError(f"it has over {longest} characters")
    loaders = [getattr(yaml, "CBaseLoader", yaml.BaseLoader)] if shallow else []
    loaders += [yaml.BaseLoader] if len(written) <= _LONGEST_NESTED else []
    for loader in loaders:
        # PyYAML lets the errors of escapes such as "\UFFFFFFFF" through.
        with suppress(yaml.YAMLError, RecursionError, ValueError, OverflowError):
            return yaml.compose(written, Loader=loader)
    raise ValueError("it is no valid YAML")


def _facts(written: str) -> dict[str, JsonValue]:
    """Return the values of a block by key.

    Raises:
        ValueError: when it is not a YAML mapping, has a key twice, or is too large.
    """
    import yaml  # noqa: PLC0415 - as above

    node = _composed(written)
    if node is None:
        return {}
    if not isinstance(node, yaml.MappingNode):
        raise ValueError("it is no mapping of keys to values")  # noqa: TRY004 - of the text
    inner = sum(len(value.value) for _, value in node.value if not isinstance(value.value, str))
    if len(node.value) + inner > _MOST_VALUES:
        raise ValueError(f"it makes over {_MOST_VALUES} values")
    facts: dict[str, JsonValue] = {}
    for key, value in node.value:
        name = str(key.value) if isinstance(key, yaml.ScalarNode) else ""
        if name in facts:
            raise ValueError(f"the key {name[:40]!r} occurs twice")
        facts[name] = _title(value) if name == _TITLE else _value(value, 0)
    return facts


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
