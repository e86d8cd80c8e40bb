"""The composition root: configuration -> stages -> pipelines -> tools."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from fumishirube.config.classic import settings, takes
from fumishirube.config.classic_surfaces import adopting
from fumishirube.config.configuration import (
    PIPELINE_KEYS,
    SINGLE_KINDS,
    Loaded,
    PipelineSpec,
    Use,
    build,
    load_config,
)
from fumishirube.config.notices import absent, outdated, standing, without_effect
from fumishirube.disk.roots import Root
from fumishirube.disk.survey import Limits
from fumishirube.engine.pipeline import Named
from fumishirube.errors import ConfigError, Held, NotFound, ToolError
from fumishirube.host.catalog import Menu, commands_of, prompts_of, resources_of, tools_of
from fumishirube.host.context import WorkDesk
from fumishirube.host.memory import Memory
from fumishirube.host.surfaces import Furnished, Shared
from fumishirube.model import Tool, Trace
from fumishirube.plugins.discovery import DISTRIBUTION, Plugins, load_plugins
from fumishirube.surfaces import Living
from fumishirube.tools.prompts import Prompt
from fumishirube.tools.resources import Resources
from fumishirube.tools.schemas import check_tool

_log = logging.getLogger("fumishirube")


class Application:
    """Everything that a face needs: the tools, and what is wrong.

    It takes over what a ``former`` one remembers, which may go on beside it.

    Raises:
        ConfigError: when the configuration asks for what is not there.
    """

    def __init__(self, loaded: Loaded, plugins: Plugins, former: Application | None = None) -> None:
        self.loaded = loaded = adopting(loaded, plugins.registry)
        self.plugins = plugins
        self.config = loaded.config
        self.problems = list(plugins.problems)
        self.warnings = [*without_effect(loaded), *loaded.sections.warnings]
        self.limits = Limits(**self.config.limits.model_dump())
        self.state = Root(loaded.folder("state"), self.limits)
        self.desks: dict[str, WorkDesk] = {}
        self.memory: Memory = self._remember(former.memory if former else None)
        self.traces = self.memory.traces
        with ExitStack() as half:
            half.callback(self.close, [former.memory] if former else [])
            self._build()
            half.pop_all()

    def _build(self) -> None:
        """Furnish the surfaces; what they offer is made when it is asked for."""
        self.surfaces = [
            self._furnish(use, f"surfaces[{place}]")
            for place, use in enumerate(self.config.surfaces)
        ]
        _check_distinct([one.name for one in self.surfaces], "surfaces")
        self._check_names()
        self.absent = [*absent(self.loaded, {one.surface.root for one in self.surfaces})]
        for furnished in self.surfaces:
            self.desks[furnished.name] = self._desk(furnished)
        self._served = [(one.surface, self.desks[one.name]) for one in self.surfaces]

    @cached_property
    def tools(self) -> dict[str, Tool[Any, Any]]:
        """The tools by name; making them may raise a :class:`ConfigError` too."""
        return tools_of(self._served, self.problems)

    @cached_property
    def commands(self) -> Mapping[str, Tool[Any, Any]]:
        """What only the command line and callers in the process are offered, by name."""
        return commands_of(self._served)

    @cached_property
    def _further(self) -> tuple[Sequence[Resources], Sequence[Prompt]]:
        return resources_of(self._served, self.problems), prompts_of(self._served, self.problems)

    @property
    def menu(self) -> Menu:
        """What a server offers its clients: the tools that are left, resources and prompts."""
        return Menu((*self.tools.values(),), *self._further)

    def drop_faulty_tools(self) -> Menu:
        """Leave out the tools that a client could not take; what is wrong joins the problems.

        One bad schema would take the whole list of tools down. Making the schemas takes time, so
        only faces that hand them out ask for it. What remains is returned.
        """
        for name, tool in [*self.tools.items()]:
            if faults := check_tool(tool):
                self.problems.append(f"tool {name}: left out: {'; '.join(faults)}")
                del self.tools[name]
        return self.menu

    def passed_over(self) -> Sequence[str]:
        """Say which folders are no manuals although they may be meant to be."""
        told = set()
        for one in (one for one in self.surfaces if one.of_manuals):
            with suppress(ToolError):  # a root that cannot be read has a finding of its own
                folders = self.desks[one.name].passed_over()
                told |= {f"{one.surface.root}/{name}: no manual: {why}" for name, why in folders}
        return sorted(told)

    def observe(self, trace: Trace) -> None:
        """Tell the observers of a finished search; none of them can disturb it."""
        for implementation in self.plugins.manager.hook.search_finished.get_hookimpls():
            try:
                implementation.function(trace)
            except Exception:
                _log.exception("observer %r failed", implementation.plugin_name)

    @contextmanager
    def lifespan(self) -> Iterator[None]:
        """Begin what goes on beside the calls, surfaces included; faces that serve do this.

        Raises:
            Held: when another process does all that this one would.
        """
        with ExitStack() as going:
            for furnished in self.surfaces:
                desk = self.desks[furnished.name]
                going.enter_context(desk.serving())
                if isinstance(furnished.surface, Living):
                    try:
                        going.enter_context(furnished.surface.lifespan(desk))
                    except Held as error:
                        if error.pid == os.getpid():
                            continue  # what this one takes the place of; it will let go
                        if len(self.surfaces) == 1:
                            raise
                        self.problems.append(f"{furnished.name} only reads: {error}")
            yield

    def close(self, others: Iterable[Memory] = ()) -> None:
        """Let go of files, but for those of the memory that ``others`` still use."""
        for desk in self.desks.values():
            desk.close()
        self.memory.close(others)

    def _furnish(self, use: Use, coordinate: str) -> Furnished:
        surface = self._stage("surfaces", use, coordinate)
        named = getattr(surface.stage, "pipeline_name", None) or use.name
        given = self.config.pipelines.get(named, PipelineSpec())
        default = PipelineSpec.model_validate(dict(surface.stage.pipeline))
        stages: dict[str, list[Named[Any]]] = {}
        for shelf, key in PIPELINE_KEYS.items():
            chosen = getattr(given, key)
            chosen = getattr(default, key) if chosen is None else chosen
            stages[shelf] = self._stages(shelf, chosen, f"pipelines.{named}.{key}")
        return Furnished(use.name, surface.stage, stages, named, self.plugins)

    def _stages(
        self, shelf: str, chosen: Use | tuple[Use, ...] | None, coordinate: str
    ) -> list[Named[Any]]:
        if chosen is None:
            return []
        if shelf in SINGLE_KINDS:
            assert isinstance(chosen, Use)
            return [self._stage(shelf, chosen, coordinate)]
        assert isinstance(chosen, tuple)
        named = [
            self._stage(shelf, use, f"{coordinate}[{place}]") for place, use in enumerate(chosen)
        ]
        _check_distinct([one.name for one in named], coordinate)
        return named

    def _stage(self, shelf: str, use: Use, coordinate: str) -> Named[Any]:
        offer = self.plugins.registry[shelf].take(use.use, coordinate)
        loaded, where = self.loaded, f"{coordinate}.with"
        given = settings(offer.stage, use.settings, loaded.sections, where)
        stage = build(offer.stage, given, where, loaded.environ, loaded.origins)
        self.warnings += outdated(stage, where)
        return Named(use.name, stage)

    def _check_names(self) -> None:
        if self.loaded.alone_as:
            return  # pipelines of the other surfaces are nobody's here
        known = [furnished.pipeline_name for furnished in self.surfaces]
        for name in self.config.pipelines:
            if name not in known:
                raise ConfigError(
                    f"pipelines.{name}: no surface has this name; there are: {', '.join(known)}"
                )

    def _desk(self, furnished: Furnished) -> WorkDesk:
        shared = Shared(
            state=self.state,
            traces=self.traces,
            cache=self.memory.cache,
            statistics=self.memory.statistics,
            observe=self.observe,
            folder=self.loaded.folder,
            embedder=lambda name: self._stage("embedders", Use(use=name), "embedder"),
            cached=self.config.cache.enabled,
            versions=self.plugins.code,
            strict=self.config.strict,
        )
        folder = self.loaded.folder(furnished.surface.root)
        root = Root(folder, self.limits, listing=self.config.listing.listing)
        return WorkDesk(furnished, root, shared)

    def _remember(self, former: Memory | None) -> Memory:
        """Return the memory; its statistics watch every search as the observers of plugins do."""
        origin = self.loaded.origins.get("cache.embedder", "cache.embedder")
        use = Use(use=self.config.cache.embedder)
        folder = self._trace_folder() if self.config.traces.files else None
        memory = Memory.of(
            self.loaded,
            folder,
            lambda: self._stage("embedders", use, origin).stage,
            self.plugins.code,
            former,
        )
        self.plugins.manager.register(memory.statistics, f"{DISTRIBUTION} statistics")
        return memory

    def _trace_folder(self) -> Path | None:
        """Return where traces are written: nowhere when what has that name leads elsewhere."""
        try:
            self.state.child("traces")
        except NotFound:
            pass  # the first trace makes it
        except ToolError as error:
            self.warnings.append(f"roots.state: traces are not kept as files: {error}")
            return None
        return self.state.path / "traces"


def _check_distinct(names: Sequence[str], coordinate: str) -> None:
    for place, name in enumerate(names):
        if name in names[:place]:
            raise ConfigError(
                f"{coordinate}[{place}]: {name!r} is used twice; give one of them another 'as'"
            )


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
) -> Application:
    """Read the configuration of a workspace, load the plugins, and build what it asks for.

    ``only`` names a surface to be built alone, configured or not, and settings that it must have.
    A ``former`` application is one whose place this one takes in a process that goes on;
    ``revision`` tells how often the code of plugins has been imported anew.

    Raises:
        ConfigError: when that cannot be done, or the folder holds nothing to work with, unless an
            ``empty`` one will do.
        PluginError: when a plugin of the former application cannot be loaded any more.
    """
    loaded = load_config(workspace, file, environ)
    plugins = load_plugins(strangers=strangers, revision=revision)
    if former is not None:
        plugins.check_against(former.plugins)
    known = {offer.name: offer.stage for offer in plugins.registry["surfaces"]}
    if any(use.use in known and takes(known[use.use]) for use in loaded.config.surfaces):
        loaded = load_config(workspace, file, environ, classic=True)
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
    loaded, kept = standing(loaded, former.loaded)
    application = Application(loaded, plugins, former)
    application.warnings += kept
    return application
