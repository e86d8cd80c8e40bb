"""The entry points of installed distributions: plugins by name, before any import."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
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


def installed() -> list[InstalledPlugin]:
    """Return the plugins of this API version, the built-ins first, each with a unique id."""
    points = [
        (point, *((dist.name, dist.version) if (dist := point.dist) else ("unknown", "unknown")))
        for point in entry_points(group=GROUP)
    ]
    names = Counter(point.name for point, _, _ in points)
    own = {point.name for point, distribution, _ in points if distribution == DISTRIBUTION}
    installed: list[InstalledPlugin] = []
    for point, distribution, version in points:
        alone = names[point.name] == 1 or (point.name in own and distribution == DISTRIBUTION)
        name = point.name if alone else f"{distribution}:{point.name}"
        installed.append(InstalledPlugin(name, point, distribution, version))
    return sorted(installed, key=lambda plugin: (not plugin.builtin, plugin.id, plugin.point))


def of_other_versions() -> Iterator[tuple[InstalledPlugin, str]]:
    """Yield the plugins of other API versions, each with a remedy."""
    every = entry_points()
    current = int(GROUP.removeprefix(PREFIX))
    served = {point.dist.name for point in every.select(group=GROUP) if point.dist}
    for group in sorted(every.groups):
        version = group.removeprefix(PREFIX)
        if group == GROUP or not group.startswith(PREFIX) or not version.isdecimal():
            continue
        for point in every.select(group=group):
            dist = (point.dist.name, point.dist.version) if point.dist else ("unknown", "unknown")
            if dist[0] in served:
                continue  # it has a plugin for this version too
            remedy = f"update {dist[0]}" if int(version) < current else "update fumishirube"
            yield InstalledPlugin(point.name, point, *dist), remedy
