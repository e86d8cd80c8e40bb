"""The composition root: from configuration to stages, pipelines and tools."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from fumishirube.config.classic import with_classic_values
from fumishirube.config.classic_surfaces import unread_classic, with_classic_settings
from fumishirube.config.configuration import LoadedConfig, locating_errors
from fumishirube.config.environment import refuse_unknown_names
from fumishirube.config.notices import absent, deprecated_settings, without_effect
from fumishirube.config.outside import (
    ALWAYS_USED,
    outside_roots,
    outside_settings,
    outside_statistics,
)
from fumishirube.config.personal import OwnManuals
from fumishirube.config.pipelines import (
    PIPELINE_KEYS,
    SINGLE_KINDS,
    PipelineSpec,
    Use,
    check_distinct,
    check_list,
    listed_uses,
)
from fumishirube.config.sections import NO_EMBEDDER, RootSettings
from fumishirube.config.validation import build_model
from fumishirube.disk.own_files import state_folder
from fumishirube.disk.rights import FolderRights, Rights
from fumishirube.disk.roots import Root
from fumishirube.disk.survey import RootLimits
from fumishirube.engine.pipeline import NamedStage
from fumishirube.errors import ConfigError, NotFound, PluginError, ToolError, did_you_mean
from fumishirube.host.context import PipelineContext
from fumishirube.host.guarded_offers import GuardedOffers
from fumishirube.host.memory import PeerProcesses, SearchMemory
from fumishirube.host.offered_types import check_stage, check_surface
from fumishirube.host.plugin_guard import PluginGuard
from fumishirube.host.surfaces import (
    MANUALS,
    ConfiguredSurface,
    SharedServices,
    default_pipeline_name,
    how_to_offer,
)
from fumishirube.host.tool_host import ServedSurface, ToolHost
from fumishirube.host.useless_stages import check_stages, unused_glossary
from fumishirube.optional_attributes import PIPELINE_NAME
from fumishirube.plugins.discovery import Plugins
from fumishirube.plugins.registry import LOADERS, NOUNS, SURFACES
from fumishirube.stages import Embedder
from fumishirube.surfaces import HasDefaultLoaders, Surface
from fumishirube.traces.store import ArchivesTraces, ScopedArchive, TraceArchive, TraceStore

_log = logging.getLogger("fumishirube")


class Application(ToolHost):
    """The surfaces of a configuration, with their tools, problems and warnings.

    It takes over caches and traces of a ``former`` application, which may still run. ``peers`` are
    the other processes of a server, if it has several.

    Raises:
        ConfigError: when the configuration names something that does not exist.
    """

    def __init__(
        self,
        loaded: LoadedConfig,
        plugins: Plugins,
        former: Application | None = None,
        peers: PeerProcesses | None = None,
    ) -> None:
        self.peers = former.peers if former else peers
        self.as_read = loaded
        self._requested = "surfaces" in loaded.config.model_fields_set
        loaded = loaded.with_default_surfaces(plugins.registry.defaults(SURFACES))
        self._unadopted: dict[str, BaseException] = {}
        loaded = with_classic_settings(loaded, plugins.registry, self._unadopted)
        self.loaded = loaded
        self.plugins = plugins
        self.config = loaded.config
        self.problems = list(plugins.problems)
        self.warnings = [*without_effect(loaded), *loaded.sections.warnings]
        self.warnings += unread_classic(loaded, plugins.registry)
        self.limits = RootLimits(**self.config.limits.model_dump())
        self.outside = [*outside_roots(loaded, ALWAYS_USED), *outside_statistics(loaded)]
        loaded.trust.check(self.outside)
        self.state = Root(loaded.folder("state"), self.limits, private=True)
        self.guard: PluginGuard = PluginGuard(
            self.state.path, plugins, former.guard if former else None
        )
        self.guarded = GuardedOffers(plugins, self.guard, strict=self.config.strict)
        self._observers = [
            (plugin, self.guarded.observer(plugin, hook)) for plugin, hook in plugins.observers()
        ]
        self.contexts: dict[str, PipelineContext] = {}
        before = former.memory if former else None
        self.memory = self.memory_in(self.trace_folder("traces"), loaded.statistics(), before)
        self.traces = self.memory.traces
        self._archive: TraceArchive | None = None
        with ExitStack() as stack:
            stack.callback(self.close, [former.memory] if former else [])
            with locating_errors(loaded.written):
                self._build()
            self._archive = self._open_archive()
            self.share_traces(self.traces)
            stack.pop_all()

    def _build(self) -> None:
        """Build the surfaces; their tools are made on first use."""
        check_distinct(self.config.surfaces, "surfaces")
        built = [
            self._build_surface(use, f"surfaces[{place}]")
            for place, use in enumerate(self.config.surfaces)
        ]
        self.surfaces = [surface for surface in built if surface is not None]
        offered = {offer.name: offer.stage for offer in self.plugins.registry["surfaces"]}
        used = [offered[use.use] for use in self.config.surfaces if use.use in offered]
        refuse_unknown_names(used, [*offered.values()], self.loaded.environ)
        self._check_names()
        self._check_trust()
        self.absent = [*absent(self.loaded, {surface.surface.root for surface in self.surfaces})]
        for configured in self.surfaces:
            root = self.root(configured.surface.root)
            context = PipelineContext(configured, root, self.shared(self.memory))
            self.contexts[configured.name] = context
        if self.loaded.glossary.meanings:
            self.warnings += unused_glossary(self.surfaces, self.plugins.registry, self.guarded)
        self.served = [
            ServedSurface(surface, self.contexts[surface.name], self.work(surface))
            for surface in self.surfaces
        ]

    def loose_files(self) -> Sequence[str]:
        """Return the files beside the manuals, each below the name of their root."""
        return self._of_manuals(lambda context: context.loose_files())

    def rejected_folders(self) -> Sequence[str]:
        """Return why folders are not manuals that may be meant to be."""
        return self._of_manuals(
            lambda context: (
                f"{name}: no manual: {why}" for name, why in context.library.rejected_folders()
            )
        )

    def _of_manuals(self, listed: Callable[[PipelineContext], Iterable[str]]) -> Sequence[str]:
        """Return what the contexts of manuals list, below the names of their roots."""
        lines: set[str] = set()
        for surface in (surface for surface in self.surfaces if surface.of_manuals):
            with suppress(ToolError):  # an unreadable root is reported elsewhere
                names = listed(self.contexts[surface.name])
                lines |= {f"{surface.surface.root}/{name}" for name in names}
        return sorted(lines)

    def close(self, others: Iterable[SearchMemory] = ()) -> None:
        """Close files, except those of the memory that ``others`` still use."""
        super().close(others)
        self.guard.close()
        if self._archive is not None:
            self._archive.close()

    def share_traces(self, store: TraceStore, scope: str = "") -> None:
        """Let other servers with the same index read a store's traces, by the same scope."""
        store.archive = ScopedArchive(self._archive, scope) if self._archive else None

    def _open_archive(self) -> TraceArchive | None:
        """Return the archive of the first index that has one, if traces are to be written."""
        for surface in self.surfaces if self.config.traces.files else ():
            for named in surface.indexes:
                if isinstance(named.stage, ArchivesTraces):
                    return named.stage.open_archive(self.config.traces.seconds)
        return None

    def _build_surface(self, use: Use, coordinate: str) -> ConfiguredSurface | None:
        """Build a surface; leave out one of a plugin, or a default one, that cannot be built."""
        offer = self.plugins.take("surfaces", use.use, coordinate)
        work = self.guarded.work(SURFACES, offer.plugin, use.name)
        try:
            with self.guarded.building(work):
                if use.name in self._unadopted:
                    raise self._unadopted[use.name]
                return self._configure(use, coordinate)
        except PluginError as error:
            self.guarded.leave_out(f"{coordinate}: {error}; it is left out", work, self.problems)
            return None

    def _configure(self, use: Use, coordinate: str) -> ConfiguredSurface:
        surface = self._stage("surfaces", use, coordinate)
        work = self.guarded.work(SURFACES, surface.plugin, use.name)
        check_surface(surface.stage, [*RootSettings.model_fields])
        named = PIPELINE_NAME.of(surface.stage) or use.name
        spec = self.config.pipelines.get(named, PipelineSpec())
        with self.guarded.settled(work, requested=True):
            default = self._default_pipeline(surface.stage)
            default_spec = build_model(PipelineSpec, default, "its own pipeline", {}, {})
        stages: dict[str, list[NamedStage[Any]]] = {}
        for kind_name, key in PIPELINE_KEYS.items():
            where = f"pipelines.{named}.{key}"
            if getattr(spec, key) is None:
                with self.guarded.settled(work, requested=self._requested):
                    stages[kind_name] = self._stages(kind_name, default_spec, PipelineSpec(), where)
            else:
                stages[kind_name] = self._stages(kind_name, spec, default_spec, where)
        check_stages(
            surface, spec, stages, f"pipelines.{named}", self.plugins.registry, self.guarded
        )
        of_default = use.name in self.plugins.registry.defaults(SURFACES)
        return ConfiguredSurface(
            use.name,
            surface.stage,
            surface.plugin,
            coordinate,
            stages,
            named,
            self.plugins,
            of_default,
        )

    def _default_pipeline(self, surface: Surface) -> dict[str, Any]:
        pipeline = dict(surface.pipeline)
        if isinstance(surface, HasDefaultLoaders):
            registered = self.plugins.registry.defaults(LOADERS)
            pipeline["loaders"] = [*surface.default_loaders(registered)]
        return pipeline

    def _stages(
        self, kind_name: str, spec: PipelineSpec, default: PipelineSpec, coordinate: str
    ) -> list[NamedStage[Any]]:
        key = PIPELINE_KEYS[kind_name]
        chosen = [*spec.uses(key)]
        if kind_name not in SINGLE_KINDS:
            check_list([use for _, use in chosen], coordinate)
            chosen = [*listed_uses(chosen, [use for _, use in default.uses(key)])]
        return [self._stage(kind_name, use, f"{coordinate}{place}") for place, use in chosen]

    def _stage(self, kind_name: str, use: Use, coordinate: str) -> NamedStage[Any]:
        offer = self.plugins.take(kind_name, use.use, coordinate)
        loaded, where = self.loaded, f"{coordinate}.with"
        making = self.guarded.configuring(kind_name, offer.plugin, use.name, coordinate)
        if kind_name == SURFACES and not self._requested:
            making = self.guarded.building(self.guarded.work(kind_name, offer.plugin, use.name))
        values, places = with_classic_values(
            offer.stage, use.settings, loaded.sections, where, loaded.written
        )
        loaded.written.update(places)
        with locating_errors(places), making:
            stage = build_model(offer.stage, values, where, loaded.environ, loaded.origins)
            if self.guarded.work(kind_name, offer.plugin, use.name):
                check_stage(stage)
        self.warnings += deprecated_settings(stage, where)
        return NamedStage(use.name, stage, offer.plugin, coordinate=coordinate)

    def _check_trust(self) -> None:
        """Raise unless all that leads out of the workspace, or opens access, is trusted."""
        used = {surface.surface.root for surface in self.surfaces} - set(ALWAYS_USED)
        self.outside += outside_roots(self.loaded, used)
        for surface in self.surfaces:
            stages = [(each.coordinate, each.stage) for each in chain(*surface.stages.values())]
            for coordinate, stage in [(surface.coordinate, surface.surface), *stages]:
                if isinstance(stage, BaseModel):
                    self.outside += outside_settings(self.loaded, stage, f"{coordinate}.with")
        self.loaded.trust.check(self.outside)

    def _check_names(self) -> None:
        if self.loaded.alone_as:
            return  # other surfaces are ignored, and so are their pipelines
        built = {configured.name for configured in self.surfaces}
        left_out = {use.name for use in self.config.surfaces} - built
        known = left_out | {configured.pipeline_name for configured in self.surfaces}
        offers = self.plugins.registry[SURFACES]
        others = {default_pipeline_name(offer.stage, offer.name): offer.name for offer in offers}
        for name in self.config.pipelines:
            if name not in known:
                hint = did_you_mean(name, sorted(known))
                if name in others:
                    hint = how_to_offer(others[name], self.loaded, self.surfaces)
                raise ConfigError(f"no surface has this name; {hint}", at=f"pipelines.{name}")

    def root(self, name: str) -> Root:
        """Return a root of surfaces."""
        return Root(self.loaded.folder(name), self.limits, listing=self.config.listing.listing)

    def shared(
        self, memory: SearchMemory, rights: Rights | None = None, view: str = ""
    ) -> SharedServices:
        """Return the services of all surfaces, with the memory and rights of a person or of all."""
        return SharedServices(
            loaded=self.loaded,
            state=self.state,
            memory=memory,
            observers=tuple(self._observers),
            stage=lambda kind_name, name, settings: self._stage(
                kind_name, Use.model_validate({"use": name, "with": settings}), NOUNS[kind_name]
            ),
            guarded=self.guarded,
            leads=self.peers.leads if self.peers else None,
            own=self._own(rights),
            rights=rights,
            view=view,
        )

    def _own(self, rights: Rights | None) -> OwnManuals:
        """Return the manuals outside the workspace, as far as the rights go."""
        own = self.loaded.own
        if rights is None:
            return own
        to = rights.get(MANUALS, FolderRights())
        readable = {name: folder for name, folder in own.folders.items() if to.readable(name)}
        return replace(own, folders=readable)

    def memory_in(
        self, traces: Root | None, statistics: Path, former: SearchMemory | None
    ) -> SearchMemory:
        """Return a memory with a folder of traces, and a file of statistics."""
        memory = SearchMemory.of(
            self.loaded, traces, statistics, self._cache_embedder, self.plugins.code, former
        )
        if self.peers:
            self.peers.share(statistics, memory.traces)
        return memory

    def _cache_embedder(self, opening: ExitStack) -> Embedder | None:
        """Return the running embedder of the cache, guarded; the stack closes it."""
        name = self.config.cache.embedder
        if name == NO_EMBEDDER and name not in self.plugins.registry["embedders"]:
            return None  # the plugin with the embedder of this name is not installed
        origin = self.loaded.origins.get("cache.embedder", "cache.embedder")
        named = self._stage("embedders", Use(use=name), origin)
        embedder: Embedder = self.guarded.running("embedders", named, opening).stage
        return embedder

    def trace_folder(self, path: str) -> Root | None:
        """Return a folder of state for traces; ``None`` without any, or if a link leads there."""
        if not self.config.traces.files:
            return None
        try:
            self.state.child(path)
        except NotFound:
            pass  # created with the first trace
        except ToolError as error:
            self.warnings.append(f"roots.state: traces are not written to files: {error}")
            return None
        return state_folder(self.state.path, path)
