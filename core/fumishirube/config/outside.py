"""Folders and settings of a configuration that lead out of the workspace."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import BaseModel

from fumishirube.config.classic import keys
from fumishirube.config.configuration import LoadedConfig
from fumishirube.config.trust import TrustRequest

ALWAYS_USED = ("state", "runtime", "vault")
"""The roots that every process may write to: the vault holds statistics."""
_LINK = "a symbolic link"


def outside_roots(loaded: LoadedConfig, names: Iterable[str]) -> Iterator[TrustRequest]:
    """Yield the roots that lie outside the workspace, or behind a link to the outside.

    Roots that a variable names are the user's own choice, and not included.
    """
    for name in sorted(set(names) & set(type(loaded.config.roots).model_fields)):
        coordinate = f"roots.{name}"
        if coordinate not in loaded.origins:
            yield from _outside(loaded, getattr(loaded.config.roots, name), coordinate)


def outside_statistics(loaded: LoadedConfig) -> Iterator[TrustRequest]:
    """Yield the file of the statistics, if it is outside the workspace."""
    coordinate = "adaptive.file"
    written = os.fspath(loaded.statistics())
    inside = Path(os.path.realpath(written)).is_relative_to(loaded.folder("vault"))
    if coordinate not in loaded.origins and not inside:  # the root of the vault is checked itself
        yield from _outside(loaded, written, coordinate)


def outside_settings(
    loaded: LoadedConfig, stage: BaseModel, coordinate: str
) -> Iterator[TrustRequest]:
    """Yield the settings of a surface that name places outside, or that open access.

    ``place_settings`` of the surface name files and folders; ``trusted_settings`` open access.
    """
    for name in getattr(type(stage), "place_settings", ()):
        where = f"{coordinate}.{name}"
        value = getattr(stage, name)
        if where not in loaded.origins:
            origins = [loaded.origin(key) for key in (where, *keys(type(stage).model_fields[name]))]
            source = next((place for place in origins if place != "default"), "default")
            for place in (value,) if isinstance(value, str) else value or ():
                yield from _outside(loaded, place, where, source)
    for name in getattr(type(stage), "trusted_settings", ()):
        where = f"{coordinate}.{name}"
        value = getattr(stage, name)
        if value and where not in loaded.origins and not _chosen_by_user(loaded):
            yield TrustRequest(where, loaded.origin(where), f"{name}={value!r}")


def _outside(
    loaded: LoadedConfig, written: str, coordinate: str, origin: str = ""
) -> Iterator[TrustRequest]:
    workspace = loaded.workspace.resolve()
    target = Path(os.path.realpath(workspace / written))
    if target.is_relative_to(workspace):
        return
    linked = Path(os.path.normpath(workspace / written)).is_relative_to(workspace)
    if not linked and _chosen_by_user(loaded):
        return
    source = _LINK if linked else origin or loaded.origin(coordinate)
    yield TrustRequest(coordinate, source, str(target))


def _chosen_by_user(loaded: LoadedConfig) -> bool:
    """Tell whether the user named a configuration outside the workspace.

    A link in the workspace to a file outside does not count.
    """
    if loaded.file is None:
        return False
    file = os.path.abspath(loaded.file)  # noqa: PTH100 - without .., but with its links
    places = (Path(file), loaded.file.parent.resolve())
    return not any(place.is_relative_to(loaded.workspace.resolve()) for place in places)
