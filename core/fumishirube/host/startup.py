"""From a workspace to its application; the name of its server."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from fumishirube.config.classic import takes
from fumishirube.config.configuration import LoadedConfig, load_config, without_state
from fumishirube.config.notices import keep_fixed_settings
from fumishirube.config.outside import trusted_state
from fumishirube.config.pipelines import Use
from fumishirube.disk.scratch import ScratchFolder
from fumishirube.errors import ConfigError
from fumishirube.host.application import Application
from fumishirube.host.plugin_guard import PluginGuard
from fumishirube.host.tool_host import ToolHost
from fumishirube.optional_attributes import SERVER_NAME
from fumishirube.plugins.discovery import Plugins, load_plugins
from fumishirube.plugins.entry_points import DISTRIBUTION


def load_plugins_of(loaded: LoadedConfig, *, strangers: bool = True, revision: int = 0) -> Plugins:
    """Load the plugins for a workspace, and log which ran in processes that died.

    If an import ends this process, the next process reports it.
    """
    with closing(PluginGuard(trusted_state(loaded))) as guard:
        guard.log.record_crashes()
        return load_plugins(strangers=strangers, revision=revision, importing=guard.importing)


def open_application(
    workspace: Path,
    file: Path | None = None,
    *,
    strangers: bool = True,
    empty: bool = False,
    environ: Mapping[str, str] | None = None,
    only: Use | None = None,
    trusted: bool = False,
) -> Application:
    """Read the configuration of a workspace, load the plugins, and build the application.

    With ``only``, that surface alone is built, configured or not, with its settings. Paths outside
    the workspace must be ``trusted`` now, or before.

    Raises:
        ConfigError: when that fails, or the folder has neither manuals nor a configuration and
            may not be ``empty``.
    """
    read = partial(load_config, workspace, file, environ, trusted=trusted)
    loaded, plugins = read_with_plugins(read, partial(load_plugins_of, strangers=strangers))
    return Application(narrowed(loaded, only, empty=empty), plugins)


def read_with_plugins(
    read: Callable[..., LoadedConfig], load: Callable[[LoadedConfig], Plugins]
) -> tuple[LoadedConfig, Plugins]:
    """Read a configuration, and load its plugins; they say whether ``config.yaml`` belongs to it.

    If a surface in use reads that file, ``read`` is called again, with ``classic=True``.
    """
    loaded = read()
    plugins = load(loaded)
    known = {offer.name: offer.stage for offer in plugins.registry["surfaces"]}
    wanted = loaded.with_default_surfaces(plugins.registry.defaults("surfaces")).config.surfaces
    classic = any(use.use in known and takes(known[use.use]) for use in wanted)
    return (read(classic=True) if classic else loaded), plugins


def narrowed(loaded: LoadedConfig, only: Use | None = None, *, empty: bool) -> LoadedConfig:
    """Return a configuration with one surface alone, or as it is.

    A folder with neither manuals nor a configuration is refused unless it may be ``empty``.
    """
    if only is not None:
        return loaded.alone(only)
    if (
        not empty
        and loaded.file is None
        and not loaded.folder("manuals").is_dir()
        and not loaded.origins
        and not loaded.own.folders
    ):
        raise ConfigError(
            "this folder has neither a 'manuals' folder nor a fumishirube.yaml; name the right "
            "one with --workspace DIR, search any folder with --in FOLDER, or add one for good "
            "with 'fumishirube add NAME FOLDER'"
        )
    return loaded


def replaced_application(
    former: Application,
    read: Callable[..., LoadedConfig],
    *,
    strangers: bool = True,
    only: Use | None = None,
    revision: int = 0,
) -> Application:
    """Build the application that replaces a former one, which stays as it is, in this process.

    ``read`` returns its configuration. ``revision`` counts how often the code of plugins was
    imported again.

    Raises:
        ConfigError: when that fails.
        PluginError: when a plugin of the former application cannot be loaded again.
    """

    def load(loaded: LoadedConfig) -> Plugins:
        plugins = load_plugins_of(loaded, strangers=strangers, revision=revision)
        plugins.check_against(former.plugins)
        return plugins

    loaded, plugins = read_with_plugins(read, load)
    loaded, fixed_warnings = keep_fixed_settings(narrowed(loaded, only, empty=True), former.loaded)
    application = Application(loaded, plugins, former)
    application.warnings += fixed_warnings
    return application


@contextmanager
def open_scratch_application(loaded: LoadedConfig, plugins: Plugins) -> Iterator[Application]:
    """Open an application that writes no crash marks.

    It loads plugins of its own: observers registered with them see its searches alone.
    """
    with (
        ScratchFolder() as scratch,
        closing(Application(without_state(loaded, scratch.path), plugins)) as application,
    ):
        yield application


def server_name(application: ToolHost) -> str:
    """Return the server's name: that of its only surface, if that has one, or the default."""
    names = application.texts(SERVER_NAME.name, DISTRIBUTION)
    return names[0] if len(names) == 1 else DISTRIBUTION
