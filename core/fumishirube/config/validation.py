"""Values of files and of the environment as models; errors name the coordinate or the variable."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from fumishirube.config.environment import apply_environment, is_model, is_secret
from fumishirube.errors import ConfigError, did_you_mean
from fumishirube.tools.argument_errors import refusal
from fumishirube.tools.schemas import arguments_shape

_CREDENTIALS = re.compile(r"//[^/\s]*@")

_KEY = "[key]"
"""Ends the path to a key that is unusable, instead of its value."""

ModelT = TypeVar("ModelT", bound=BaseModel)


def build_model(
    model: type[ModelT],
    raw: Mapping[str, Any],
    coordinate: str,
    environ: Mapping[str, str],
    origins: dict[str, str],
) -> ModelT:
    """Build a model from values of the file and the environment; record the origins.

    Raises:
        ConfigError: naming the coordinate or the variable.
    """
    values = apply_environment(model, raw, coordinate, environ, origins)
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise _refusal(model, error, coordinate, origins) from error


def _refusal(
    model: type[BaseModel], error: ValidationError, coordinate: str, origins: Mapping[str, str]
) -> ConfigError:
    errors = error.errors(include_url=False)
    first = errors[0]
    path, key = first["loc"], first["input"]
    if first["type"] == "extra_forbidden":
        known = _known_keys(model, path[:-1])
        hint = did_you_mean(str(path[-1]), known)
        return ConfigError(f"there is no such setting; {hint}", at=_within(coordinate, path))
    if not isinstance(key, str) and (first["type"] == "invalid_key" or path[-1:] == (_KEY,)):
        named = json.dumps(key, default=str)
        where = _within(coordinate, (*path[: -2 if path[-1] == _KEY else -1], named))
        return ConfigError(f"the key {named} is no text; put it in quotes", at=where)
    refused = refusal(errors, arguments_shape(model))
    name = str(refused.details.get("parameter", ""))
    where = ".".join(filter(None, (coordinate, name)))
    secret = any(is_secret(info.annotation) for info in _fields(model, first["loc"]))
    shown = "" if secret else _got(first["input"])
    return ConfigError(
        f"{str(refused).removeprefix(name).strip()}{shown}", at=origins.get(where, where)
    )


def _within(coordinate: str, path: tuple[int | str, ...]) -> str:
    for part in path:
        step = f".{part}" if coordinate else str(part)
        coordinate += f"[{part}]" if isinstance(part, int) else step
    return coordinate


def _got(value: object) -> str:
    """Return the unusable value, if it is short, without a password in an address."""
    if isinstance(value, str):
        value = _CREDENTIALS.sub("//…@", value)
    if isinstance(value, (bool, int, float, str)):
        return f", got {json.dumps(value, ensure_ascii=False)[:80]}"
    return ""


def _known_keys(model: type[BaseModel], path: tuple[int | str, ...]) -> list[str]:
    for info in _fields(model, path):
        model = next(_models(info.annotation), model)
    return [*_by_key(model)]


def _fields(model: type[BaseModel], path: tuple[int | str, ...]) -> Iterator[FieldInfo]:
    """Yield the fields on the way to a value."""
    for part in path:
        if info := _by_key(model).get(str(part)):
            yield info
            model = next(_models(info.annotation), model)


def _by_key(model: type[BaseModel]) -> dict[str, FieldInfo]:
    return {info.alias or name: info for name, info in model.model_fields.items()}


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models inside an annotation, such as ``tuple[Use, ...] | None``."""
    if is_model(annotation):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)
