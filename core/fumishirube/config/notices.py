"""Warnings about a configuration: settings without effect, deprecated or fixed ones."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import replace

from pydantic import BaseModel

from fumishirube.config.configuration import LoadedConfig
from fumishirube.disk.folders import is_real_folder


def without_effect(loaded: LoadedConfig) -> Iterator[str]:
    """Yield a warning for each setting without effect."""
    if not loaded.config.surfaces:
        yield "surfaces: there are none, so that nothing is offered; name one, or leave the key out"
    if loaded.config.allow_file_scope:
        name = loaded.origins.get("allow_file_scope", "allow_file_scope")
        yield f"{name}: it is reserved and changes nothing; whole files are read with manual_scan"
    yield from deprecated_settings(loaded.config, "")


def deprecated_settings(settings: BaseModel, coordinate: str) -> Iterator[str]:
    """Yield a warning for each deprecated setting, with its coordinate."""
    for name, value in vars(settings).items():
        field = type(settings).model_fields.get(name)
        if field is None or name not in settings.model_fields_set:
            continue
        where = f"{coordinate}.{name}" if coordinate else name
        if field.deprecated:
            yield f"{where}: it is deprecated: {field.deprecation_message or 'it will go'}"
        if isinstance(value, BaseModel):
            yield from deprecated_settings(value, where)


def absent(loaded: LoadedConfig, roots: Collection[str]) -> Iterator[str]:
    """Yield a warning for each folder of manuals that is missing and used."""
    if "manuals" not in roots:
        return
    yield from missing_folders(loaded)
    folder = loaded.folder("manuals")
    if not loaded.own.folders and not folder.is_dir():
        name = loaded.origins.get("roots.manuals", "roots.manuals")
        yield (
            f"{name}: there is no folder {folder.name!r}, so there are no manuals; "
            "create it, or name the right one"
        )


def missing_folders(loaded: LoadedConfig) -> Iterator[str]:
    """Yield a warning for each added folder that is no longer there."""
    for name, folder in loaded.own.folders.items():
        if not is_real_folder(folder):
            yield (
                f"manual {name}: its folder {folder.name!r} does not exist, or is a symbolic link, "
                "so it is not searched; bring it back, or take it off with 'add NAME --remove'"
            )


_FIXED = ("server", "security")
"""Sections that are fixed for the life of a process, as is the folder of logs."""


def keep_fixed_settings(
    loaded: LoadedConfig, former: LoadedConfig
) -> tuple[LoadedConfig, list[str]]:
    """Return a configuration with the fixed settings of a running process, and warnings."""
    fixed = {section: getattr(former.config, section) for section in _FIXED}
    warnings = [
        f"{section}.{name}: it needs a restart; {_plain(value)} stays"
        for section, before in fixed.items()
        for name, value in before
        if getattr(getattr(loaded.config, section), name) != value
    ]
    runtime, folder = former.config.roots.runtime, former.folder("runtime")
    if loaded.folder("runtime") != folder:
        warnings.append(f"roots.runtime: it needs a restart; {_plain(runtime)} stays")
    fixed["roots"] = loaded.config.roots.model_copy(update={"runtime": runtime})
    config = loaded.config.model_copy(update=fixed)
    return replace(loaded, config=config, folders={**loaded.folders, "runtime": folder}), warnings


def _plain(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
