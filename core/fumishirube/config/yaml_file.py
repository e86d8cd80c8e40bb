"""YAML files as they were written: what they say, and in which line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fumishirube.errors import ConfigError

if TYPE_CHECKING:
    import yaml

MOST_BYTES = 1024 * 1024
"""The size of the largest file that is read."""
MOST_VALUES = 10_000
"""How many values a file may have when every alias is written out."""


class YamlDocument(NamedTuple):
    """What a file says, and the line of each of its keys and entries by coordinate."""

    file: str
    values: Mapping[str, Any] = {}
    lines: Mapping[str, int] = {}


def read_yaml(file: Path) -> YamlDocument:
    """Read a file; an empty one has no keys.

    Raises:
        ConfigError: when it cannot be read, is no YAML that has keys, or is too large when its
            aliases are written out.
    """
    import yaml  # noqa: PLC0415 - 12 ms that a workspace without a file does not need

    try:
        loader = yaml.SafeLoader(_text(file))
        node = loader.get_single_node()
        if node is not None:
            _check_size(node, file.name)
        values = None if node is None else loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        line = f" line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ConfigError(
            f"{file.name}{line}: {error.problem or 'it is not valid YAML'}"
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{file.name}: it is not valid YAML in UTF-8") from error
    except OSError as error:
        raise ConfigError(f"{file.name}: it cannot be read; check its permissions") from error
    if node is None or values is None:
        return YamlDocument(file.name)
    if not isinstance(values, dict):
        raise ConfigError(f"{file.name}: expected keys such as 'pipelines', got {_kind(values)}")
    return YamlDocument(file.name, values, dict(_lines(node, "")))


def _text(file: Path) -> str:
    with file.open("rb") as stream:
        data = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ConfigError(f"{file.name}: it has over {MOST_BYTES} bytes, the most that is read")
    return data.decode("utf-8-sig")


def _check_size(node: yaml.Node, file: str) -> None:
    """See that a document stays small when it is built: each alias repeats all that it names."""
    sizes: dict[int, int] = {}
    outer: set[int] = set()

    def size(node: yaml.Node) -> int:
        known = sizes.get(id(node))
        if known is not None:
            return known
        line = f"{file} line {node.start_mark.line + 1}"
        if id(node) in outer:
            raise ConfigError(f"{line}: an alias names what it stands in; write the value out")
        outer.add(id(node))
        total = 1 + sum(map(size, _members(node)))
        outer.discard(id(node))
        if total > MOST_VALUES:
            raise ConfigError(f"{line}: this makes over {MOST_VALUES} values; use fewer aliases")
        sizes[id(node)] = total
        return total

    size(node)


def _members(node: yaml.Node) -> Iterator[yaml.Node]:
    for item in () if isinstance(node.value, str) else node.value:
        yield from item if isinstance(item, tuple) else (item,)


def _lines(node: yaml.Node, where: str) -> Iterator[tuple[str, int]]:
    """Yield the coordinates below a node."""
    if isinstance(node.value, str):
        return
    for place, item in enumerate(node.value):
        key, value = item if isinstance(item, tuple) else (item, item)
        if isinstance(item, tuple):
            here = f"{where}.{key.value}" if where else str(key.value)
        else:
            here = f"{where}[{place}]"
        yield here, key.start_mark.line + 1
        yield from _lines(value, here)


def leaves(value: Any, where: str) -> Iterator[tuple[str, Any]]:
    """Yield every single value inside plain data, by coordinate; what is empty is one too."""
    if isinstance(value, Mapping) and value:
        for key, member in value.items():
            yield from leaves(member, f"{where}.{key}" if where else str(key))
    elif isinstance(value, (list, tuple)) and value:
        for place, member in enumerate(value):
            yield from leaves(member, f"{where}[{place}]")
    else:
        yield where, value


def _kind(value: object) -> str:
    return "a list" if isinstance(value, list) else "a single value"
