"""A configured surface with its stages, and the services that all surfaces share."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from threading import Event
from typing import Any, NamedTuple

from pydantic import JsonValue

from fumishirube import stages as protocols
from fumishirube.config.configuration import LoadedConfig
from fumishirube.config.personal import OwnManuals
from fumishirube.config.pipelines import PIPELINE_KEYS, SINGLE_KINDS
from fumishirube.disk.rights import FolderRights, Rights
from fumishirube.disk.roots import Root
from fumishirube.engine.pipeline import NamedStage
from fumishirube.errors import ConfigError
from fumishirube.host.guarded_offers import GuardedOffers
from fumishirube.host.memory import SearchMemory
from fumishirube.optional_attributes import AS_WRITTEN, NEEDS, PIPELINE_NAME
from fumishirube.plugins.discovery import Plugins
from fumishirube.plugins.registry import SURFACES, StageRegistry
from fumishirube.plugins.source_digests import source_digest
from fumishirube.stages import Stage
from fumishirube.surfaces import Surface
from fumishirube.text.folding import FOLDING
from fumishirube.traces.records import PipelineSnapshot, Trace

MANUALS = "manuals"
"""The root whose folders are manuals."""

OWN_FOLDERS = ("workspace", "state", "runtime")
"""Folders for what surfaces store themselves, which are no subject of rights."""


def default_pipeline_name(surface: type[Stage], name: str) -> str:
    """Return the key that the stages of a surface of this name have unless it is configured."""
    field = surface.model_fields.get(PIPELINE_NAME.name)
    key = field.default if field else PIPELINE_NAME.of(surface)
    return key if isinstance(key, str) else name


class RunningStages(NamedTuple):
    """The running stages of a surface by kind, in order; those of plugins are guarded."""

    loaders: Sequence[NamedStage[protocols.Loader]]
    tokenizers: Sequence[NamedStage[protocols.Tokenizer]]
    embedders: Sequence[NamedStage[protocols.Embedder]]
    indexes: Sequence[NamedStage[protocols.Index]]
    scorers: Sequence[NamedStage[protocols.Scorer]]
    fusers: Sequence[NamedStage[protocols.Fuser]]
    refiners: Sequence[NamedStage[protocols.Refiner]]


@dataclass(frozen=True)
class ConfiguredSurface:
    """A surface and its stages as configured: by kind, in order.

    ``coordinate`` is that of the surface in the configuration, ``pipeline_name`` the key of its
    stages there. ``plugins`` registered them, and ``plugin`` the surface. ``default`` means that a
    surface of this name needs no configuration.
    """

    name: str
    surface: Surface
    plugin: str
    coordinate: str
    stages: Mapping[str, Sequence[NamedStage[Stage]]]
    pipeline_name: str
    plugins: Plugins
    default: bool

    @property
    def indexed(self) -> bool:
        """Whether the surface has an index; others read their files themselves."""
        return bool(self.stages["indexes"])

    @property
    def reads_manuals(self) -> bool:
        """Whether its root is that of the manuals, with or without an index."""
        return self.surface.root == MANUALS

    @property
    def of_manuals(self) -> bool:
        """Whether it has an index of each manual."""
        return self.indexed and self.reads_manuals

    @property
    def indexes(self) -> Sequence[NamedStage[Stage]]:
        """The index of its manuals, if it has manuals."""
        return self.stages["indexes"] if self.of_manuals else ()

    @cached_property
    def searched(self) -> frozenset[str]:
        """What its fusers say that they search with, such as ``alternatives`` and ``synonyms``."""
        fusers = (named.stage for named in self.stages["fusers"])
        return frozenset(need for stage in fusers for need in NEEDS.of(stage) or ())

    @cached_property
    def reads_as_written(self) -> bool:
        """Whether a stage may answer texts differently that are equal when folded.

        Any stage of a plugin may, and a built-in that says ``as_written``, such as for patterns.
        """
        return any(
            AS_WRITTEN.of(named.stage) or self.plugins.foreign(named.plugin)
            for kind_name in ("scorers", "fusers", "refiners")
            for named in self.stages[kind_name]
        )

    @cached_property
    def index_fingerprint(self) -> str:
        """The fingerprint that an index depends on: folding, loaders, tokenizer and index.

        A plugin's tokenizer and index are other ones when their code, their data or their version
        changes.
        """
        loaders = [named.stage.fingerprint for named in self.stages["loaders"]]
        others = map(self.identity, (*self.stages["tokenizers"], *self.stages["indexes"]))
        return "-".join((f"f{FOLDING}", *loaders, *others))

    def identity(self, named: NamedStage[Stage]) -> str:
        """Return the fingerprint of a stage, with what its plugin consists of if it is foreign."""
        report = self.plugins.foreign(named.plugin)
        own = source_digest(type(named.stage), report.distribution) if report else ""
        return named.stage.fingerprint + own

    @cached_property
    def answer_fingerprint(self) -> str:
        """The fingerprint that an answer depends on: surface and all stages, with settings."""
        uses = [
            f"{kind_name} {named.name} {named.stage.fingerprint}"
            for kind_name, stages in self.stages.items()
            for named in stages
        ]
        return hashlib.sha256("\n".join([self.name, *uses]).encode()).hexdigest()[:16]

    def running(self, opening: ExitStack, guarded: GuardedOffers) -> RunningStages:
        """Return the running forms of the stages; the stack closes them."""
        begun = {
            kind_name: [guarded.running(kind_name, stage, opening) for stage in stages]
            for kind_name, stages in self.stages.items()
        }
        return RunningStages(**begun)

    @cached_property
    def uses(self) -> Mapping[str, JsonValue]:
        """The stages as the configuration would name them: by key, each with all settings."""
        by_key: dict[str, JsonValue] = {}
        for kind_name, key in PIPELINE_KEYS.items():
            uses = [
                use_of(kind_name, named, self.plugins.registry) for named in self.stages[kind_name]
            ]
            if key != SINGLE_KINDS.get(kind_name):
                by_key[key] = uses
            elif uses:
                by_key[key] = uses[0]
        return by_key

    @cached_property
    def recipe(self) -> PipelineSnapshot:
        """The recipe of the stages for the record of a search."""
        plugins = {named.plugin for stages in self.stages.values() for named in stages}
        makers = {
            report.plugin: f"{report.distribution} {report.version}"
            for report in self.plugins.reports
            if report.plugin in plugins
        }
        return PipelineSnapshot(
            self.name, self.pipeline_name, self.answer_fingerprint, self.uses, makers
        )


def search_surface(surfaces: Sequence[ConfiguredSurface]) -> ConfiguredSurface:
    """Return the surface that searches the manuals: the default one, or the first."""
    readers = [surface for surface in surfaces if surface.of_manuals]
    if not readers:
        raise ConfigError(f"surfaces: none of them searches manuals{_remedy(surfaces)}")
    return next((surface for surface in readers if surface.default), readers[0])


def _remedy(surfaces: Sequence[ConfiguredSurface]) -> str:
    """Name the default surface that would search them, if one is installed."""
    for surface in surfaces[:1]:
        for offer in surface.plugins.registry[SURFACES]:
            if offer.default and getattr(offer.stage, "root", None) == MANUALS:
                return f"; add {{use: {offer.name}}}"
    return ""


def use_of(kind_name: str, named: NamedStage[Any], registry: StageRegistry) -> JsonValue:
    """Return a stage as the configuration would name it, with all settings."""
    names = [offer.name for offer in registry[kind_name] if offer.stage is type(named.stage)]
    use = named.name if named.name in names else names[0]
    alias: dict[str, JsonValue] = {} if use == named.name else {"as": named.name}
    settings = named.stage.model_dump(mode="json", by_alias=True)
    return {"use": use, **alias, **({"with": settings} if settings else {})}


@dataclass(frozen=True)
class SharedServices:
    """Services that all surfaces of one application share.

    ``stage`` makes a stage by kind, name and settings. ``own`` are the manuals outside the
    workspace. ``rights`` are those of a person by root; ``None`` stands for all. ``view``
    distinguishes indexes of surfaces that were made with these rights. ``leads`` is set while this
    process indexes ahead of the calls; ``None`` if there is no other process.
    """

    loaded: LoadedConfig
    state: Root
    memory: SearchMemory
    observers: Sequence[tuple[str, Callable[[Trace], object]]]
    stage: Callable[[str, str, Mapping[str, JsonValue]], NamedStage[Any]]
    guarded: GuardedOffers
    leads: Event | None
    own: OwnManuals
    rights: Rights | None
    view: str

    def root(self, name: str) -> Root:
        """Return a folder of the configuration, or the workspace, limited by the rights."""
        if self.rights is None or name in OWN_FOLDERS:
            return Root(self.loaded.folder(name), private=name == "state")
        return Root(self.loaded.folder(name), rights=self.rights.get(name, FolderRights()))


def how_to_offer(name: str, loaded: LoadedConfig, offered: Iterable[ConfiguredSurface]) -> str:
    """Return what to write to offer a surface beside those that are offered now."""
    if "surfaces" in loaded.written:  # they may have settings, which have to stay
        return f"add {{use: {name}}} to surfaces"
    names = dict.fromkeys([*(surface.name for surface in offered), name])
    uses = ", ".join(f"{{use: {use}}}" for use in names)
    return f"write into fumishirube.yaml: surfaces: [{uses}]"
