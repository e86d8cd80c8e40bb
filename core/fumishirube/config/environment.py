"""Environment variables: the settings that they decide, and their values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from fumishirube.errors import ConfigError
from fumishirube.stages import Env

_INTEGER = re.compile(r"[+-]?[0-9]+")
_TRUE = frozenset({"true", "1", "yes", "on"})
_FALSE = frozenset({"false", "0", "no", "off"})


def variables(model: type[BaseModel], prefix: str = "") -> list[tuple[str, str, FieldInfo]]:
    """Return ``(variable, coordinate, field)`` of all settings that a variable can decide."""
    result = []
    for name, info in model.model_fields.items():
        inner = info.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            result += variables(inner, f"{prefix}{name}.")
        result += [(env.name, f"{prefix}{name}", info) for env in _envs(info)]
    return result


def expectation(info: FieldInfo) -> str:
    """Describe the values of a setting in a few words, such as ``integer >= 1``."""
    if get_origin(info.annotation) is tuple:
        names = choices(info)
        return f"none, or any of {', '.join(names)}" if names else "values between commas, or none"
    words = {bool: "true or false", int: "integer", float: "number", str: "text"}
    kinds = [words[kind] for kind in _kinds(info.annotation) if kind in words]
    parts = [choice for part in get_args(info.annotation) for choice in get_args(part) or (part,)]
    literals = [str(choice) for choice in parts if not isinstance(choice, type)]
    text = " or ".join(kinds or literals) or "value"
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
    """Return the values for a model, with those of the environment; record the origins.

    Raises:
        ConfigError: naming the variable whose value is unusable.
    """
    values = dict(raw)
    for name, info in model.model_fields.items():
        here = f"{coordinate}.{name}" if coordinate else name
        if name in values:
            values[name] = _added(values[name], info, here)
        inner = info.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            below = values.get(name) or {}
            if isinstance(below, Mapping):
                values[name] = apply_environment(inner, below, here, environ, origins)
        for env in _envs(info):
            if environ.get(env.name, "").strip():
                values[name] = _parsed(env, environ[env.name].strip(), info)
                origins[here] = env.name
    return values


def _parsed(env: Env, text: str, info: FieldInfo) -> Any:
    value: Any = text
    if bool in _kinds(info.annotation):
        value = text.lower() in _TRUE if text.lower() in _TRUE | _FALSE else text
    if get_origin(info.annotation) is tuple:
        names = _added([name.strip() for name in text.split(",") if name.strip()], info, env.name)
        if env.shared:
            value = [name for name in names if name in choices(info)]
        else:
            value = [] if names == ["none"] else [name for name in names if name not in env.others]
    rules: Any = Annotated[info.annotation, *info.metadata]
    adapter: TypeAdapter[Any] = TypeAdapter(rules, config=ConfigDict(allow_inf_nan=False))
    problem = f'expected {expectation(info)}, got "{text[:80]}"'
    try:
        parsed = adapter.validate_python(value, strict=bool in _kinds(info.annotation))
    except ValidationError as error:
        raise ConfigError(problem, at=env.name) from error
    if type(parsed) is int and not _INTEGER.fullmatch(text):  # pydantic takes 1.0 and 1_0 too
        raise ConfigError(problem, at=env.name)
    return parsed


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
    return [str(name) for inner in get_args(info.annotation) for name in get_args(inner)]


def _kinds(annotation: Any) -> tuple[Any, ...]:
    return (annotation,) if isinstance(annotation, type) else get_args(annotation)


def _envs(info: FieldInfo) -> list[Env]:
    return [rule for rule in info.metadata if isinstance(rule, Env)]
