"""The folders that a command works on: a workspace, or folders where they are."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from fumishirube.config.configuration import FILE, LoadedConfig, load_config
from fumishirube.config.environment import variables
from fumishirube.config.personal import configuration_folder, recorded_manuals
from fumishirube.config.sections import RootSettings
from fumishirube.disk.folders import mode_at
from fumishirube.disk.names import clean_name, name_fault
from fumishirube.errors import ConfigError, ToolError
from fumishirube.host.context import RESERVED_MANUALS
from fumishirube.host.surfaces import MANUALS
from fumishirube.plugins.installation import start_command


def folder(options: Namespace) -> Path:
    """Return the workspace: ``--workspace``, else the environment's, else the current folder.

    With ``--in``, and in a folder that is no workspace while the user has manuals elsewhere or a
    configuration of their own, it is the user's own.
    """
    if _folder_names(options):
        if options.workspace:
            raise ConfigError("--in: it goes without --workspace; a folder needs none")
        return configuration_folder(os.environ)
    if not _named_workspace(options) and _is_elsewhere(options):
        return configuration_folder(os.environ)
    return workspace_here(options)


def workspace_here(options: Namespace) -> Path:
    """Return the folder in which a workspace begins: the named one, else the current folder."""
    source = "--workspace" if options.workspace else "WORKSPACE_ROOT"
    return existing_folder(_named_workspace(options) or ".", source, entered=FILE)


def _named_workspace(options: Namespace) -> str:
    return options.workspace or os.environ.get("WORKSPACE_ROOT", "").strip()


def written_configuration(
    options: Namespace,
    workspace: Path | None = None,
    *,
    classic: bool = False,
    trusted: bool = False,
) -> LoadedConfig:
    """Return the configuration of a command's workspace, or of the folders that it names.

    That is as it is written, with the ``classic`` file if requested. Another ``workspace`` is that
    of a process that serves it. Paths outside must be ``trusted`` now, or before.
    """
    return load_config(
        workspace or folder(options),
        options.config,
        classic=classic,
        trusted=trusted or options.trust,
        folders=folders_in_place(options),
    )


def keep_folders(options: Namespace) -> None:
    """Make the options name the same files after the current folder has changed."""
    if options.config:
        options.config = options.config.absolute()
    if names := _folder_names(options):  # links stay links, which may lead elsewhere later
        options.folders = [str(existing_folder(name, "--in").absolute()) for name in names]


def existing_folder(name: str, source: str, entered: str = ".") -> Path:
    """Return a folder that exists and may be entered; ``source`` names it in errors."""
    try:
        # Clients start the command without a shell, so that ~ is not expanded yet.
        chosen = Path(name).expanduser()
    except RuntimeError as error:
        raise ConfigError(f"{source}: there is no home folder for {name!r}") from error
    there = 0
    try:
        there = mode_at(chosen)
        if S_ISDIR(there):
            mode_at(chosen / entered)  # fails if the folder may not be entered
    except PermissionError as error:
        raise ConfigError(
            f"{source}: {chosen.name or name!r} may not be entered; change the permissions of that "
            "folder, or of those above it"
        ) from error
    except OSError:  # a name that is too long, or links in a ring: also those of a file in it
        pass
    if S_ISDIR(there):
        return chosen
    if S_ISREG(there):
        raise ConfigError(f"{source}: {chosen.name!r} is a file; name the folder that it is in")
    raise ConfigError(f"{source}: there is no folder {chosen.name or name!r}")


def folders_in_place(options: Namespace) -> dict[str, Path] | None:
    """Return the folders of ``--in`` by the ids of their manuals; ``None`` without any."""
    named: dict[str, Path] = {}
    for name in _folder_names(options):
        place = existing_folder(name, "--in").resolve()
        manual_id = manual_id_of(place.name, "--in")
        if named.setdefault(manual_id, place) != place:
            raise ConfigError(f"--in: two folders are called {manual_id!r}; use add for one")
    return named or None


def manual_id_of(name: str, source: str) -> str:
    """Return a name in its composed form, if a manual may have it."""
    try:
        composed = clean_name(name, "manual")
    except ToolError as error:
        raise ConfigError(f"{source}: {name!r} cannot name a manual: {error}") from error
    if fault := name_fault(composed, RESERVED_MANUALS):
        raise ConfigError(f"{source}: {name!r} cannot name a manual: {fault}")
    return composed


def serve_command(options: Namespace) -> list[str]:
    """Return the words with which another program serves what the options choose.

    Raises:
        ConfigError: when a folder does not exist.
    """
    words = [*start_command(), "serve"]
    if in_place := folders_in_place(options):
        words += [word for place in in_place.values() for word in ("--in", str(place))]
    else:
        words += ["--workspace", str(folder(options).resolve())]
    if options.config:
        words += ["--config", str(Path(options.config).resolve())]
    if options.no_plugins:
        words.append("--no-plugins")
    return words


def _folder_names(options: Namespace) -> list[str]:
    return getattr(options, "folders", None) or []


def _is_elsewhere(options: Namespace) -> bool:
    """Tell whether the current folder is no workspace, and the user has a workspace of their own.

    Whoever has neither added a folder nor written a configuration may begin a workspace here.
    """
    if options.config or hasattr(options, "only") or Path(FILE).is_file():
        return False
    chosen = (name for name, setting, _ in variables(RootSettings) if setting == MANUALS)
    if Path(MANUALS).is_dir() or any(os.environ.get(name, "").strip() for name in chosen):
        return False
    own = configuration_folder(os.environ) / FILE
    return own.is_file() or bool(recorded_manuals(os.environ))
