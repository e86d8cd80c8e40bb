"""The tools, resources and prompts of some surfaces, and their work beside the calls."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property, partial
from operator import methodcaller
from typing import Any, NamedTuple, TypeVar

from fumishirube.config.configuration import Config, LoadedConfig, locating_errors
from fumishirube.errors import AlreadyServed, ConfigError, PluginError
from fumishirube.host.catalog import WARNING, Catalog, ListProfile
from fumishirube.host.context import PipelineContext
from fumishirube.host.crash_marks import ForeignWork
from fumishirube.host.guarded_offers import GuardedOffers
from fumishirube.host.memory import PeerProcesses, SearchMemory
from fumishirube.host.offered_types import check_offers
from fumishirube.host.surfaces import ConfiguredSurface
from fumishirube.optional_attributes import INSTRUCTIONS, SERVER_NAME
from fumishirube.plugins.registry import SURFACES
from fumishirube.surfaces import HasLifespan, SurfaceContext
from fumishirube.tools.definitions import Tool
from fumishirube.tools.pages import paged
from fumishirube.tools.resources import Prompt, Resources, check_prompt, check_resources
from fumishirube.tools.schemas import check_tool

T = TypeVar("T")


class ServedSurface(NamedTuple):
    """A surface with its context; ``read_only`` if only those of its tools are offered that are.

    ``work`` is its crash mark if it is a plugin's.
    """

    configured: ConfiguredSurface
    context: SurfaceContext
    work: ForeignWork | None
    read_only: bool = False


class ToolHost:
    """Surfaces with their contexts; what they offer is made on first use.

    ``problems`` name what is left out. ``contexts`` are those that this host opened itself.
    """

    loaded: LoadedConfig
    config: Config
    guarded: GuardedOffers
    problems: list[str]
    surfaces: Sequence[ConfiguredSurface]
    contexts: Mapping[str, PipelineContext]
    served: Sequence[ServedSurface]
    memory: SearchMemory
    peers: PeerProcesses | None = None

    @cached_property
    def tools(self) -> dict[str, Tool[Any, Any]]:
        """The tools by name; making them may raise :class:`ConfigError`."""
        tools: dict[str, Tool[Any, Any]] = {}
        with self._raise_if_strict():
            for entry, tool in self._offered("tools", Tool):
                if tool.read_only or not entry.read_only:
                    self._add(tools, tool.name, "tool", tool, "a tool of this name", entry)
        return tools

    @cached_property
    def commands(self) -> Mapping[str, Tool[Any, Any]]:
        """The tools for the command line and callers in the process alone, by name."""
        commands: dict[str, Tool[Any, Any]] = {}
        with self._raise_if_strict():
            for _, tool in self._offered("commands", Tool):
                commands.setdefault(tool.name, tool)
        return commands

    @property
    def list_profile(self) -> ListProfile:
        """How this process lists them."""
        from fumishirube.config.process import process_settings  # noqa: PLC0415 - servers only

        settings = process_settings(self.loaded.environ)
        return ListProfile(settings.output_schemas, changing=settings.reload)

    @cached_property
    def _further(self) -> tuple[Sequence[Resources], Sequence[Prompt]]:
        """The resources, one set for each URI scheme, and the prompts, one for each name."""
        by_scheme: dict[str, Resources] = {}
        by_name: dict[str, Prompt] = {}
        with self._raise_if_strict():
            for entry, resources in self._offered("resources", Resources):
                clash, faults = "resources of this scheme", check_resources(resources)
                self._add(by_scheme, resources.scheme, "resources", resources, clash, entry, faults)
            for entry, prompt in self._offered("prompts", Prompt):
                clash, faults = "a prompt of this name", check_prompt(prompt)
                self._add(by_name, prompt.name, "prompt", prompt, clash, entry, faults)
        return tuple(by_scheme.values()), tuple(by_name.values())

    def _offered(self, part: str, kind: type[Any]) -> Iterator[tuple[ServedSurface, Any]]:
        """Yield what the method ``part`` of the surfaces offers; a failure becomes a problem.

        So does anything in a plugin's offer that is not of the ``kind``; the rest of it is guarded.
        Only tools are required.
        """
        for entry in self.served:
            try:
                with self.guarded.building(entry.work), locating_errors(self._places(entry)):
                    # A surface may compute its attributes, which isinstance overlooks since 3.12.
                    surface = entry.configured.surface
                    if part != "tools" and getattr(surface, part, None) is None:
                        continue
                    offered = getattr(surface, part)(entry.context)
                    offers = (offered,) if kind is Resources else tuple(offered)
                    if entry.work is not None:
                        check_offers(offers, kind)
            except PluginError as error:
                problem = f"{error}; its {part} are left out"
                self.guarded.leave_out(problem, entry.work, self.problems)
                continue
            for offer in offers:
                yield entry, self.guarded.offer(kind, offer, entry.work)

    def _places(self, entry: ServedSurface) -> Mapping[str, str]:
        """Return the file and line of each setting; a surface calls its own by their names."""
        written, settings = self.loaded.written, f"{entry.configured.coordinate}.with."
        own = {c.removeprefix(settings): written[c] for c in written if c.startswith(settings)}
        return {**written, **own}

    @cached_property
    def _offering(self) -> dict[str, ServedSurface]:
        """The surface of each offer, by the offer's kind and key."""
        return {}

    def _add(
        self,
        offers: dict[str, T],
        key: str,
        kind: str,
        offer: T,
        clash: str,
        entry: ServedSurface,
        faults: Iterable[str] = (),
    ) -> None:
        """Add an offer; report it as left out for faults, or a name that is taken."""
        reasons, name = [*faults], f"{kind} {key}"
        if key in offers:
            other = self._offering[name] is not entry
            reasons.append(
                f"another surface offers {clash}" if other else f"{clash} is there twice"
            )
        if reasons:
            self._leave_out(name, reasons, entry)
        else:
            offers[key], self._offering[name] = offer, entry

    def _leave_out(self, name: str, reasons: Sequence[str], entry: ServedSurface) -> None:
        """Report an offer as left out, and name the plugin whose surface made it."""
        origin = f" of plugin {entry.work.plugin}" if entry.work else ""
        problem = f"{name}{origin}: left out: {'; '.join(reasons)}"
        self.problems.append(problem)
        self.guarded.note_left_out(problem, entry.work)

    @contextmanager
    def _raise_if_strict(self) -> Iterator[None]:
        """Raise if the body leaves something out, if the configuration is strict."""
        before = len(self.problems)
        yield
        if self.config.strict and self.problems[before:]:
            raise ConfigError("; ".join(self.problems[before:]))

    @property
    def catalog(self) -> Catalog:
        """The catalog for clients: tools, resources, prompts and instructions."""
        return Catalog((*map(paged, self.tools.values()),), *self._further, self.instructions)

    @property
    def listed_from(self) -> tuple[object, ...]:
        """What decides which files clients see, besides the files."""
        config = self.config
        loaders = {surface.name: surface.stages["loaders"] for surface in self.surfaces}
        return config.roots, config.listing, config.limits, self.loaded.own, loaders

    @property
    def instructions(self) -> str:
        """The instructions for a client: those of each surface, and a warning."""
        return " ".join([*filter(None, self.texts(INSTRUCTIONS.name)), WARNING])

    def greet(self) -> None:
        """Note that a client has shaken hands: indexing ahead of the calls need not wait for it."""
        for context in self.contexts.values():
            if background := context.indexer():
                background.greet()

    def drop_faulty_tools(self) -> Catalog:
        """Leave out tools with faulty schemas, report them as problems, and return the catalog.

        One faulty schema would make the whole list of tools unusable. Making the schemas takes
        time, so only faces that send them call this.
        """
        with self._raise_if_strict():
            for name, tool in [*self.tools.items()]:
                if faults := self._faults_of(tool, self._offering[f"tool {name}"]):
                    self._leave_out(f"tool {name}", faults, self._offering[f"tool {name}"])
                    del self.tools[name]
        return self.catalog

    def _faults_of(self, tool: Tool[Any, Any], entry: ServedSurface) -> list[str]:
        try:
            # A plugin may write its own schemas.
            with self.guarded.building(entry.work, "described"):
                return check_tool(tool)
        except PluginError as error:
            return [str(error)]

    def find_left_out(self) -> None:
        """Make what surfaces of plugins offer, so that ``problems`` lists what is left out."""
        if any(entry.work for entry in self.served):
            self.drop_faulty_tools()
            self.texts(SERVER_NAME.name)

    def texts(self, name: str, default: str = "") -> Sequence[str]:
        """Return a text of each surface, or the default; wrong ones are left out as problems."""
        return [self._text(configured, name, default) for configured in self.surfaces]

    def _text(self, configured: ConfiguredSurface, name: str, default: str) -> str:
        work = self.work(configured)
        try:
            with self.guarded.building(work):
                text = getattr(configured.surface, name, default)
                if not isinstance(text, str):
                    raise TypeError(f"{name!r} is of the type {type(text).__name__}")
                text.encode()  # no client gets half of a surrogate pair
                return text
        except PluginError as error:
            self.guarded.leave_out(f"{error}; its {name} are left out", work, self.problems)
            return default

    def close(self, others: Iterable[SearchMemory] = ()) -> None:
        """Close files, except those of the memory that ``others`` still use."""
        for context in self.contexts.values():
            context.close()
        self.memory.close(others)

    @contextmanager
    def lifespan(self) -> Iterator[None]:
        """Start background work, that of surfaces included; faces that serve call this.

        Raises:
            AlreadyServed: when another process does the work of the only surface.
        """
        self.memory.traces.tidy()
        with ExitStack() as stack:
            for configured in [each for each in self.surfaces if each.name in self.contexts]:
                context = self.contexts[configured.name]
                stack.enter_context(context.serving())
                if isinstance(configured.surface, HasLifespan):
                    work = self.work(configured)
                    try:
                        begin = partial(methodcaller("lifespan", context), configured.surface)
                        stack.enter_context(self.guarded.opened(work, begin))
                    except AlreadyServed as error:
                        if error.pid == os.getpid():
                            continue  # the former application, which will release it
                        if self.peers and not self.peers.first:
                            continue  # another process of this server
                        if len(self.surfaces) == 1:
                            raise
                        self.problems.append(f"{configured.name} only reads: {error}")
                    except PluginError as error:
                        problem = f"{error}; it does not go on beside the calls"
                        self.guarded.leave_out(problem, work, self.problems)
            yield

    def work(self, configured: ConfiguredSurface) -> ForeignWork | None:
        """Return the crash mark for a surface of a plugin, or ``None`` for a built-in."""
        return self.guarded.work(SURFACES, configured.plugin, configured.name)
