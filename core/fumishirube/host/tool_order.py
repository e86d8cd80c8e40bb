"""The tools, resources and prompts of all surfaces, in the order in which clients list them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

from fumishirube.errors import PluginError
from fumishirube.host.crash_marks import ForeignWork
from fumishirube.host.fences import Fences
from fumishirube.host.offered_types import check_offers
from fumishirube.surfaces import HasCommands, HasPrompts, HasResources, Surface, SurfaceContext
from fumishirube.tools.definitions import Tool
from fumishirube.tools.prompts import Prompt, check_prompt
from fumishirube.tools.resources import Resources, check_resources

T = TypeVar("T")


class ServedSurface(NamedTuple):
    """A surface with its context, and its fence if it is a plugin's.

    With ``read_only``, only its tools that only read are offered.
    """

    surface: Surface
    context: SurfaceContext
    fences: Fences
    work: ForeignWork | None
    read_only: bool = False

    def offered(
        self,
        part: str,
        offer: Callable[[SurfaceContext], Sequence[T]],
        kind: type[Any],
        problems: list[str],
    ) -> Sequence[T]:
        """Return what the surface offers; a failure becomes a problem and an empty result.

        So does anything in a plugin's offer that is not of the ``kind``.

        Raises:
            PluginError: when it fails, and the configuration is strict.
        """
        try:
            with self.fences.building(self.work):
                offers = tuple(offer(self.context))
                if self.work is not None:
                    check_offers(offers, kind)
                return offers
        except PluginError as error:
            self.fences.leave_out(f"{error}; its {part} are left out", self.work, problems)
            return ()


Served: TypeAlias = Sequence[ServedSurface]


def tools_of(served: Served, problems: list[str]) -> dict[str, Tool[Any, Any]]:
    """Return the tools of all surfaces by name; what is left out is added to the problems."""
    tools: dict[str, Tool[Any, Any]] = {}
    for entry in served:
        for made in entry.offered("tools", entry.surface.tools, Tool, problems):
            if entry.read_only and not made.read_only:
                continue
            tool = entry.fences.tool(made, entry.work)
            _add(tools, f"tool {tool.name}", tool, "a tool of this name", (), problems)
    return {tool.name: tool for tool in tools.values()}


def commands_of(served: Served, problems: list[str]) -> dict[str, Tool[Any, Any]]:
    """Return the tools for the command line and callers in the process alone, by name."""
    commands: dict[str, Tool[Any, Any]] = {}
    for entry in served:
        if isinstance(entry.surface, HasCommands):
            for tool in entry.offered("commands", entry.surface.commands, Tool, problems):
                commands.setdefault(tool.name, entry.fences.tool(tool, entry.work))
    return commands


def resources_of(served: Served, problems: list[str]) -> Sequence[Resources]:
    """Return the resources, one set for each URI scheme; the others become problems."""
    by_scheme: dict[str, Resources] = {}
    for entry in served:
        if isinstance(surface := entry.surface, HasResources):
            offer = _as_sequence(surface.resources)
            for made in entry.offered("resources", offer, Resources, problems):
                resources = entry.fences.resources(made, entry.work)
                clash = "resources of this scheme"
                faults = check_resources(resources)
                _add(by_scheme, f"resources {resources.scheme}", resources, clash, faults, problems)
    return tuple(by_scheme.values())


def _as_sequence(offer: Callable[[SurfaceContext], T]) -> Callable[[SurfaceContext], Sequence[T]]:
    return lambda context: (offer(context),)


def prompts_of(served: Served, problems: list[str]) -> Sequence[Prompt]:
    """Return the prompts, one for each name; the others become problems."""
    by_name: dict[str, Prompt] = {}
    for entry in served:
        if isinstance(surface := entry.surface, HasPrompts):
            for made in entry.offered("prompts", surface.prompts, Prompt, problems):
                prompt = entry.fences.prompt(made, entry.work)
                clash, faults = "a prompt of this name", check_prompt(prompt)
                _add(by_name, f"prompt {prompt.name}", prompt, clash, faults, problems)
    return tuple(by_name.values())


def _add(
    offers: dict[str, T],
    name: str,
    offer: T,
    clash: str,
    faults: Iterable[str],
    problems: list[str],
) -> None:
    """Add an offer under its name; report it as left out for faults, or a name that is taken."""
    reasons = [*faults, *([f"another surface offers {clash}"] if name in offers else [])]
    if reasons:
        problems.append(f"{name}: left out: {'; '.join(reasons)}")
    else:
        offers[name] = offer
