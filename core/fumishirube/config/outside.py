"""Folders and settings of a configuration that lead out of the workspace."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from pydantic import BaseModel

from fumishirube.config.configuration import LoadedConfig, shows
from fumishirube.config.trust import TrustRequest
from fumishirube.optional_attributes import PLACE_SETTINGS, TRUSTED_SETTINGS

ALWAYS_USED = ("state", "runtime", "vault")
"""The roots that every process may write to: the vault holds statistics."""
_LINK = "a symbolic link"


def outside_roots(loaded: LoadedConfig, names: Iterable[str]) -> Iterator[TrustRequest]:
    """Yield the roots that lie outside the workspace, or behind a link to the outside.

    A vault in a folder whose name begins with a dot, such as ``.git``, is included: other programs
    run what is written there. Roots that a variable names are the user's own choice, and are not.
    """
    for name in sorted(set(names) & set(type(loaded.config.roots).model_fields)):
        coordinate = f"roots.{name}"
        if coordinate not in loaded.origins:
            written = getattr(loaded.config.roots, name)
            yield from _requests(loaded, written, coordinate)
            if name == "vault":
                shown = partial(_is_shown, loaded.workspace)
                yield from _requests(loaded, written, coordinate, allowed=shown)


def trusted_state(loaded: LoadedConfig) -> Path:
    """Return the folder of state, which every process uses before it builds anything.

    Raises:
        ConfigError: when it lies outside the workspace, and that is not trusted.
    """
    loaded.trust.check(outside_roots(loaded, ("state",)))
    return loaded.folder("state")


def outside_statistics(loaded: LoadedConfig) -> Iterator[TrustRequest]:
    """Yield the file of the statistics, if it is in no root to which every process may write."""
    coordinate = "adaptive.file"
    if coordinate not in loaded.origins:
        in_roots = partial(_is_in, [*map(loaded.folder, ALWAYS_USED)])  # checked themselves
        yield from _requests(loaded, os.fspath(loaded.statistics()), coordinate, allowed=in_roots)


def outside_settings(
    loaded: LoadedConfig, stage: BaseModel, coordinate: str
) -> Iterator[TrustRequest]:
    """Yield the settings of a stage that name places outside, open access, or connect elsewhere.

    ``place_settings`` of the stage name files and folders; ``trusted_settings`` are the others.
    """
    for name in PLACE_SETTINGS.of(type(stage)):
        where = f"{coordinate}.{name}"
        value = getattr(stage, name)
        if where not in loaded.origins:
            for place in (value,) if isinstance(value, str) else value or ():
                yield from _requests(loaded, place, where)
    for name in TRUSTED_SETTINGS.of(type(stage)):
        where = f"{coordinate}.{name}"
        value = getattr(stage, name)
        usual = type(stage).model_fields[name].get_default(call_default_factory=True)
        if value != usual and where not in loaded.origins and not _chosen_by_user(loaded):
            yield TrustRequest(where, loaded.origin(where), f"{name}={value!r}")


def _requests(
    loaded: LoadedConfig,
    written: str,
    coordinate: str,
    allowed: Callable[[Path], bool] | None = None,
) -> Iterator[TrustRequest]:
    """Yield a request if a place, with its links followed, is not allowed: not in the workspace."""
    allowed = allowed or partial(_is_in, (loaded.workspace,))
    place = loaded.workspace / written
    target = Path(os.path.realpath(place))
    linked = allowed(Path(os.path.normpath(place)))
    if not allowed(target) and (linked or not _chosen_by_user(loaded)):
        source = _LINK if linked else loaded.origin(coordinate)
        yield TrustRequest(coordinate, source, str(target))


def _is_in(folders: Iterable[Path], place: Path) -> bool:
    return any(map(place.is_relative_to, folders))


def _is_shown(workspace: Path, place: Path) -> bool:
    """Tell whether a place is in no folder of the workspace whose name begins with a dot."""
    return not place.is_relative_to(workspace) or shows(workspace, place)


def _chosen_by_user(loaded: LoadedConfig) -> bool:
    """Tell whether the user named a file outside the workspace, other than by a link in it."""
    if loaded.file is None:
        return False
    file = os.path.abspath(loaded.file)  # noqa: PTH100 - without .., but with its links
    places = (Path(file), loaded.file.parent.resolve())
    return not any(place.is_relative_to(loaded.workspace) for place in places)
