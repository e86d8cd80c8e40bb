"""The application of the chosen workspace, its plugins and its manuals."""

from __future__ import annotations

import gc
import os
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from fumishirube.config.configuration import LoadedConfig, resolved_roots
from fumishirube.config.outside import trusted_state
from fumishirube.config.personal import OwnManuals, own_folders
from fumishirube.config.pipelines import Use
from fumishirube.config.sections import RootSettings
from fumishirube.config.validation import build_model
from fumishirube.disk.names import clean_name
from fumishirube.errors import ConfigError, NotFound, did_you_mean
from fumishirube.faces.cli.common_options import workspace_options
from fumishirube.faces.cli.folders import folder, keep_folders, written_configuration
from fumishirube.faces.cli.output import complain
from fumishirube.host.application import Application
from fumishirube.host.context import PipelineContext
from fumishirube.host.faults import Fault
from fumishirube.host.reload.inputs import ConfigInForce
from fumishirube.host.reload.rejections import RefusedReload, refused_reloads
from fumishirube.host.startup import (
    load_plugins_of,
    narrowed,
    read_with_plugins,
    replaced_application,
)
from fumishirube.host.surfaces import search_surface
from fumishirube.plugins.discovery import Plugins, load_plugins
from fumishirube.surfaces import SurfaceContext

_NAMED = 5
"""Names listed in an error message, at most."""


def early_plugins(words: Sequence[str]) -> Plugins:
    """Load the plugins before the command line is parsed, for their commands.

    If a plugin ends the process, the next process of this workspace reports it.
    """
    options = workspace_options(words)
    if options is None:
        return load_plugins(strangers="--no-plugins" not in words)
    return plugins_for(options)


def plugins_for(options: Namespace) -> Plugins:
    """Load the plugins for a command's workspace, even if that cannot be opened."""
    try:
        loaded = written_configuration(options)
        return load_plugins_of(loaded, strangers=not options.no_plugins)
    except ConfigError:  # reported when the workspace is opened
        return load_plugins(strangers=not options.no_plugins)


def configuration(options: Namespace, *, trusted: bool = False) -> LoadedConfig:
    """Return the configuration of a command's workspace; build and open nothing.

    The plugins are loaded, and returned as ``options.plugins``. Paths outside the workspace must be
    ``trusted`` now, or before.

    Raises:
        ConfigError: when it cannot be read.
    """
    read = partial(written_configuration, options, trusted=trusted)
    return read_with_plugins(read, partial(_plugins, options))[0]


def _plugins(options: Namespace, loaded: LoadedConfig) -> Plugins:
    """Return the plugins of a command, which are loaded if they are not yet."""
    if getattr(options, "plugins", None) is None:
        options.plugins = load_plugins_of(loaded, strangers=not options.no_plugins)
    plugins: Plugins = options.plugins
    return plugins


@contextmanager
def opened(
    options: Namespace,
    *,
    empty: bool = False,
    trusted: bool = False,
    begun: ConfigInForce | None = None,
) -> Iterator[Application]:
    """Open the application of the workspace, print its problems, and close it afterwards.

    With ``empty``, a workspace without files is no error. Paths outside the workspace must be
    ``trusted`` now, or before. A process of a server is ``begun`` with what is in force in it.
    """
    loaded = begun.loaded if begun else configuration(options, trusted=trusted)
    keep_folders(options)  # code of a plugin may change the current one
    application = Application(
        narrowed(loaded, getattr(options, "only", None), empty=empty),
        _plugins(options, loaded),
        peers=getattr(options, "peers", None),
    )
    for warning in (*application.warnings, *application.absent):
        complain(f"warning: {warning}")
    # Long work makes garbage; objects made at start-up need never be scanned.
    gc.freeze()
    gc.enable()
    try:
        yield application
    finally:
        application.close()


def use_only(options: Namespace, surface: str, **settings: Any) -> None:
    """Open the application later with one surface alone, configured or not, and its settings."""
    options.only = Use.model_validate({"use": surface, "with": settings})


def reopen(options: Namespace, former: Application, revision: int) -> Application:
    """Open the workspace again, to replace a former application, which stays as it is."""
    return replaced_application(
        former,
        partial(written_configuration, options, former.loaded.workspace),
        strangers=not options.no_plugins,
        only=getattr(options, "only", None),
        revision=revision,
    )


def plugins_and_faults(options: Namespace) -> tuple[Plugins, Sequence[Fault]]:
    """Return the plugins, and their faults in earlier runs; report a broken workspace."""
    for server in refused_by_servers(options):
        complain(f"note: server process {server.process} refused: {server.why}")
    try:
        with opened(options) as application:
            application.find_left_out()
            return application.plugins, application.guard.log.faults()
    except ConfigError as error:
        complain(f"note: {error}")
        return load_plugins(strangers=not options.no_plugins), ()


def search_context(application: Application) -> PipelineContext:
    """Return the SurfaceContext that searches the manuals: of the default surface, or the first.

    Raises:
        ConfigError: when no surface reads the manuals.
    """
    return application.contexts[search_surface(application.surfaces).name]


def chosen_manuals(context: SurfaceContext, wanted: list[str]) -> list[str]:
    """Return the ids of the wanted manuals, each once, or of all when none is named.

    Raises:
        NotFound: when no manual has this id; the message names the nearest.
    """
    if wanted:
        return list(dict.fromkeys(known_manual(context, name) for name in wanted))
    known = list(context.manuals())
    if not known:
        loose = context.loose_files()
        lying = f" ({', '.join(loose[:_NAMED])} are in none: move them into one)" if loose else ""
        raise NotFound(
            "there are no manuals; make a folder for each in the folder of manuals, "
            f"such as manuals/<manual>/, and put .md, .json or chapter .txt files into it{lying}"
        )
    return known


def known_manual(context: SurfaceContext, name: str) -> str:
    """Return a manual's id in its composed form; raise with the nearest name if unknown."""
    cleaned = clean_name(name, "manual")
    try:
        return context.manual(cleaned).id
    except NotFound as error:
        known = list(context.manuals())
        hint = did_you_mean(cleaned, known, f"there are: {', '.join(known[:20]) or 'none'}")
        raise NotFound(f"there is no manual {cleaned!r}; {hint}", manual_id=cleaned) from error


def refused_by_servers(options: Namespace) -> Sequence[RefusedReload]:
    """Return the refused reloads of the servers that run in a command's workspace."""
    try:
        return [*refused_reloads(_state_folder(options))]
    except ConfigError:  # reported when the workspace is opened
        return ()


def _state_folder(options: Namespace) -> Path:
    """Return the folder of state; that of the defaults, if the file may not or cannot decide it."""
    try:
        return trusted_state(written_configuration(options))
    except ConfigError:
        workspace, origins = folder(options).resolve(), dict[str, str]()
        roots = build_model(RootSettings, {}, "roots", os.environ, origins)
        roots = own_folders(roots, workspace, origins, os.environ, OwnManuals())
        if "roots.state" not in origins and (workspace / roots.state).is_symlink():
            raise  # nobody can have trusted where it leads
        return resolved_roots(roots, workspace, origins)["state"]
