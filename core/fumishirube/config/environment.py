"""Environment variables: the settings that they decide, and their values."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Literal, TypeGuard, Union, get_args, get_origin

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainValidator,
    SecretBytes,
    SecretStr,
    TypeAdapter,
    ValidationError,
    WrapValidator,
)
from pydantic.fields import FieldInfo

from fumishirube.errors import ConfigError
from fumishirube.stages import Env

_INTEGER = re.compile(r"[+-]?[0-9]+")
_APART = re.compile(r"[-+.eE0-9]*_[-+.eE0-9_]*")
TRUE_WORDS = frozenset({"true", "1", "yes", "on"})
_FALSE_WORDS = frozenset({"false", "0", "no", "off"})
_LISTS = (tuple, list, set, frozenset)
_READERS = (BeforeValidator, PlainValidator, WrapValidator)
"""What reads a text in its own way, such as ``64 MiB``."""
_SHOWN = 80


def variables(model: type[BaseModel], prefix: str = "") -> list[tuple[str, str, FieldInfo]]:
    """Return ``(variable, coordinate, field)`` of all settings that a variable can decide."""
    result = []
    for name, info in model.model_fields.items():
        key = f"{prefix}{info.alias or name}"
        if is_model(info.annotation):
            result += variables(info.annotation, f"{key}.")
        result += [(env.name, key, info) for env in _envs(info)]
    return result


def refuse_unknown_names(
    used: Iterable[type[BaseModel]],
    offered: Sequence[type[BaseModel]],
    environ: Mapping[str, str],
) -> None:
    """Refuse names in a variable that is shared, unless one that is offered knows them.

    Each model alone ignores the names of others.

    Raises:
        ConfigError: when nothing that is offered knows a name.
    """
    envs = [env for model in used for _, _, info in variables(model) for env in _envs(info)]
    for env in envs:
        text = environ.get(env.name, "").strip()
        if not (env.shared and text):
            continue
        decided = [
            info for model in offered for name, _, info in variables(model) if name == env.name
        ]
        known = dict.fromkeys(name for info in decided for name in choices(info))
        named = {name.removeprefix("+") for name in _listed(env, text)}
        if named != {"none"} and not named <= known.keys():
            raise ConfigError(f'expected {_any_of(known)}, got "{text[:_SHOWN]}"', at=env.name)


def is_model(annotation: Any) -> TypeGuard[type[BaseModel]]:
    """Tell whether a setting has settings of its own."""
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def is_secret(annotation: Any) -> bool:
    """Tell whether values of a setting, or values inside them, must not be shown."""
    return annotation in (SecretStr, SecretBytes) or any(map(is_secret, get_args(annotation)))


def expectation(info: FieldInfo, *, in_file: bool = False) -> str:
    """Describe the values of a variable, or of a setting ``in_file``, such as ``integer >= 1``."""
    if _is_list(info):
        names = choices(info)
        if in_file:
            return f"a list of {', '.join(names)}" if names else "a list"
        if any(env.paths for env in _envs(info)):
            return "paths separated as in PATH, or none"
        names += [name for env in _envs(info) for name in env.others]
        return _any_of(names) if names else "values between commas, or none"
    words = {bool: "true or false", int: "integer", float: "number", str: "text"}
    kinds = [words[kind] for kind in _kinds(info.annotation) if kind in words]
    text = " or ".join(kinds or map(str, _literals(info))) or "value"
    for rule in info.metadata:
        for sign, bound in ((">=", "ge"), (">", "gt"), ("<=", "le"), ("<", "lt")):
            if getattr(rule, bound, None) is not None:
                text += f" {sign} {getattr(rule, bound)}"
    return f"{text} such as {info.examples[0]}" if info.examples else text


def apply_environment(
    model: type[BaseModel],
    raw: Mapping[str, Any],
    coordinate: str,
    environ: Mapping[str, str],
    origins: dict[str, str],
) -> dict[str, Any]:
    """Return the values for a model, with those of the environment; record the origins."""
    values = dict(raw)
    for name, info in model.model_fields.items():
        key = info.alias or name
        here = f"{coordinate}.{key}" if coordinate else key
        if key in values:
            values[key] = _added(values[key], info, here)
            _refuse_other_numbers(values[key], info, here)
        if is_model(info.annotation):
            if values.get(key) is None:  # a key without a value stands for the default
                values.pop(key, None)
            below = values.get(key, {})
            if isinstance(below, Mapping):
                inner = apply_environment(info.annotation, below, here, environ, origins)
                if inner and key not in values:
                    below = _default_values(info)
                    inner = apply_environment(info.annotation, below, here, environ, origins)
                if inner or key in values:
                    values[key] = inner
        for env in _envs(info):
            if environ.get(env.name, "").strip():
                values[key] = _parsed(env, environ[env.name].strip(), info)
                origins[here] = env.name
    return values


def _default_values(info: FieldInfo) -> dict[str, Any]:
    """Return the values of a setting's default, which is a model; none if it has no default."""
    default = info.get_default(call_default_factory=True, validated_data={})
    return default.model_dump(by_alias=True) if isinstance(default, BaseModel) else {}


