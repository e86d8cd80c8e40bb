"""The user's own configuration: manuals outside any workspace, and the folders for their data."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fumishirube.config.sections import RootSettings
from fumishirube.disk.locks import take_lock
from fumishirube.disk.scratch import replace_file
from fumishirube.errors import ConfigError

FILE = "manuals.json"
USERS_FOLDER = "a folder of the user"
"""The origin of folders that no configuration names."""

UNUSABLE = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""What a file raises that cannot be read, or is not of the form in which it was written."""

_LOCK, _LOCK_SECONDS = "changes.lock", 10.0
_MANUALS_ROOT = "roots.manuals"
_NO_FOLDER = "no-manuals"
"""The folder of manuals where none may be searched; it never exists."""


@dataclass(frozen=True)
class OwnManuals:
    """The folders of manuals outside the workspace, by id, and where their indexes are.

    ``only`` excludes the manuals of the workspace. ``files`` decide the folders.
    """

    folders: Mapping[str, Path] = field(default_factory=dict)
    state: Path = Path()
    only: bool = False
    files: tuple[Path, ...] = ()


def configuration_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of the user's own configuration, which no workspace can choose.

    Its path is that of a workspace too: the user's own, for folders in no other.
    """
    variable = "APPDATA" if sys.platform == "win32" else "XDG_CONFIG_HOME"
    named = Path(environ.get(variable, ""))
    if named.is_absolute():
        return named / "fumishirube"
    try:
        return Path.home() / ".config" / "fumishirube"
    except RuntimeError as error:
        raise ConfigError(f"there is no home folder; set the variable {variable}") from error


def recorded_manuals(environ: Mapping[str, str]) -> dict[str, Path]:
    """Return the folders that the user has added, by manual id."""
    file = configuration_folder(environ) / FILE
    try:
        folders = json.loads(file.read_text(encoding="utf-8"))["manuals"]
        return {str(name): Path(os.fspath(folder)) for name, folder in folders.items()}
    except FileNotFoundError:
        return {}
    except UNUSABLE as error:
        raise ConfigError(f"{FILE} of your own configuration cannot be used: {error}") from error


@contextmanager
def changing(environ: Mapping[str, str]) -> Iterator[None]:
    """Keep other processes from changing the user's own configuration; give up after seconds."""
    lock = configuration_folder(environ) / _LOCK
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise _unwritable(lock) from error
    try:
        if not take_lock(handle, _LOCK_SECONDS):
            raise ConfigError("another process is changing your own configuration; try again")
        yield
    finally:
        os.close(handle)


def record_manuals(folders: Mapping[str, Path], environ: Mapping[str, str]) -> None:
    """Write the folders of the user's manuals."""
    named = {name: str(folders[name]) for name in sorted(folders)}
    write_private(configuration_folder(environ) / FILE, {"version": 1, "manuals": named})


def write_private(file: Path, value: Any) -> None:
    """Replace a JSON file of the user's own configuration, which others cannot read."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, json.dumps(value, ensure_ascii=False, indent=2).encode())
    except (OSError, UnicodeEncodeError) as error:
        raise _unwritable(file) from error


def _unwritable(file: Path) -> ConfigError:
    return ConfigError(f"{file.stem}: {file.name} cannot be written; check permissions")


def own_manuals(
    origins: Mapping[str, str], environ: Mapping[str, str], folders: Mapping[str, Path] | None
) -> OwnManuals:
    """Return the manuals outside the workspace: these ``folders`` alone, or those added.

    If a variable names the folder of manuals, there are no others.
    """
    file = configuration_folder(environ) / FILE
    if folders is not None:
        return OwnManuals(folders, _cache_folder(), only=True)
    if _MANUALS_ROOT in origins:
        return OwnManuals()
    recorded = recorded_manuals(environ)
    return OwnManuals(recorded, _cache_folder() if recorded else Path(), files=(file,))


def own_folders(
    roots: RootSettings,
    workspace: Path,
    origins: dict[str, str],
    environ: Mapping[str, str],
    own: OwnManuals,
) -> RootSettings:
    """Return the roots; in the user's own workspace, their defaults are the user's folders.

    What can be made again is in the cache folder, and notes are among the user's data.
    """
    updates: dict[str, str] = {}
    if own.only:
        updates["manuals"] = str(own.state / _NO_FOLDER)
    if workspace == configuration_folder(environ).resolve():
        import platformdirs  # noqa: PLC0415 - most commands run in a workspace

        data = platformdirs.user_data_path("fumishirube", appauthor=False)
        own_defaults = {
            "state": _cache_folder(),
            "vault": data / "vault",
            "runtime": platformdirs.user_log_path("fumishirube", appauthor=False),
        }
        for name in own_defaults.keys() - roots.model_fields_set:
            updates[name] = str(own_defaults[name])
    origins |= {f"roots.{name}": USERS_FOLDER for name in updates}
    return roots.model_copy(update=updates)


def _cache_folder() -> Path:
    import platformdirs  # noqa: PLC0415 - only manuals outside a workspace need it

    return platformdirs.user_cache_path("fumishirube", appauthor=False)
