"""The entry points of installed distributions: plugins by name, before any import."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from importlib.metadata import Distribution, EntryPoint, EntryPoints, entry_points
from typing import NamedTuple

from fumishirube.plugins.hookspecs import GROUP

DISTRIBUTION = "fumishirube"
"""The distribution whose own plugins are the built-ins."""

PREFIX = "fumishirube.v"
"""The beginning of the groups of all versions of the plugin API."""


class InstalledPlugin(NamedTuple):
    """An entry point, with an id: its name, or its distribution and name."""

    id: str
    point: EntryPoint
    distribution: str
    version: str

    @property
    def builtin(self) -> bool:
        """Whether it comes with the framework."""
        return self.distribution == DISTRIBUTION

    def mentions(self, name: str) -> bool:
        """Tell whether the source of its distribution contains a name in quotes."""
        quoted = (f'"{name}"', f"'{name}'")
        for file in (self.point.dist.files if self.point.dist else None) or ():
            if file.suffix == ".py":
                try:
                    source = file.read_text(encoding="utf-8")
                except (OSError, ValueError):
                    continue
                if any(word in source for word in quoted):
                    return True
        return False


def installed(every: EntryPoints | None = None) -> list[InstalledPlugin]:
    """Return the plugins of this API version, the built-ins first, each with a unique id.

    ``every`` are all entry points, if the caller has them: to find them takes milliseconds.
    """
    named = _Distributions()
    every = entry_points() if every is None else every
    points = [(point, *named.of(point)) for point in every.select(group=GROUP)]
    names = Counter(point.name for point, _, _ in points)
    own = {point.name for point, distribution, _ in points if distribution == DISTRIBUTION}
    installed: list[InstalledPlugin] = []
    for point, distribution, version in points:
        alone = names[point.name] == 1 or (point.name in own and distribution == DISTRIBUTION)
        name = point.name if alone else f"{distribution}:{point.name}"
        installed.append(InstalledPlugin(name, point, distribution, version))
    return sorted(installed, key=lambda plugin: (not plugin.builtin, plugin.id, plugin.point))


def of_other_versions(every: EntryPoints) -> Iterator[tuple[InstalledPlugin, str]]:
    """Yield the plugins of other API versions among all entry points, each with a remedy."""
    current = int(GROUP.removeprefix(PREFIX))
    others = {
        group: int(version)
        for group in every.groups
        if group.startswith(PREFIX)
        and (version := group.removeprefix(PREFIX)).isdecimal()
        and group != GROUP
    }
    if not others:
        return
    named = _Distributions()
    served = {named.of(point).name for point in every.select(group=GROUP) if point.dist}
    for group, version in sorted(others.items()):
        for point in every.select(group=group):
            dist = named.of(point)
            if dist.name in served:
                continue  # it has a plugin for this version too
            remedy = f"update {dist.name}" if version < current else "update fumishirube"
            yield InstalledPlugin(point.name, point, *dist), remedy


class _Named(NamedTuple):
    name: str
    version: str


class _Distributions:
    """The names and versions of distributions, whose metadata is parsed once, not at each use."""

    def __init__(self) -> None:
        self._named: dict[Distribution, _Named] = {}

    def of(self, point: EntryPoint) -> _Named:
        """Return those of the distribution of an entry point."""
        dist = point.dist
        if dist is None:
            return _Named("unknown", "unknown")
        if dist not in self._named:
            metadata = dist.metadata
            self._named[dist] = _Named(metadata["Name"], metadata["Version"])
        return self._named[dist]
