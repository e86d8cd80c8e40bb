"""The classic ``config.yaml`` of the manual tools, and its sections in ``fumishirube.yaml``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from fumishirube.config.environment import expectation
from fumishirube.config.yaml_file import YamlDocument
from fumishirube.errors import ConfigError, did_you_mean
from fumishirube.stages import ClassicKey

FILE = "config.yaml"

MOVED = {
    "manuals_root": "roots.manuals",
    "paths.manuals_dir": "roots.manuals",
    "paths.runtime_dir": "roots.runtime",
}
"""Classic keys with another name in ``fumishirube.yaml``."""

SHARED = (
    "server.host",
    "server.port",
    "server.base_path",
    "security.allow_remote",
    "security.allowed_hosts",
)
"""Classic keys with the same name there."""

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
"""Classic keys that decide a setting of a surface; the setting names its key."""

KNOWN = (*MOVED, *SHARED, *TAKEN)

_SECTIONS = ("paths", "search", "toc")
_SHOWN = 80


class ClassicValue(NamedTuple):
    """A value, and the file that sets it."""

    value: Any
    file: str


@dataclass(frozen=True)
class ClassicSections:
    """Values of the classic sections by key, and warnings about them."""

    taken: Mapping[str, ClassicValue] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def merge_classic(
    values: Mapping[str, Any], file: str, classic: YamlDocument
) -> tuple[dict[str, Any], ClassicSections]:
    """Return the values without classic sections, and the classic values of both files."""
    warnings: list[str] = []
    rest, classic_values = _split(values, file, warnings)
    for key, value in _flat(classic, warnings).items():
        known = classic_values.setdefault(key, value)
        if not _same(key, known.value, value.value):
            raise _conflict(key, known, value)
    first: dict[str, ClassicValue] = {}
    for key, place in [*MOVED.items(), *((key, key) for key in SHARED)]:
        if key in classic_values:
            value = classic_values.pop(key)
            named = ClassicValue(value.value, f"{key} in {value.file}")
            earlier = first.setdefault(place, named)
            if not _same(place, earlier.value, value.value):
                raise _conflict(place, earlier, named)
            _set(rest, place, value, file)
    return rest, ClassicSections(classic_values, tuple(warnings))


def source_places(written: YamlDocument) -> dict[str, str]:
    """Return the file and line of every value, by its coordinate in ``fumishirube.yaml``."""
    return {
        MOVED.get(coordinate, coordinate): f"{written.file} line {n}"
        for coordinate, n in written.lines.items()
    }


def with_classic_values(
    model: type[BaseModel],
    own: Mapping[str, Any],
    sections: ClassicSections,
    coordinate: str,
    written: Mapping[str, str],
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the settings of a stage, with those that the classic sections decide.

    Also return the file and line of the latter by coordinate; ``written`` has those of their keys.
    """
    values, places = dict(own), {}
    for name, info in model.model_fields.items():
        for key in filter(sections.taken.__contains__, keys(info)):
            classic_value = sections.taken[key]
            if name not in own:
                places[f"{coordinate}.{name}"] = written.get(key, classic_value.file)
            elif not _same(key, own[name], classic_value.value):
                raise _conflict(key, classic_value, ClassicValue(own[name], f"{coordinate}.{name}"))
            _check(key, classic_value, info)
            values[name] = classic_value.value
    return values, places


def keys(info: FieldInfo) -> list[str]:
    """Return the classic keys that decide a setting."""
    return [rule.name for rule in info.metadata if isinstance(rule, ClassicKey)]


def takes(model: type[BaseModel]) -> bool:
    """Tell whether a classic key decides a setting of a stage."""
    return any(map(keys, model.model_fields.values()))


def flat_keys(values: Mapping[str, Any]) -> set[str]:
    """Return the keys of a file; keys of a section follow its name and a dot."""
    sections = ((section, inner) for section, inner in values.items() if isinstance(inner, Mapping))
    return {
        *map(str, values),
        *(f"{section}.{name}" for section, inner in sections for name in inner),
    }


