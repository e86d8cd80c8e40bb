"""The entry points of installed distributions: plugins by name, before any import."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.metadata import Distribution, EntryPoint, entry_points
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

    @property
    def module(self) -> str | None:
        """The module that its entry point names; ``None`` if that is no dotted name."""
        match = EntryPoint.pattern.match(self.point.value)
        return match["module"] if match and all(match["module"].split(".")) else None


def plugin_points() -> list[EntryPoint]:
    """Return the entry points of all versions of the plugin API, in the order of installation."""
    every = entry_points()
    groups = sorted(group for group in every.groups if group.startswith(PREFIX))
    return [point for group in groups for point in every.select(group=group)]


def installed(points: Iterable[EntryPoint] | None = None) -> list[InstalledPlugin]:
    """Return the plugins of this API version, the built-ins first, each with a unique id.

    ``points`` are the :func:`plugin_points`, if the caller has them.
    """
    named = cache(_named)
    points = plugin_points() if points is None else points
    named_points = [(point, *named(point.dist)) for point in points if point.group == GROUP]
    names = Counter(point.name for point, _, _ in named_points)
    own = {point.name for point, dist, _ in named_points if dist == DISTRIBUTION}
    plugins: list[InstalledPlugin] = []
    for point, distribution, version in named_points:
        alone = names[point.name] == 1 or (point.name in own and distribution == DISTRIBUTION)
        name = point.name if alone else f"{distribution}:{point.name}"
        plugins.append(InstalledPlugin(name, point, distribution, version))
    return sorted(plugins, key=lambda plugin: (not plugin.builtin, plugin.id, plugin.point))


def of_other_versions(points: Sequence[EntryPoint]) -> Iterator[tuple[InstalledPlugin, str]]:
    """Yield the plugins of other API versions among entry points, each with a remedy."""
    current = int(GROUP.removeprefix(PREFIX))
    others = [point for point in points if point.group != GROUP and _version(point).isdecimal()]
    if not others:
        return
    named = cache(_named)
    served = {named(point.dist)[0] for point in points if point.group == GROUP and point.dist}
    for point in others:
        name, version = named(point.dist)
        if name in served:
            continue  # it has a plugin for this version too
        older = int(_version(point)) < current
        remedy = f"update {name}" if older else "update fumishirube"
        yield InstalledPlugin(point.name, point, name, version), remedy


def _version(point: EntryPoint) -> str:
    return point.group.removeprefix(PREFIX)


def _named(distribution: Distribution | None) -> tuple[str, str]:
    """Return the name and version of a distribution; parsing its metadata takes time."""
    if distribution is None:
        return "unknown", "unknown"
    metadata = distribution.metadata
    # Half of an installation, or of a removal, has no file of metadata.
    return metadata["Name"] or "unknown", metadata["Version"] or "unknown"
