"""YAML files: their values, and the line of each."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fumishirube.disk.own_files import read_own
from fumishirube.errors import ConfigError

if TYPE_CHECKING:
    import yaml

MOST_BYTES = 1024 * 1024
"""The largest file that is read, in bytes."""
MOST_VALUES = 10_000
"""The most values of a file with every alias expanded."""
DEEPEST = 64
"""The deepest nesting of lists and mappings."""
_SHOWN = 160
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_DIGITS = 100
"""The most characters of a number: one to the base 60 takes time by the square of its length."""


class YamlDocument(NamedTuple):
    """The values of a file, and the line of each key and entry by coordinate."""

    file: str
    values: Mapping[str, Any] = {}
    lines: Mapping[str, int] = {}


def read_yaml(
    file: Path, expected: str = "keys such as 'pipelines'", *, texts: bool = False
) -> YamlDocument:
    """Read a file; an empty one has no keys. ``expected`` describes its keys in an error.

    With ``texts``, single values are texts: ``NO`` and ``2024`` too.

    Raises:
        ConfigError: when it cannot be read, is not YAML with keys, or is too large with its
            aliases expanded.
    """
    import yaml  # noqa: PLC0415 - 12 ms that a workspace without a file does not need

    try:
        loader = _bounded_loader(_text(file), file.name, texts=texts)
        node = loader.get_single_node()
        if node is not None:
            _check_size(node, file.name)
            _check_texts(node, file.name)
        values = None if node is None else loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        line = f" line {error.problem_mark.line + 1}" if error.problem_mark else ""
        problem = (error.problem or "it is not valid YAML")[:_SHOWN]
        raise ConfigError(f"{file.name}{line}: {problem}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file.name}: it is not valid YAML in UTF-8") from error
    except ValueError as error:  # a number or a date that Python cannot represent
        raise ConfigError(f"{file.name}: a value is impossible: {str(error)[:_SHOWN]}") from error
    except (LookupError, AttributeError) as error:  # of PyYAML, for a tag such as !!bool
        raise ConfigError(f"{file.name}: a value is not of the type that its tag names") from error
    except OSError as error:
        raise ConfigError(f"{file.name}: it cannot be read; check its permissions") from error
    if node is None or values is None:
        return YamlDocument(file.name)
    if not isinstance(values, dict):
        kind = "a list" if isinstance(values, list) else "a single value"
        raise ConfigError(f"{file.name}: expected {expected}, got {kind}")
    return YamlDocument(file.name, values, dict(_lines(node, "")))


def _text(file: Path) -> str:
    try:
        data = read_own(file, MOST_BYTES, linked=True)
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise
        message = f"{file.name}: it has over {MOST_BYTES} bytes, the most that is read"
        raise ConfigError(message) from error
    return data.decode("utf-8-sig")


def _bounded_loader(text: str, file: str, *, texts: bool) -> yaml.SafeLoader:
    """Return a loader that stops at documents that are too large or nested too deeply."""
    import yaml  # noqa: PLC0415 - imported already by who reads the file

    class BoundedLoader(yaml.SafeLoader):
        depth = nodes = 0
        yaml_implicit_resolvers = {} if texts else yaml.SafeLoader.yaml_implicit_resolvers

        def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
            event: Any = self.peek_event()  # type: ignore[no-untyped-call]  # of PyYAML
            line = _line(event, file)
            self.depth, self.nodes = self.depth + 1, self.nodes + 1
            if self.depth > DEEPEST:
                raise ConfigError(f"{line}: it is nested over {DEEPEST} deep")
            if self.nodes > MOST_VALUES:
                raise ConfigError(f"{line}: this makes over {MOST_VALUES} values; use fewer")
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

    return BoundedLoader(text)


def _check_texts(node: yaml.Node, file: str) -> None:
    """See that no text holds a NUL, no number is long, and no mapping has a key twice.

    Of two values of a key, one would be dropped.
    """
    known: set[str] = set()
    if isinstance(node.value, str):
        if "\0" in node.value:
            raise ConfigError(f"{_line(node, file)}: a text holds a NUL")
        if node.tag in _NUMBERS and len(node.value) > _DIGITS:
            raise ConfigError(f"{_line(node, file)}: a number has over {_DIGITS} characters")
        return
    for item in node.value:
        for member in item if isinstance(item, tuple) else (item,):
            _check_texts(member, file)
        if isinstance(item, tuple) and isinstance(name := item[0].value, str):
            line = _line(item[0], file)
            if not name.strip("~ "):
                raise ConfigError(f"{line}: a key is empty")
            if name in known:
                raise ConfigError(f"{line}: the key {name[:40]!r} occurs twice")
            known.add(name)


def _check_size(node: yaml.Node, file: str) -> None:
    """Check the size of a document with every alias expanded."""
    sizes: dict[int, int] = {}
    outer: set[int] = set()

    def size(node: yaml.Node) -> int:
        known = sizes.get(id(node))
        if known is not None:
            return known
        line = _line(node, file)
        if id(node) in outer:
            raise ConfigError(
                f"{line}: an alias names a value that contains it; write the value out"
            )
        outer.add(id(node))
        total = 1 + sum(map(size, _members(node)))
        outer.discard(id(node))
        if total > MOST_VALUES:
            raise ConfigError(f"{line}: this makes over {MOST_VALUES} values; use fewer aliases")
        sizes[id(node)] = total
        return total

    size(node)


def _line(place: Any, file: str) -> str:
    """Return the file and line of a node or an event."""
    return f"{file} line {place.start_mark.line + 1}"


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
    """Yield every single value of plain data, by coordinate; empty containers count."""
    if isinstance(value, Mapping) and value:
        for key, member in value.items():
            yield from leaves(member, f"{where}.{key}" if where else str(key))
    elif isinstance(value, (list, tuple)) and value:
        for place, member in enumerate(value):
            yield from leaves(member, f"{where}[{place}]")
    else:
        yield where, value
