"""The classic ``config.yaml`` of the manual tools, and its sections inside ``fumishirube.yaml``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from fumishirube.config.environment import expectation
from fumishirube.config.yaml_file import YamlDocument
from fumishirube.errors import ConfigError
from fumishirube.stages import ClassicKey

FILE = "config.yaml"

MOVED = {
    "manuals_root": "roots.manuals",
    "paths.manuals_dir": "roots.manuals",
    "paths.runtime_dir": "roots.runtime",
}
"""Keys that are called otherwise in ``fumishirube.yaml``."""

SHARED = (
    "server.host",
    "server.port",
    "server.base_path",
    "security.allow_remote",
    "security.allowed_hosts",
)
"""Keys that are called the same."""

TAKEN = (
    "paths.indices_dir",
    "search.engine",
    "search.max_results",
    "cache.section_ttl_seconds",
    "cache.max_sections_in_memory",
    "cache.file",
    "security.allowed_roots",
    "security.allow_symlink",
    "toc.source",
    "toc.path_pattern",
)
"""Keys that decide a setting of a surface, which names the key beside it."""

KNOWN = (*MOVED, *SHARED, *TAKEN)

_SECTIONS = ("paths", "search", "toc")
_SHOWN = 80


class ClassicValue(NamedTuple):
    """A value, and the file that says it."""

    value: Any
    file: str


@dataclass(frozen=True)
class ClassicSections:
    """What the classic sections decide for surfaces, by key; and what is wrong, but not fatal."""

    taken: Mapping[str, ClassicValue] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def merge_classic(
    values: Mapping[str, Any], file: str, classic: Mapping[str, Any]
) -> tuple[dict[str, Any], ClassicSections]:
    """Return what ``fumishirube.yaml`` says without its classic sections, and those of both files.

    Raises:
        ConfigError: when two places say different things of one key, naming both.
    """
    warnings: list[str] = []
    rest, said = _lifted(values, file, warnings)
    for key, value in _flat(classic, warnings).items():
        known = said.setdefault(key, value)
        if not _same(key, known.value, value.value):
            raise _conflict(key, known, value)
    for key, place in [*MOVED.items(), *((key, key) for key in SHARED)]:
        if key in said:
            _put(rest, place, said.pop(key), file)
    return rest, ClassicSections(said, tuple(warnings))


def source_places(written: YamlDocument) -> dict[str, str]:
    """Return the file and the line of everything that is written, by the coordinate of today."""
    return {
        MOVED.get(coordinate, coordinate): f"{written.file} line {n}"
        for coordinate, n in written.lines.items()
    }


def settings(
    model: type[BaseModel], own: Mapping[str, Any], sections: ClassicSections, coordinate: str
) -> dict[str, Any]:
    """Return the settings of a stage with those that the classic sections decide.

    Raises:
        ConfigError: when a value is unusable, or stands elsewhere too and differs.
    """
    values = dict(own)
    for name, info in model.model_fields.items():
        for key in keys(info):
            classic_value = sections.taken.get(key)
            if classic_value is None:
                continue
            if name in own and own[name] != classic_value.value:
                raise _conflict(key, classic_value, ClassicValue(own[name], f"{coordinate}.{name}"))
            _check(key, classic_value, info)
            values[name] = classic_value.value
    return values


def keys(info: FieldInfo) -> list[str]:
    """Return the classic keys that decide a setting."""
    return [rule.name for rule in info.metadata if isinstance(rule, ClassicKey)]


def takes(model: type[BaseModel]) -> bool:
    """Tell whether a classic key decides anything of a stage."""
    return any(map(keys, model.model_fields.values()))


def flat_keys(values: Mapping[str, Any]) -> set[str]:
    """Return the keys of a file, those of a section behind its name."""
    sections = ((section, inner) for section, inner in values.items() if isinstance(inner, Mapping))
    return {
        *map(str, values),
        *(f"{section}.{name}" for section, inner in sections for name in inner),
    }


def import_classic(classic: Mapping[str, Any], model: type[BaseModel], use: str) -> dict[str, Any]:
    """Return the ``fumishirube.yaml`` that is equal to a ``config.yaml``, for a surface.

    Raises:
        ConfigError: when a value is unusable.
    """
    rest, sections = merge_classic({}, FILE, classic)
    taken = settings(model, {}, sections, use)
    surface = {"use": use, **({"with": taken} if taken else {})}
    return {"version": 1, **rest, "surfaces": [surface]}


def _lifted(
    values: Mapping[str, Any], file: str, warnings: list[str]
) -> tuple[dict[str, Any], dict[str, ClassicValue]]:
    """Take the classic keys out of what a file says, but for those it has of its own."""
    rest: dict[str, Any] = dict(values)
    said: dict[str, ClassicValue] = {}
    for key in (*MOVED, *TAKEN):
        section, _, name = key.rpartition(".")
        inner = rest.get(section) if section else rest
        if not isinstance(inner, Mapping) or name not in inner:
            continue
        if inner[name] is not None:
            said[key] = ClassicValue(inner[name], file)
        left = {inner_name: value for inner_name, value in inner.items() if inner_name != name}
        rest = {**rest, section: left} if section else left
    for section in _SECTIONS:
        inner = rest.pop(section, None)
        if inner is not None and not isinstance(inner, Mapping):
            raise ConfigError(f"{file}: {section}: expected keys, got {str(inner)[:_SHOWN]!r}")
        warnings += [_unknown(f"{section}.{name}", file) for name in inner or ()]
    return rest, said


def _flat(classic: Mapping[str, Any], warnings: list[str]) -> dict[str, ClassicValue]:
    said: dict[str, ClassicValue] = {}
    for section, inner in classic.items():
        pairs: Iterable[tuple[str, Any]] = [(str(section), inner)]
        if any(known.startswith(f"{section}.") for known in KNOWN):
            if inner is not None and not isinstance(inner, Mapping):
                raise ConfigError(f"{FILE}: {section}: expected keys, got {str(inner)[:_SHOWN]!r}")
            pairs = [(f"{section}.{name}", value) for name, value in (inner or {}).items()]
        for key, value in pairs:
            if key not in KNOWN:
                warnings.append(_unknown(key, FILE))
            elif value is not None:
                said[key] = ClassicValue(value, FILE)
    return said


def _put(rest: dict[str, Any], place: str, value: ClassicValue, file: str) -> None:
    """Put a value where ``fumishirube.yaml`` has it."""
    section, _, name = place.rpartition(".")
    inner = rest.setdefault(section, {})
    if not isinstance(inner, Mapping):
        return  # it is refused where it is read
    if name in inner and not _same(place, inner[name], value.value):
        raise _conflict(place, ClassicValue(inner[name], file), value)
    rest[section] = {**inner, name: value.value}


def _same(key: str, value: object, other: object) -> bool:
    folder = MOVED.get(key, key).startswith("roots.")
    if folder and isinstance(value, str) and isinstance(other, str):
        return PurePosixPath(value) == PurePosixPath(other)
    return value == other


def _conflict(key: str, value: ClassicValue, other: ClassicValue) -> ConfigError:
    return ConfigError(
        f"{key}: {value.file} says {str(value.value)[:_SHOWN]!r}, {other.file} says "
        f"{str(other.value)[:_SHOWN]!r}; keep one of them"
    )


def _check(key: str, value: ClassicValue, info: FieldInfo) -> None:
    rules: Any = Annotated[info.annotation, *info.metadata]
    try:
        TypeAdapter(rules, config=ConfigDict(allow_inf_nan=False)).validate_python(value.value)
    except ValidationError as error:
        raise ConfigError(
            f"{value.file}: {key}: expected {expectation(info)}, got {str(value.value)[:_SHOWN]!r}"
        ) from error


def _unknown(key: str, file: str) -> str:
    near = get_close_matches(key, KNOWN, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "it is ignored"
    return f"{file}: {key}: there is no such setting; {hint}"
