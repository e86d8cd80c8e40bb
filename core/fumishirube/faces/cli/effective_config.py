"""The configuration in force as plain data, and the origin of each value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import JsonValue

from fumishirube.config.classic import keys
from fumishirube.config.configuration import PIPELINE_KEYS, SINGLE_KINDS
from fumishirube.config.yaml_file import leaves
from fumishirube.engine.pipeline import NamedStage
from fumishirube.host.application import Application
from fumishirube.host.surfaces import use_of


def effective(application: Application) -> JsonValue:
    """Return the configuration in force: every stage that runs, with all its settings."""
    registry = application.plugins.registry
    settings = application.config.model_dump(mode="json", by_alias=True)
    settings["pipelines"] = {
        surface.pipeline_name: {**surface.uses} for surface in application.surfaces
    }
    settings["surfaces"] = [
        use_of("surfaces", NamedStage(surface.name, surface.surface), registry)
        for surface in application.surfaces
    ]
    shown: JsonValue = settings
    return shown


def origins(application: Application) -> Mapping[str, str]:
    """Return the origin of every single value, by coordinate."""
    loaded, taken = application.loaded, dict(_taken(application))
    by_coordinate = {}
    for coordinate, _ in leaves(effective(application), ""):
        origin = loaded.origin(coordinate)
        by_coordinate[coordinate] = taken.get(coordinate, origin) if origin == "default" else origin
    return by_coordinate


def _taken(application: Application) -> Iterator[tuple[str, str]]:
    """Yield the settings of stages that classic keys decide, and their origins."""
    loaded = application.loaded
    for where, stage in _stages(application):
        for name, info in type(stage).model_fields.items():
            for key in keys(info):
                if key in loaded.sections.taken:
                    yield f"{where}.with.{info.alias or name}", loaded.written.get(key, "default")


def _stages(application: Application) -> Iterator[tuple[str, Any]]:
    for place, surface in enumerate(application.surfaces):
        yield f"surfaces[{place}]", surface.surface
        for kind_name, key in PIPELINE_KEYS.items():
            for number, named in enumerate(surface.stages[kind_name]):
                where = f"pipelines.{surface.pipeline_name}.{key}"
                yield where if kind_name in SINGLE_KINDS else f"{where}[{number}]", named.stage
