"""YAML files as they were written: what they say, and in which line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fumishirube.errors import ConfigError

if TYPE_CHECKING:
    import yaml


class YamlDocument(NamedTuple):
    """What a file says, and the line of each of its keys and entries by coordinate."""

    file: str
    values: Mapping[str, Any] = {}
    lines: Mapping[str, int] = {}


def read_yaml(file: Path) -> YamlDocument:
    """Read a file; an empty one has no keys.

    Raises:
        ConfigError: when it cannot be read, or is no YAML that has keys.
    """
    import yaml  # noqa: PLC0415 - 12 ms that a workspace without a file does not need

    try:
        loader = yaml.SafeLoader(file.read_text(encoding="utf-8-sig"))
        node = loader.get_single_node()
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
    return YamlDocument(file.name, values, dict(_lines(node, "", ())))


def _lines(node: yaml.Node, where: str, outer: tuple[int, ...]) -> Iterator[tuple[str, int]]:
    """Yield the coordinates below a node; one that holds itself is gone through once."""
    if id(node) in outer or isinstance(node.value, str):
        return
    for place, item in enumerate(node.value):
        key, value = item if isinstance(item, tuple) else (item, item)
        if isinstance(item, tuple):
            here = f"{where}.{key.value}" if where else str(key.value)
        else:
            here = f"{where}[{place}]"
        yield here, key.start_mark.line + 1
        yield from _lines(value, here, (*outer, id(node)))


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
