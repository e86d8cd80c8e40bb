"""From a workspace to its application: configuration, plugins, and what the former one leaves."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from fumishirube.config.classic import takes
from fumishirube.config.configuration import LoadedConfig, Use, load_config
from fumishirube.config.notices import keep_fixed_settings
from fumishirube.config.outside import outside_roots
from fumishirube.errors import ConfigError
from fumishirube.host.application import Application
from fumishirube.host.fences import PluginGuard
from fumishirube.plugins.discovery import Plugins, load_plugins


def load_plugins_of(loaded: LoadedConfig, *, strangers: bool = True, revision: int = 0) -> Plugins:
    """Load the plugins for a workspace, and log which were at work in processes that died.

    Should one end this process while it is imported, the next process can tell.

    Raises:
        ConfigError: when the folder of derived state lies outside, and is not trusted.
    """
    loaded.trust.check(outside_roots(loaded, ("state",)))
    with closing(PluginGuard(loaded.folder("state"))) as guard:
        guard.look_back()
        return load_plugins(strangers=strangers, revision=revision, importing=guard.importing)


def open_application(
    workspace: Path,
    file: Path | None = None,
    *,
    strangers: bool = True,
    empty: bool = False,
    environ: Mapping[str, str] | None = None,
    only: Use | None = None,
    former: Application | None = None,
    revision: int = 0,
    plugins: Plugins | None = None,
    trusted: bool = False,
) -> Application:
    """Read the configuration of a workspace, load the plugins, and build what it asks for.

    ``only`` names a surface to be built alone, configured or not, and settings that it must have.
    A ``former`` application is one whose place this one takes in a process that goes on;
    ``revision`` tells how often the code of plugins has been imported anew; ``plugins`` are those
    that the process has loaded already. What leads out of the workspace takes effect when it is
    ``trusted`` now, or was before.

    Raises:
        ConfigError: when that cannot be done, or the folder holds nothing to work with, unless an
            ``empty`` one will do.
        PluginError: when a plugin of the former application cannot be loaded any more.
    """
    loaded = load_config(workspace, file, environ, trusted=trusted)
    if plugins is None:
        plugins = load_plugins_of(loaded, strangers=strangers, revision=revision)
    if former is not None:
        plugins.check_against(former.plugins)
    known = {offer.name: offer.stage for offer in plugins.registry["surfaces"]}
    wanted = loaded.with_default_surfaces(plugins.registry.default_surfaces()).config.surfaces
    if any(use.use in known and takes(known[use.use]) for use in wanted):
        loaded = load_config(workspace, file, environ, classic=True, trusted=trusted)
    if only is not None:
        loaded = loaded.alone(only)
    elif (
        not empty
        and loaded.file is None
        and not loaded.folder("manuals").is_dir()
        and not loaded.origins
    ):
        raise ConfigError(
            "this folder has neither a 'manuals' folder nor a fumishirube.yaml; "
            "name the right folder with --workspace DIR, or create DIR/manuals/<manual>/"
        )
    if former is None:
        return Application(loaded, plugins)
    loaded, fixed_warnings = keep_fixed_settings(loaded, former.loaded)
    application = Application(loaded, plugins, former)
    application.warnings += fixed_warnings
    return application
