"""The inputs of an application, and whether they changed: files, plugins, code."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, TypeAlias

from fumishirube.config.configuration import LoadedConfig
from fumishirube.errors import PluginError
from fumishirube.plugins.entry_points import DISTRIBUTION, InstalledPlugin, installed
from fumishirube.plugins.source_digests import installed_modules

Stamp: TypeAlias = tuple[int, int, int] | None
"""A file's time, size and place; ``None`` for a missing file."""


class Inputs(NamedTuple):
    """All inputs at one moment; equal inputs make the same application.

    ``plugins`` are the installed ones, by id. ``code`` is every imported file of a plugin outside
    the project, by its package or module.
    """

    files: Mapping[Path, Stamp]
    plugins: Mapping[str, str]
    code: Mapping[str, Mapping[str, Stamp]]

    def same(self, before: Inputs) -> bool:
        """Tell whether nothing changed; later imports are no change."""
        return self.files == before.files and self.same_plugins(before)

    def same_plugins(self, before: Inputs) -> bool:
        """Tell whether the plugins and their code are the same; later imports are no change."""
        return self.plugins == before.plugins and not self.changed_code(before)

    def lost(self, before: Inputs) -> bool:
        """Tell whether a file is now missing or empty, as it may be while it is written."""
        return any(
            _has_content(before.files[file]) and not _has_content(stamp)
            for file, stamp in self.files.items()
        )

    def changed_code(self, before: Inputs) -> set[str]:
        """Return the packages of which an imported file changed."""
        return {
            name
            for name, files in before.code.items()
            if any(
                self.code.get(name, {}).get(file, stamp) != stamp for file, stamp in files.items()
            )
        }

    @property
    def builtins(self) -> Mapping[str, str]:
        """The plugins that come with the framework."""
        own = f"{DISTRIBUTION} "
        return {name: code for name, code in self.plugins.items() if code.startswith(own)}

    def with_more(self, now: Inputs) -> Inputs:
        """Add files that were first read or imported after these inputs were taken."""
        files = {file: self.files.get(file, stamp) for file, stamp in now.files.items()}
        names = {*self.code, *now.code}
        code = {name: {**now.code.get(name, {}), **self.code.get(name, {})} for name in names}
        return self._replace(files=files, code=code)


def _has_content(stamp: Stamp) -> bool:
    return stamp is not None and stamp[1] > 0


class ConfigInForce(NamedTuple):
    """A configuration as it was ``read``, and the inputs of its application.

    It can be pickled: it has no variables, which are the same in all processes of a server.
    """

    read: LoadedConfig
    inputs: Inputs

    @classmethod
    def of(cls, loaded: LoadedConfig, inputs: Inputs) -> ConfigInForce:
        """Return it for a configuration with the variables of this process."""
        return cls(replace(loaded, environ={}), inputs)

    @property
    def loaded(self) -> LoadedConfig:
        """The configuration, with the variables of this process."""
        return replace(self.read, environ=os.environ)

    def forget_other_code(self) -> None:
        """Drop the imported modules of plugins; raise if those on disk are not those in force."""
        code = self.inputs.code
        now = {name: {file: _stamp(Path(file)) for file in files} for name, files in code.items()}
        lost = self.inputs._replace(code=now).changed_code(self.inputs)
        if lost:
            names = ", ".join(sorted(lost))
            raise PluginError(
                f"{names}: the code in force is no longer on disk; mend it, or restart fumishirube"
            )
        forget(code.keys() - compiled(code))


class InputWatcher:
    """Reads the inputs; installed plugins only after a folder of packages changed."""

    def __init__(self, files: Iterable[Path], *, strangers: bool = True) -> None:
        self.files = [*files]
        self._strangers = strangers
        self._path: tuple[Stamp, ...] | None = None
        self._plugins: list[InstalledPlugin] = []
        self._modules: set[str] = set()

    def look(self) -> Inputs:
        """Return the inputs as they are now."""
        path = tuple(_stamp(Path(folder)) for folder in sys.path)
        if path != self._path:
            self._path = path
            self._plugins = [p for p in installed() if self._strangers or p.builtin]
            owners = {p.distribution: p.point.dist for p in self._plugins if not p.builtin}
            self._modules = {
                name for owner in owners.values() if owner for name in installed_modules(owner)
            }
        known = [*sys.modules]
        return Inputs(
            {file: _stamp(file) for file in self.files},
            {p.id: f"{p.distribution} {p.version} {p.point.value}" for p in self._plugins},
            {name: _code(name, known) for name in self.foreign_packages},
        )

    @property
    def foreign_packages(self) -> set[str]:
        """The packages and modules of plugins that are not built in, all of each distribution."""
        modules = (plugin.module for plugin in self._plugins if not plugin.builtin)
        return {package(module) for module in modules if module} | self._modules


def package(module: str) -> str:
    """Return the package or module of a plugin's module, below any shared namespace."""
    parts = module.split(".")
    for place in range(1, len(parts)):
        name = ".".join(parts[:place])
        if name in sys.modules and getattr(sys.modules[name], "__file__", None):
            return name
    return module


def below(name: str, known: Iterable[str]) -> list[str]:
    """Return the imported modules of a package."""
    return [module for module in known if module == name or module.startswith(f"{name}.")]


def forget(packages: Iterable[str]) -> dict[str, ModuleType]:
    """Drop the imported modules of packages, so that the next import reads the files."""
    importlib.invalidate_caches()
    old = {
        module: sys.modules[module] for name in packages for module in below(name, [*sys.modules])
    }
    for module in old:
        sys.modules.pop(module, None)
    return old


def compiled(packages: Collection[str]) -> set[str]:
    """Return the packages with compiled modules, which cannot be imported twice."""
    known = [*sys.modules]
    return {
        name
        for name in packages
        if any(_file(module).endswith(tuple(EXTENSION_SUFFIXES)) for module in below(name, known))
    }


def _code(name: str, known: Iterable[str]) -> dict[str, Stamp]:
    files = filter(None, (_file(module) for module in below(name, known)))
    return {file: _stamp(Path(file)) for file in files}


def _file(module: str) -> str:
    return str(getattr(sys.modules.get(module), "__file__", None) or "")


def _stamp(file: Path) -> Stamp:
    try:
        status = file.stat()
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