def _any_of(names: Iterable[str]) -> str:
    return f"none, or any of {', '.join(names)}"


def _listed(env: Env, text: str) -> list[str]:
    """Return the values of a variable that is a list."""
    parts = text.split(os.pathsep if env.paths else ",")
    return [name.strip() for name in parts if name.strip()]


def _parsed(env: Env, text: str, info: FieldInfo) -> Any:
    value: Any = next((choice for choice in _literals(info) if str(choice) == text), text)
    if bool in _kinds(info.annotation):
        value = text.lower() in TRUE_WORDS if text.lower() in TRUE_WORDS | _FALSE_WORDS else text
    if _is_list(info):
        names = _added(_listed(env, text), info, env.name)
        if env.shared:
            value = [name for name in names if name in choices(info)]
        else:
            value = [] if names == ["none"] else [name for name in names if name not in env.others]
    rules: Any = Annotated[info.annotation, *info.metadata]
    adapter: TypeAdapter[Any] = TypeAdapter(rules, config=ConfigDict(allow_inf_nan=False))
    shown = "" if is_secret(info.annotation) else f', got "{text[:_SHOWN]}"'
    problem = f"expected {expectation(info)}{shown}"
    try:
        parsed = adapter.validate_python(value, strict=bool in _kinds(info.annotation))
    except ValidationError as error:
        raise ConfigError(problem, at=env.name) from error
    if type(parsed) is int and not _reads(info) and not _INTEGER.fullmatch(text):
        # pydantic takes 1.0 and 1_0 too
        raise ConfigError(problem, at=env.name)
    return parsed


def _refuse_other_numbers(value: Any, info: FieldInfo, where: str) -> None:
    """Refuse what pydantic takes for a number, and the schema does not: ``yes`` and ``1_0``."""
    kinds = {get_origin(kind) or kind for kind in _kinds(info.annotation)}
    if not kinds & {int, float} or bool in kinds or _reads(info) or value in _literals(info):
        return
    if isinstance(value, bool) or (isinstance(value, str) and _APART.fullmatch(value)):
        shown = json.dumps(value, ensure_ascii=False)[:_SHOWN]
        raise ConfigError(f"expected {expectation(info, in_file=True)}, got {shown}", at=where)


def _reads(info: FieldInfo) -> bool:
    """Tell whether a setting reads values in its own way."""
    return any(isinstance(rule, _READERS) for rule in info.metadata)


def _added(value: Any, info: FieldInfo, where: str) -> Any:
    """Return the default and the further names, if the names of a list begin with ``+``."""
    default = info.get_default()
    if not (isinstance(value, list) and isinstance(default, tuple) and value and choices(info)):
        return value
    added = [isinstance(name, str) and name.startswith("+") for name in value]
    if not any(added):
        return value
    if not all(added):
        raise ConfigError(
            "write + before every name, to add them to the default, or before none", at=where
        )
    return [*dict.fromkeys([*default, *(name.removeprefix("+") for name in value)])]


def choices(info: FieldInfo) -> list[str]:
    """Return the values that a list may contain, if they are enumerated."""
    kinds = (kind for kind in _kinds(info.annotation) if get_origin(kind) in _LISTS)
    members = (member for kind in kinds for member in get_args(kind))
    return [str(n) for member in members if get_origin(member) is Literal for n in get_args(member)]


def _kinds(annotation: Any) -> tuple[Any, ...]:
    """Return the members of a union, or the annotation alone."""
    united = get_origin(annotation) in (Union, UnionType)
    return get_args(annotation) if united else (annotation,)


def _is_list(info: FieldInfo) -> bool:
    """Tell whether a setting has several values, which commas divide in a variable."""
    return any((get_origin(kind) or kind) in _LISTS for kind in _kinds(info.annotation))


def _literals(info: FieldInfo) -> list[Any]:
    """Return the values that a setting may have, if they are enumerated."""
    literals = (kind for kind in _kinds(info.annotation) if get_origin(kind) is Literal)
    return [choice for kind in literals for choice in get_args(kind)]


def _envs(info: FieldInfo) -> list[Env]:
    return [rule for rule in info.metadata if isinstance(rule, Env)]
