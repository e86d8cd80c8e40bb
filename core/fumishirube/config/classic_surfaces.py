"""Settings that surfaces read from files of other programs; YAML and environment override them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from fumishirube.config.classic import FILE, KNOWN, flat_keys, takes
from fumishirube.config.configuration import Config, LoadedConfig, resolved_roots
from fumishirube.config.pipelines import PipelineSpec
from fumishirube.config.sections import RootSettings
from fumishirube.config.validation import build_model
from fumishirube.config.yaml_file import leaves, read_yaml
from fumishirube.disk.roots import Root
from fumishirube.errors import ConfigError
from fumishirube.plugins.registry import StageRegistry
from fumishirube.surfaces import ClassicSettings, HasClassicSettings


def with_classic_settings(
    loaded: LoadedConfig, registry: StageRegistry, failures: dict[str, BaseException]
) -> LoadedConfig:
    """Add the values of other programs to settings that are not set.

    The errors of surfaces that fail to read them are added to the ``failures``, by name.
    """
    config = loaded.config
    stages = {offer.name: offer.stage for offer in registry["surfaces"]}
    sources = []
    places: dict[str, str] = {}
    for number, use in enumerate(config.surfaces):
        stage: Any = stages.get(use.use)
        if stage is None or not issubclass(stage, HasClassicSettings):
            continue
        try:
            classic = stage.adopted(Root(loaded.workspace), use.settings)
            values = {"roots": classic.roots, "pipelines": classic.pipelines}
            settings_at = f"surfaces[{number}].with"
            adopted = [*leaves(values, ""), *leaves(classic.settings, settings_at)]
            config = _under(config, classic, number)
        except (ConfigError, KeyboardInterrupt):
            raise
        except BaseException as error:  # the code of a plugin
            failures[use.name] = error
        else:
            places |= {coordinate: classic.source for coordinate, _ in adopted}
            sources.append(classic.source)
    written = {**places, **loaded.written}
    if config.roots != loaded.config.roots:  # else they are resolved, and stay so
        folders = resolved_roots(config.roots, loaded.workspace, loaded.origins)
        loaded = replace(loaded, folders=folders)
    return replace(loaded, config=config, adopted=tuple(sources), written=written)


def unread_classic(loaded: LoadedConfig, registry: StageRegistry) -> Iterator[str]:
    """Yield a warning for a classic file that no configured surface reads."""
    file = loaded.workspace / FILE
    surface = next((offer.name for offer in registry["surfaces"] if takes(offer.stage)), None)
    used = {use.use for use in loaded.config.surfaces}
    if loaded.file is not None or surface is None or surface in used or not file.is_file():
        return
    try:
        known = flat_keys(read_yaml(file).values).intersection(KNOWN)
    except ConfigError:
        return  # any program may have such a file
    if known:
        yield (
            f"{FILE}: it is not read, because no fumishirube.yaml names the surface {surface!r}; "
            "run 'fumishirube config import' in its folder, which writes one"
        )


def _under(config: Config, classic: ClassicSettings, number: int) -> Config:
    """Return a configuration with what it leaves open set by that of its surface of a number."""
    try:
        adopted = build_model(RootSettings, classic.roots, "roots", {}, {})
    except ConfigError as error:
        raise TypeError(str(error)) from error  # the surface has to check what it adopts
    roots = config.roots
    named = adopted.model_dump(exclude_unset=True)
    unset = {name: folder for name, folder in named.items() if name not in roots.model_fields_set}
    pipelines = dict(config.pipelines)
    for name, kinds in classic.pipelines.items():
        spec = pipelines.get(name, PipelineSpec())
        pipelines[name] = spec.model_copy(update=_unset(spec, kinds, classic.source))
    surfaces = [*config.surfaces]
    settings = {**classic.settings, **surfaces[number].settings}
    surfaces[number] = surfaces[number].model_copy(update={"settings": settings})
    return config.model_copy(
        update={
            "roots": roots.model_copy(update=unset),
            "pipelines": pipelines,
            "surfaces": tuple(surfaces),
        }
    )


def _unset(pipeline: PipelineSpec, kinds: Mapping[str, Any], source: str) -> dict[str, Any]:
    """Return the kinds of stages that the file does not configure."""
    unset = {key: value for key, value in kinds.items() if getattr(pipeline, key) is None}
    try:
        spec = PipelineSpec.model_validate(unset)
    except ValidationError as error:
        raise ConfigError(f"{source}: it cannot be used as it is") from error
    return {key: getattr(spec, key) for key in unset}
