"""The tools, resources and prompts of some surfaces, and their work beside the calls."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import Any

from fumishirube.config.configuration import Config, LoadedConfig
from fumishirube.errors import AlreadyServed, ConfigError, PluginError
from fumishirube.host.catalog import Catalog, ListProfile
from fumishirube.host.context import PipelineContext
from fumishirube.host.crash_marks import ForeignWork
from fumishirube.host.fences import Fences
from fumishirube.host.memory import SearchMemory
from fumishirube.host.peers import PeerProcesses
from fumishirube.host.surfaces import ConfiguredSurface
from fumishirube.host.tool_order import (
    ServedSurface,
    commands_of,
    prompts_of,
    resources_of,
    tools_of,
)
from fumishirube.surfaces import HasLifespan
from fumishirube.tools.definitions import Tool
from fumishirube.tools.list_pages import paged
from fumishirube.tools.prompts import Prompt
from fumishirube.tools.resources import Resources
from fumishirube.tools.schemas import check_tool


class ToolHost:
    """Surfaces with their contexts; what they offer is made on first use.

    ``problems`` name what is left out. ``contexts`` are those that this host opened itself.
    """

    loaded: LoadedConfig
    config: Config
    fences: Fences
    problems: list[str]
    surfaces: Sequence[ConfiguredSurface]
    contexts: Mapping[str, PipelineContext]
    served: Sequence[ServedSurface]
    memory: SearchMemory
    peers: PeerProcesses | None = None

    @cached_property
    def tools(self) -> dict[str, Tool[Any, Any]]:
        """The tools by name; making them may raise :class:`ConfigError`."""
        with self._raise_if_strict():
            return tools_of(self.served, self.problems)

    @cached_property
    def commands(self) -> Mapping[str, Tool[Any, Any]]:
        """The tools for the command line and callers in the process alone, by name."""
        with self._raise_if_strict():
            return commands_of(self.served, self.problems)

    @property
    def list_profile(self) -> ListProfile:
        """How this process lists them."""
        from fumishirube.config.process import process_settings  # noqa: PLC0415 - servers only

        settings = process_settings(self.loaded.environ)
        return ListProfile(settings.output_schemas, changing=settings.reload)

    @cached_property
    def _further(self) -> tuple[Sequence[Resources], Sequence[Prompt]]:
        with self._raise_if_strict():
            return resources_of(self.served, self.problems), prompts_of(self.served, self.problems)

    @contextmanager
    def _raise_if_strict(self) -> Iterator[None]:
        """Raise if the body leaves something out, if the configuration is strict."""
        before = len(self.problems)
        yield
        if self.config.strict and self.problems[before:]:
            raise ConfigError("; ".join(self.problems[before:]))

    @property
    def catalog(self) -> Catalog:
        """The catalog for clients: tools, resources and prompts."""
        return Catalog((*map(paged, self.tools.values()),), *self._further)

    def drop_faulty_tools(self) -> Catalog:
        """Leave out tools with faulty schemas, report them as problems, and return the catalog.

        One faulty schema would make the whole list of tools unusable. Making the schemas takes
        time, so only faces that send them call this.
        """
        with self._raise_if_strict():
            for name, tool in [*self.tools.items()]:
                if faults := check_tool(tool):
                    self.problems.append(f"tool {name}: left out: {'; '.join(faults)}")
                    del self.tools[name]
        return self.catalog

    def find_left_out(self) -> None:
        """Make what surfaces of plugins offer, so that ``problems`` lists what is left out."""
        if any(entry.work for entry in self.served):
            self.drop_faulty_tools()
            for name in ("instructions", "server_name"):
                self.texts(name)

    def texts(self, name: str, default: str = "") -> Sequence[str]:
        """Return a text of each surface, or the default; wrong ones are left out as problems."""
        return [self._text(configured, name, default) for configured in self.surfaces]

    def _text(self, configured: ConfiguredSurface, name: str, default: str) -> str:
        work = self.work(configured)
        try:
            with self.fences.building(work):
                text = getattr(configured.surface, name, default)
                if not isinstance(text, str):
                    raise TypeError(f"{name!r} is of the type {type(text).__name__}")
                return text
        except PluginError as error:
            self.fences.leave_out(f"{error}; its {name} are left out", work, self.problems)
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
        with ExitStack() as stack:
            for configured in self.surfaces:
                if configured.name not in self.contexts:
                    continue
                context = self.contexts[configured.name]
                stack.enter_context(context.serving())
                if isinstance(configured.surface, HasLifespan):
                    work = self.work(configured)
                    try:
                        with self.fences.building(work):
                            stack.enter_context(configured.surface.lifespan(context))
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
                        self.fences.leave_out(problem, work, self.problems)
            yield

    def work(self, configured: ConfiguredSurface) -> ForeignWork | None:
        """Return the crash mark for a surface of a plugin, or ``None`` for a built-in."""
        return self.fences.work("surfaces", type(configured.surface), configured.name)

    def fenced(
        self, configured: ConfiguredSurface, context: PipelineContext, *, read_only: bool = False
    ) -> ServedSurface:
        """Return a surface with its context; only its tools that only read if ``read_only``."""
        work = self.work(configured)
        return ServedSurface(configured.surface, context, self.fences, work, read_only)
