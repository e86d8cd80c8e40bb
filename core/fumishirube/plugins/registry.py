"""The registry: stages by kind and name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Generic, NamedTuple, TypeVar

from fumishirube.errors import PluginError, UnknownStage, did_you_mean
from fumishirube.stages import Stage

T = TypeVar("T")

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_NO_TEXTS = frozenset({"null", "true", "false", "yes", "no", "on", "off"})
"""Names that YAML does not read as texts."""
DEFAULTS = "defaults"
"""In a list of stages, stands for those that the surface has by default; no stage has this name."""


class StageKind(NamedTuple):
    """A kind of stage: its plural name, its singular name, and its methods."""

    kind_name: str
    noun: str
    verbs: tuple[str, ...]

    def lacking(self, stage: object) -> str | None:
        """Return a method of the kind that a stage, its class or its running form lacks, if any."""
        lacked = (verb for verb in self.verbs if not callable(getattr(stage, verb, None)))
        return next(lacked, None)


SURFACES, LOADERS, INDEXES = "surfaces", "loaders", "indexes"

KINDS = (
    StageKind(LOADERS, "loader", ("sources", "load")),
    StageKind("tokenizers", "tokenizer", ("terms", "narrow")),
    StageKind("embedders", "embedder", ("embed",)),
    StageKind(INDEXES, "index", ("open",)),
    StageKind("scorers", "scorer", ("score",)),
    StageKind("fusers", "fuser", ("plan", "fuse")),
    StageKind("refiners", "refiner", ("refine",)),
    StageKind(SURFACES, "surface", ("tools",)),
)
NOUNS = {kind.kind_name: kind.noun for kind in KINDS}


class RefusedStage(PluginError):
    """A stage of a plugin that cannot be registered; ``stage`` is its noun and name."""

    def __init__(self, noun: str, name: str, message: str) -> None:
        super().__init__(message)
        self.stage = (noun, name)


@dataclass(frozen=True)
class RegisteredStage:
    """A stage class registered by a plugin; a ``default`` one needs no configuration."""

    name: str
    stage: type[Stage]
    plugin: str
    default: bool = False


class Register(Generic[T]):
    """Registers the stages of one plugin and kind; ``Register[Scorer]`` accepts scorers only."""

    def __init__(self, kind: StageKind, plugin: str) -> None:
        self._kind = kind
        self._plugin = plugin
        self.offers: list[RegisteredStage] = []

    def __call__(self, name: str, stage: type[T]) -> None:
        """Register a stage class under a kebab-case name.

        Raises:
            PluginError: when the name is malformed or the class is not a stage of this kind.
        """
        self._offer(name, stage)

    def _offer(self, name: str, stage: type[T], *, default: bool = False) -> None:
        noun = self._kind.noun
        refused = partial(RefusedStage, noun, name)
        if not NAME.fullmatch(name):
            raise refused(f"{noun} name {name!r} is not kebab-case, such as 'my-name'")
        if name == DEFAULTS:
            raise refused(f"a {noun} cannot be called {name!r}")
        if not (isinstance(stage, type) and issubclass(stage, Stage)):
            raise refused(f"{noun} {name!r} is not a subclass of fumishirube.Stage")
        if method := self._kind.lacking(stage):
            raise refused(f"{stage.__name__} is no {noun}: it has no method {method}()")
        self.offers.append(RegisteredStage(name, stage, self._plugin, default))


class DefaultRegister(Register[T]):
    """Registers surfaces or loaders, some of them as defaults."""

    def __call__(self, name: str, stage: type[T], *, default: bool = False) -> None:
        """Register a stage; a ``default`` one is used when the configuration names none.

        A default loader reads the files that no loader of the surface claims, if the surface uses
        default loaders.

        Raises:
            PluginError: when the name is malformed or the class is not a stage of this kind.
        """
        self._offer(name, stage, default=default)


class StageKindRegistry:
    """The registered stages of one kind, by name."""

    def __init__(self, kind: StageKind) -> None:
        self.kind = kind
        self._offers: dict[str, RegisteredStage] = {}

    def __iter__(self) -> Iterator[RegisteredStage]:
        return iter(sorted(self._offers.values(), key=lambda offer: offer.name))

    def __contains__(self, name: str) -> bool:
        return name in self._offers

    def refusal(self, name: str) -> str:
        """Return why no further stage can have this name; empty if one can."""
        if not NAME.fullmatch(name) or name == DEFAULTS or name in _NO_TEXTS:
            return f"a stage cannot be called {name!r}"
        if name in self._offers:
            owner = self._offers[name].plugin
            return f"the plugin {owner!r} offers a {self.kind.noun} {name!r}"
        return ""

    def put(self, offer: RegisteredStage) -> None:
        """Add a stage; name clashes are resolved before."""
        self._offers[offer.name] = offer

    def take(self, name: str, coordinate: str) -> RegisteredStage:
        """Return the stage of this name; raise :class:`UnknownStage` with the nearest name."""
        if name in self._offers:
            return self._offers[name]
        hint = did_you_mean(name, sorted(self._offers))
        raise UnknownStage(f"no {self.kind.noun} is called {name!r}; {hint}", at=coordinate)


class StageRegistry(dict[str, StageKindRegistry]):
    """The registries of all kinds, by the kind's name."""

    def __init__(self) -> None:
        super().__init__((kind.kind_name, StageKindRegistry(kind)) for kind in KINDS)

    def defaults(self, kind_name: str) -> list[str]:
        """Return the names of the default stages of a kind, sorted."""
        return [offer.name for offer in self[kind_name] if offer.default]

    def offers(self) -> Iterator[tuple[StageKind, RegisteredStage]]:
        """Yield every registered stage with its kind, sorted by name within a kind."""
        for registered in self.values():
            for offer in registered:
                yield registered.kind, offer
