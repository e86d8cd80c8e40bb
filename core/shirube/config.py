"""Configuration: defaults, then ``shirube.yaml``, then the environment, in typed form."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from shirube.errors import ConfigError
from shirube.registry import KINDS
from shirube.stages import Env

FILE = "shirube.yaml"

_TRUE = frozenset({"true", "1", "yes", "on"})
_FALSE = frozenset({"false", "0", "no", "off"})

ModelT = TypeVar("ModelT", bound=BaseModel)


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class Use(_Closed):
    """One stage of a pipeline, or one surface: a name on a shelf, and its settings."""

    use: str
    alias: Annotated[str | None, Field(alias="as")] = None
    settings: dict[str, Any] = Field(alias="with", default_factory=dict)

    @property
    def name(self) -> str:
        """The name under which this use is known: ``as``, or else ``use``."""
        return self.alias or self.use


class PipelineSpec(_Closed):
    """Which stages a pipeline runs. A kind that is not named keeps the surface's default."""

    loaders: tuple[Use, ...] | None = None
    tokenizer: Use | None = None
    embedder: Use | None = None
    index: Use | None = None
    scorers: tuple[Use, ...] | None = None
    fusers: tuple[Use, ...] | None = None
    refiners: tuple[Use, ...] | None = None


class Roots(_Closed):
    """The folders; relative ones are taken from the workspace."""

    manuals: Annotated[str, Env("MANUALS_ROOT")] = "manuals"
    vault: Annotated[str, Env("VAULT_ROOT")] = "vault"
    docs: Annotated[str, Env("SHIRUBE_DOCS_ROOT")] = "docs"
    state: Annotated[str, Env("SHIRUBE_STATE_ROOT")] = ".shirube"


class Traces(_Closed):
    """How many records of searches are kept, and for how many seconds."""

    keep: Annotated[int, Field(ge=1), Env("TRACE_MAX_KEEP")] = 100
    seconds: Annotated[int, Field(ge=1), Env("TRACE_TTL_SEC")] = 1800


class Config(_Closed):
    """The whole configuration; every field has a default, and no file is needed."""

    version: Literal[1] = 1
    strict: Annotated[bool, Env("SHIRUBE_STRICT")] = False
    roots: Roots = Roots()
    traces: Traces = Traces()
    pipelines: dict[str, PipelineSpec] = Field(default_factory=dict)
    surfaces: tuple[Use, ...] = (Use(use="manual"),)


@dataclass(frozen=True)
class Loaded:
    """A configuration, where it came from, and which values the environment decided."""

    config: Config
    workspace: Path
    file: Path | None
    environ: Mapping[str, str]
    origins: dict[str, str] = field(default_factory=dict)

    def folder(self, name: str) -> Path:
        """Return one of the roots as an absolute path, its links resolved once."""
        relative: str = getattr(self.config.roots, name)
        return (self.workspace / relative).resolve()


def load_config(
    workspace: Path, file: Path | None = None, environ: Mapping[str, str] | None = None
) -> Loaded:
    """Read the configuration of a workspace.

    Raises:
        ConfigError: with the coordinate in the file, or the variable's name, of what is unusable.
    """
    environ = os.environ if environ is None else environ
    workspace = workspace.resolve()
    found = file if file is not None else workspace / FILE
    if file is not None and not file.is_file():
        raise ConfigError(f"--config: there is no file {file.name!r}")
    given = _read_yaml(found) if found.is_file() else {}
    loaded = Loaded(Config(), workspace, found if found.is_file() else None, environ)
    config = build(Config, given, "", environ, loaded.origins)
    for name, folder in config.roots.model_dump().items():
        if (workspace / folder).is_file():
            raise ConfigError(f"roots.{name}: it names a file; a folder is needed")
    return Loaded(config, workspace, loaded.file, environ, loaded.origins)


def build(
    model: type[ModelT],
    given: Mapping[str, Any],
    coordinate: str,
    environ: Mapping[str, str],
    origins: dict[str, str],
) -> ModelT:
    """Make a model from what the file gives and the environment overrides; note who decided.

    Raises:
        ConfigError: naming the coordinate or the variable.
    """
    values = _overridden(model, given, coordinate, environ, origins)
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise ConfigError(_said(model, error, coordinate)) from error


def variables(model: type[BaseModel], prefix: str = "") -> list[tuple[str, str, FieldInfo]]:
    """Return ``(variable, coordinate, field)`` of every setting that the environment can decide."""
    found = []
    for name, info in model.model_fields.items():
        inner = info.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            found += variables(inner, f"{prefix}{name}.")
        found += [(env.name, f"{prefix}{name}", info) for env in _envs(info)]
    return found


