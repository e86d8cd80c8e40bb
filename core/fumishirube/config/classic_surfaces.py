"""Settings that surfaces read from another program's files, below YAML and environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from fumishirube.config.configuration import Config, Loaded, PipelineSpec
from fumishirube.config.yaml_file import leaves
from fumishirube.disk.roots import Root
from fumishirube.errors import ConfigError
from fumishirube.plugins.registry import Registry
from fumishirube.surfaces import Adopted, Adopting


def adopting(loaded: Loaded, registry: Registry) -> Loaded:
    """Let every configured surface supply what nobody has set.

    Raises:
        ConfigError: when what was left there cannot be used.
    """
    config = loaded.config
    surfaces, sources = [], []
    places: dict[str, str] = {}
    for number, use in enumerate(config.surfaces):
        stage: Any = registry["surfaces"].take(use.use, "").stage if _known(use, registry) else None
        if isinstance(stage, type) and issubclass(stage, Adopting):
            found = stage.adopted(Root(loaded.workspace), use.settings)
            places |= dict.fromkeys(_coordinates(found, number), found.source)
            config = _under(config, found)
            sources.append(found.source)
            settings = {**found.settings, **use.settings}
            surfaces.append(use.model_copy(update={"settings": settings}))
        else:
            surfaces.append(use)
    config = config.model_copy(update={"surfaces": tuple(surfaces)})
    written = {**places, **loaded.written}
    return replace(loaded, config=config, adopted=tuple(sources), written=written)


def _coordinates(found: Adopted, number: int) -> Iterator[str]:
    """Yield where everything that was found would be written in the file."""
    said = {"roots": found.roots, "pipelines": found.pipelines}
    yield from (coordinate for coordinate, _ in leaves(said, ""))
    yield from (one for one, _ in leaves(found.settings, f"surfaces[{number}].with"))


def _known(use: Any, registry: Registry) -> bool:
    return use.use in registry["surfaces"]


def _under(config: Config, found: Adopted) -> Config:
    roots = config.roots
    left = {name: one for name, one in found.roots.items() if name not in roots.model_fields_set}
    config = config.model_copy(update={"roots": roots.model_copy(update=left)})
    pipelines = dict(config.pipelines)
    for name, kinds in found.pipelines.items():
        given = pipelines.get(name, PipelineSpec())
        pipelines[name] = given.model_copy(update=_unset(given, kinds, found.source))
    return config.model_copy(update={"pipelines": pipelines})


def _unset(given: PipelineSpec, kinds: Mapping[str, Any], source: str) -> dict[str, Any]:
    """Return the kinds of stages that the file leaves to its surface."""
    left = {key: value for key, value in kinds.items() if getattr(given, key) is None}
    try:
        spec = PipelineSpec.model_validate(left)
    except ValidationError as error:
        raise ConfigError(f"{source}: it cannot be used as it is") from error
    return {key: getattr(spec, key) for key in left}
