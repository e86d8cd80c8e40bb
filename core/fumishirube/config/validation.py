"""Values of files and of the environment as models; errors name the coordinate or the variable."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, SecretStr, ValidationError

from fumishirube.config.environment import apply_environment
from fumishirube.errors import ConfigError, did_you_mean
from fumishirube.tools.argument_errors import refusal
from fumishirube.tools.schemas import arguments_shape

_CREDENTIALS = re.compile(r"//[^/\s]*@")

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
    if first["type"] == "extra_forbidden":
        where = coordinate
        for part in first["loc"]:
            where += f"[{part}]" if isinstance(part, int) else f".{part}" if where else str(part)
        known = _known_keys(model, first["loc"][:-1])
        hint = did_you_mean(str(first["loc"][-1]), known)
        return ConfigError(f"there is no such setting; {hint}", at=where)
    refused = refusal(errors, arguments_shape(model))
    name = str(refused.details.get("parameter", ""))
    where = ".".join(filter(None, (coordinate, name)))
    shown = "" if _is_secret(model, first["loc"]) else _got(first["input"])
    return ConfigError(
        f"{str(refused).removeprefix(name).strip()}{shown}", at=origins.get(where, where)
    )


def _got(value: object) -> str:
    """Return the unusable value, if it is short, without a password in an address."""
    if isinstance(value, str):
        value = _CREDENTIALS.sub("//…@", value)
    if isinstance(value, (bool, int, float, str)):
        return f", got {json.dumps(value, ensure_ascii=False)[:80]}"
    return ""


def _is_secret(model: type[BaseModel], path: tuple[int | str, ...]) -> bool:
    info = model.model_fields.get(str(path[0])) if path else None
    return info is not None and SecretStr in (info.annotation, *get_args(info.annotation))


def _known_keys(model: type[BaseModel], path: tuple[int | str, ...]) -> list[str]:
    for part in path:
        info = model.model_fields.get(str(part))
        model = next(_models(info.annotation), model) if info else model
    return [info.alias or name for name, info in model.model_fields.items()]


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models inside an annotation, such as ``tuple[Use, ...] | None``."""
    if _is_model(annotation):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