def expectation(info: FieldInfo) -> str:
    """Say in a few words what values a setting takes, such as ``integer >= 1``."""
    if get_origin(info.annotation) is tuple:
        names = [str(name) for inner in get_args(info.annotation) for name in get_args(inner)]
        return f"none, or any of {', '.join(names)}" if names else "values between commas, or none"
    words = {bool: "true or false", int: "integer", float: "number", str: "text"}
    kinds = [words[kind] for kind in _kinds(info.annotation) if kind in words]
    literals = [str(a) for a in get_args(info.annotation) if not isinstance(a, type)]
    text = " or ".join(kinds or literals) or "value"
    for rule in info.metadata:
        for sign, bound in ((">=", "ge"), (">", "gt"), ("<=", "le"), ("<", "lt")):
            if getattr(rule, bound, None) is not None:
                text += f" {sign} {getattr(rule, bound)}"
    return text


def _kinds(annotation: Any) -> tuple[Any, ...]:
    return (annotation,) if isinstance(annotation, type) else get_args(annotation)


def _envs(info: FieldInfo) -> list[Env]:
    return [rule for rule in info.metadata if isinstance(rule, Env)]


def _overridden(
    model: type[BaseModel],
    given: Mapping[str, Any],
    coordinate: str,
    environ: Mapping[str, str],
    origins: dict[str, str],
) -> dict[str, Any]:
    values = dict(given)
    for name, info in model.model_fields.items():
        here = f"{coordinate}.{name}" if coordinate else name
        inner = info.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            below = values.get(name) or {}
            if isinstance(below, Mapping):
                values[name] = _overridden(inner, below, here, environ, origins)
        for env in _envs(info):
            if environ.get(env.name, "").strip():
                values[name] = _parsed(env.name, environ[env.name].strip(), info)
                origins[here] = env.name
    return values


def _parsed(variable: str, text: str, info: FieldInfo) -> Any:
    value: Any = text
    if bool in _kinds(info.annotation):
        value = text.lower() in _TRUE if text.lower() in _TRUE | _FALSE else text
    if get_origin(info.annotation) is tuple:
        names = [name.strip() for name in text.split(",") if name.strip()]
        value = [] if names == ["none"] else names
    rules: Any = Annotated[info.annotation, *info.metadata]
    adapter: TypeAdapter[Any] = TypeAdapter(rules)
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        raise ConfigError(
            f'configuration error: {variable}: expected {expectation(info)}, got "{text[:80]}"'
        ) from error


def _read_yaml(file: Path) -> dict[str, Any]:
    try:
        given = yaml.safe_load(file.read_text(encoding="utf-8-sig"))
    except yaml.MarkedYAMLError as error:
        line = f" line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ConfigError(
            f"{file.name}{line}: {error.problem or 'it is not valid YAML'}"
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file.name}: it is not valid YAML in UTF-8") from error
    except OSError as error:
        raise ConfigError(f"{file.name}: it cannot be read; check its permissions") from error
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise ConfigError(f"{file.name}: expected keys such as 'pipelines', got {_kind(given)}")
    return given


def _kind(value: object) -> str:
    return "a list" if isinstance(value, list) else "a single value"


def _said(model: type[BaseModel], error: ValidationError, coordinate: str) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=True)[0]
    where = coordinate
    for part in first["loc"]:
        where += f"[{part}]" if isinstance(part, int) else f".{part}" if where else str(part)
    if first["type"] == "extra_forbidden":
        known = _known_keys(model, first["loc"][:-1])
        near = get_close_matches(str(first["loc"][-1]), known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(known)}"
        return f"{where}: there is no such setting; {hint}"
    return f"{where}: {first['msg'][:1].lower()}{first['msg'][1:]}"


def _known_keys(model: type[BaseModel], path: tuple[int | str, ...]) -> list[str]:
    for part in path:
        info = model.model_fields.get(str(part))
        annotation = info.annotation if info else None
        models = [a for a in (annotation, *get_args(annotation)) if _is_model(a)]
        if models:
            model = models[-1]
    return [info.alias or name for name, info in model.model_fields.items()]


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


SINGLE_KINDS = {"tokenizers": "tokenizer", "embedders": "embedder", "indexes": "index"}
"""Shelves of which a pipeline uses one stage, and the key under which YAML names it."""

PIPELINE_KEYS = {
    kind.shelf: SINGLE_KINDS.get(kind.shelf, kind.shelf)
    for kind in KINDS
    if kind.shelf != "surfaces"
}