def import_classic(
    classic: YamlDocument, model: type[BaseModel], use: str
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the ``fumishirube.yaml`` for a ``config.yaml`` and a surface, and warnings."""
    rest, sections = merge_classic({}, classic.file, classic)
    taken, _ = with_classic_values(model, {}, sections, use, {})
    surface = {"use": use, **({"with": taken} if taken else {})}
    return {"version": 1, **rest, "surfaces": [surface]}, sections.warnings


def _split(
    values: Mapping[str, Any], file: str, warnings: list[str]
) -> tuple[dict[str, Any], dict[str, ClassicValue]]:
    """Split values into those of ``fumishirube.yaml`` and classic ones."""
    rest: dict[str, Any] = {k: dict(v) if isinstance(v, Mapping) else v for k, v in values.items()}
    classic_values: dict[str, ClassicValue] = {}
    for key in (*MOVED, *TAKEN):
        section, _, name = key.rpartition(".")
        inner = rest.get(section) if section else rest
        value = inner.pop(name, None) if isinstance(inner, dict) else None
        if value is not None:
            classic_values[key] = ClassicValue(value, file)
    for section in _SECTIONS:
        inner = rest.pop(section, None)
        _check_keys(file, section, inner)
        warnings += [_unknown(f"{section}.{name}", file) for name in inner or ()]
    return rest, classic_values


def _flat(classic: YamlDocument, warnings: list[str]) -> dict[str, ClassicValue]:
    classic_values: dict[str, ClassicValue] = {}
    for section, inner in classic.values.items():
        pairs: Iterable[tuple[str, Any]] = [(str(section), inner)]
        if any(known.startswith(f"{section}.") for known in KNOWN):
            _check_keys(classic.file, section, inner)
            pairs = [(f"{section}.{name}", value) for name, value in (inner or {}).items()]
        for key, value in pairs:
            if key not in KNOWN:
                warnings.append(_unknown(key, classic.file))
            elif value is not None:
                classic_values[key] = ClassicValue(value, classic.file)
    return classic_values


def _set(rest: dict[str, Any], place: str, value: ClassicValue, file: str) -> None:
    """Set a value at its coordinate in ``fumishirube.yaml``."""
    section, _, name = place.rpartition(".")
    inner = rest.setdefault(section, {})
    if not isinstance(inner, Mapping):
        return  # the validation of the section refuses it
    if name in inner and not _same(place, inner[name], value.value):
        raise _conflict(place, ClassicValue(inner[name], file), value)
    rest[section] = {**inner, name: value.value}


def _same(key: str, value: object, other: object) -> bool:
    folder = MOVED.get(key, key).startswith("roots.")
    if folder and isinstance(value, str) and isinstance(other, str):
        return PurePosixPath(value) == PurePosixPath(other)
    return value == other or _quotes(value, other) or _quotes(other, value)


def _quotes(text: object, value: object) -> bool:
    """Tell whether a text is read as that number or boolean, as ``"7"`` is as 7."""
    if not isinstance(text, str) or not isinstance(value, int | float):
        return False
    try:
        return bool(TypeAdapter(type(value)).validate_python(text) == value)
    except ValidationError:
        return False


def _conflict(key: str, value: ClassicValue, other: ClassicValue) -> ConfigError:
    return ConfigError(
        f"{key}: {value.file} says {str(value.value)[:_SHOWN]!r}, {other.file} says "
        f"{str(other.value)[:_SHOWN]!r}; keep one of them"
    )


def _check_keys(file: str, section: str, value: object) -> None:
    if value is not None and not isinstance(value, Mapping):
        raise ConfigError(f"{file}: {section}: expected keys, got {str(value)[:_SHOWN]!r}")


def _check(key: str, value: ClassicValue, info: FieldInfo) -> None:
    rules: Any = Annotated[info.annotation, *info.metadata]
    try:
        TypeAdapter(rules, config=ConfigDict(allow_inf_nan=False)).validate_python(value.value)
    except ValidationError as error:
        raise ConfigError(
            f"{value.file}: {key}: expected {expectation(info, in_file=True)}, "
            f"got {str(value.value)[:_SHOWN]!r}"
        ) from error


def _unknown(key: str, file: str) -> str:
    sections = [] if "." in key else [known.partition(".")[0] for known in KNOWN]
    hint = did_you_mean(key, [*KNOWN, *sections], "it is ignored")
    return f"{file}: {key}: there is no such setting; {hint}"
