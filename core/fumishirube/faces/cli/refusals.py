"""What running servers of a workspace refused, even if nothing can be opened there now."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from fumishirube.config.configuration import resolved_roots
from fumishirube.config.outside import outside_roots
from fumishirube.config.personal import OwnManuals, own_folders
from fumishirube.config.sections import RootSettings
from fumishirube.config.validation import build_model
from fumishirube.errors import ConfigError
from fumishirube.faces.cli.folders import folder, written_configuration
from fumishirube.host.reload.rejections import RefusedReload, refused_reloads


def refused_by_servers(options: Namespace) -> Sequence[RefusedReload]:
    """Return the refused reloads of the servers that run in a command's workspace."""
    try:
        return [*refused_reloads(_state(options))]
    except ConfigError:  # reported when the workspace is opened
        return ()


def _state(options: Namespace) -> Path:
    """Return the folder of state; that of the defaults, if the file may not or cannot decide it.

    Raises:
        ConfigError: when there is no workspace, or a variable is unusable.
    """
    try:
        loaded = written_configuration(options)
        loaded.trust.check(outside_roots(loaded, ("state",)))
        return loaded.folder("state")
    except ConfigError:
        workspace, origins = folder(options).resolve(), dict[str, str]()
        roots = build_model(RootSettings, {}, "roots", os.environ, origins)
        roots = own_folders(roots, workspace, origins, os.environ, OwnManuals())
        if "roots.state" not in origins and (workspace / roots.state).is_symlink():
            raise  # nobody can have trusted where it leads
        return resolved_roots(roots, workspace, origins)["state"]
