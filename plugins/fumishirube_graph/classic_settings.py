"""Reads ``.ubp/config.json``, the configuration file of an earlier program."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fumishirube import ClassicSettings, ConfigError, Root, ToolError
from fumishirube.disk import clean_path

SOURCE = ".ubp/config.json"


class _ConfigPart(BaseModel):
    """A part of the file; unknown keys are ignored."""

    model_config = ConfigDict(extra="ignore", strict=True)


class _Source(_ConfigPart):
    include: list[str] | None = None
    exclude: list[str] | None = None


class _SearchSection(_ConfigPart):
    alpha: Annotated[float | None, Field(ge=0, le=1)] = None
    default_limit: Annotated[int | None, Field(ge=1, le=20)] = None
    max_depth: Annotated[int | None, Field(ge=1, le=3)] = None


class _Staleness(_ConfigPart):
    threshold_days: Annotated[int | None, Field(ge=0, le=3650)] = None


class _File(_ConfigPart):
    docs_dir: str | None = None
    source: _Source = _Source()
    search: _SearchSection = _SearchSection()
    staleness: _Staleness = _Staleness()


def adopted(workspace: Root, pipeline: str, default: Mapping[str, Any]) -> ClassicSettings:
    """Return the settings of the file, merged over the surface's default pipeline.

    Raises:
        ConfigError: when it is not a JSON object, or holds an invalid value.
    """
    try:
        classic = _File.model_validate(json.loads(workspace.read_bytes(SOURCE)))
        folder = None if classic.docs_dir is None else clean_path(classic.docs_dir, "docs_dir")
        roots = {} if folder is None else {"docs": folder}
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        is_part = first["type"] == "model_type"  # the message would name our class
        problem = "must be a JSON object" if is_part else first["msg"]
        raise ConfigError(f"{SOURCE}: {place}: {problem}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"{SOURCE}: it is not valid JSON in UTF-8; mend it or remove it"
        ) from error
    except ToolError as error:
        if error.code == "not_found":
            return ClassicSettings(SOURCE)
        raise ConfigError(f"{SOURCE}: {error}") from error
    alpha = {} if classic.search.alpha is None else {"alpha": classic.search.alpha}
    globs = classic.source.model_dump(exclude_none=True)
    pipelines = {
        "loaders": [_with(use, globs) for use in default["loaders"]] if globs else None,
        "fusers": [_with(use, alpha) for use in default["fusers"]] if alpha else None,
    }
    overrides = {key: uses for key, uses in pipelines.items() if uses}
    settings = classic.search.model_dump(include={"default_limit", "max_depth"}, exclude_none=True)
    settings |= classic.staleness.model_dump(exclude_none=True)
    return ClassicSettings(SOURCE, roots, {pipeline: overrides} if overrides else {}, settings)


def _with(use: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    return {**use, "with": {**use.get("with", {}), **settings}}
