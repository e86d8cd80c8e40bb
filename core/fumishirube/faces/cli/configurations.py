"""The configuration in force as plain data, with origins; and differences of two configurations."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue

from fumishirube.config.configuration import Config, LoadedConfig, upwards
from fumishirube.config.pipelines import PIPELINE_KEYS, SINGLE_KINDS, PipelineSpec
from fumishirube.config.yaml_file import leaves
from fumishirube.engine.pipeline import NamedStage
from fumishirube.errors import ConfigError
from fumishirube.faces.cli.folders import folder
from fumishirube.faces.cli.workspace import opened
from fumishirube.host.application import Application
from fumishirube.host.startup import open_application
from fumishirube.host.surfaces import ConfiguredSurface, use_of
from fumishirube.plugins.discovery import load_plugins

DEFAULTS, EFFECTIVE = "defaults", "effective"
"""Names for the configuration without a file, and for the one in force."""


def in_force(application: Application, name: str = EFFECTIVE) -> Configured:
    """Return the configuration in force: every stage that runs, with all its settings."""
    config = _effective(application)
    return Configured(name, config, _origins(application, config))


def _effective(application: Application) -> JsonValue:
    registry = application.plugins.registry
    settings = application.config.model_dump(mode="json", by_alias=True)
    settings["pipelines"] = _pipelines(application)
    settings["surfaces"] = [
        use_of("surfaces", NamedStage(surface.name, surface.surface), registry)
        for surface in application.surfaces
    ]
    return settings


def _pipelines(application: Application) -> dict[str, dict[str, JsonValue]]:
    """Return the stages by pipeline; those on which its surfaces differ as they are written."""
    pipelines: dict[str, dict[str, JsonValue]] = {}
    for surface in application.surfaces:
        spec = application.config.pipelines.get(surface.pipeline_name, PipelineSpec())
        written = spec.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True)
        pipelines[surface.pipeline_name] = {**written, **_agreed(application, surface)}
    return pipelines


def _agreed(application: Application, surface: ConfiguredSurface) -> dict[str, JsonValue]:
    """Return the stages of a surface that all surfaces with its pipeline have, by key."""
    name = surface.pipeline_name
    sharing = [other.uses for other in application.surfaces if other.pipeline_name == name]
    return {
        key: use
        for key, use in surface.uses.items()
        if all(uses.get(key) == use for uses in sharing)
    }


def _origins(application: Application, config: JsonValue) -> Mapping[str, str]:
    """Return the origin of every single value, by coordinate."""
    loaded = application.loaded
    written = dict(_stages(application))
    by_coordinate = {}
    for coordinate, _ in leaves(config, ""):
        shown = next((part for part in upwards(coordinate) if part in written), "")
        at, rest = written.get(shown, ""), coordinate.removeprefix(shown)
        origin = loaded.origin(f"{at}{rest}")
        if origin == "default" and rest.endswith(".use"):  # a name alone stands for the stage
            origin = loaded.written.get(f"{at}{rest}".removesuffix(".use"), origin)
        by_coordinate[coordinate] = origin
    return by_coordinate


def _stages(application: Application) -> Iterator[tuple[str, str]]:
    """Yield the coordinate of each stage where it is shown, and the configured one."""
    for place, surface in enumerate(application.surfaces):
        yield f"surfaces[{place}]", surface.coordinate
        agreed = _agreed(application, surface)
        for kind_name, key in PIPELINE_KEYS.items():
            if key not in agreed:
                continue
            for number, named in enumerate(surface.stages[kind_name]):
                shown = f"pipelines.{surface.pipeline_name}.{key}"
                shown += "" if kind_name in SINGLE_KINDS else f"[{number}]"
                yield shown, named.coordinate


class Configured(NamedTuple):
    """A configuration as plain data, with its name and the origins of its values."""

    name: str
    config: JsonValue
    origins: Mapping[str, str]


class ConfigDifference(NamedTuple):
    """One coordinate, the values of both sides there, and the origins of these values."""

    coordinate: str
    a: JsonValue
    b: JsonValue
    a_from: str
    b_from: str

    @property
    def line(self) -> str:
        """Return the difference as a line of text."""
        return f"{self.coordinate}: {_shown(self.a)} -> {_shown(self.b)}"


def configured(name: str, options: Namespace) -> Configured:
    """Return the configuration of a file, the ``defaults``, or the ``effective`` one.

    A file is read as one of this workspace, with its ``config.yaml`` if a surface reads that, but
    without the environment, so that comparisons are repeatable.
    """
    if name == EFFECTIVE:
        with opened(options, empty=True) as application:
            return in_force(application)
    file = Path(name)
    if name != DEFAULTS and not file.is_file():
        raise ConfigError(f"config diff: there is no file {file.name!r}")
    strangers, place = not options.no_plugins, folder(options).resolve()
    if name == DEFAULTS:
        loaded = LoadedConfig(Config(), place, None, {})
        opening = Application(loaded, load_plugins(strangers=strangers))
    else:
        opening = open_application(place, file, strangers=strangers, empty=True, environ={})
    with closing(opening) as application:
        return in_force(application, name)


def differences(first: Configured, other: Configured) -> Iterator[ConfigDifference]:
    """Yield the differences in the order of the first; stages are compared by name."""
    yield from _differences(first.config, other.config, "", "", (first.origins, other.origins))


def _differences(
    a: JsonValue, b: JsonValue, at: str, bt: str, sources: tuple[Mapping[str, str], ...]
) -> Iterator[ConfigDifference]:
    """Compare two values; ``at`` and ``bt`` are their coordinates."""
    if a == b:
        return
    if isinstance(a, dict) and isinstance(b, dict):
        # The pipeline of a surface that only one side has is no further difference.
        for key in {**a, **b} if at != "pipelines" else [key for key in a if key in b]:
            here, there = (f"{where}.{key}" if where else key for where in (at, bt))
            yield from _differences(a.get(key), b.get(key), here, there, sources)
    elif _are_uses(a) and _are_uses(b):
        before, after = _by_name(a), _by_name(b)
        if [*before] != [*after]:
            yield ConfigDifference(
                at, [*before], [*after], _of(sources[0], at), _of(sources[1], bt)
            )
        for name, (place, use) in before.items():
            if name in after:
                number, another = after[name]
                here, there = f"{at}[{place}]", f"{bt}[{number}]"
                yield from _differences(use, another, here, there, sources)
    else:
        yield ConfigDifference(at, a, b, _of(sources[0], at), _of(sources[1], bt))


def _are_uses(value: JsonValue) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, dict) and "use" in item for item in value
    )


def _by_name(uses: Any) -> dict[str, tuple[int, JsonValue]]:
    return {use.get("as") or use["use"]: (place, use) for place, use in enumerate(uses)}


def _of(sources: Mapping[str, str], coordinate: str) -> str:
    """Return the origin of a value, or the first origin of a value inside it."""
    inside = (
        origin
        for at, origin in sources.items()
        if at.startswith((f"{coordinate}.", f"{coordinate}[")) and origin != "default"
    )
    return sources.get(coordinate) or next(inside, "default")


def _shown(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)
