"""Names on shelves: who offers which stage, under which name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Generic, TypeVar

from fumishirube.errors import ConfigError, PluginError
from fumishirube.stages import Stage

T = TypeVar("T")

NAME = re.compile(r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$")


@dataclass(frozen=True)
class StageKind:
    """One kind of stage: its shelf's name, the word for one of it, and its methods."""

    kind_name: str
    noun: str
    verbs: tuple[str, ...]


SURFACES, LOADERS = "surfaces", "loaders"

KINDS = (
    StageKind(LOADERS, "loader", ("sources", "load")),
    StageKind("tokenizers", "tokenizer", ("terms", "narrow")),
    StageKind("embedders", "embedder", ("embed",)),
    StageKind("indexes", "index", ("open",)),
    StageKind("scorers", "scorer", ("score",)),
    StageKind("fusers", "fuser", ("plan", "fuse")),
    StageKind("refiners", "refiner", ("refine",)),
    StageKind(SURFACES, "surface", ("tools",)),
)


@dataclass(frozen=True)
class RegisteredStage:
    """A class offered under a name by a plugin; a ``default`` one needs no configuration."""

    name: str
    stage: type[Stage]
    plugin: str
    default: bool = False


class Register(Generic[T]):
    """Takes the offers of one plugin for one shelf; ``Register[Scorer]`` takes scorers only."""

    def __init__(self, kind: StageKind, plugin: str) -> None:
        self._kind = kind
        self._plugin = plugin
        self.offers: list[RegisteredStage] = []

    def __call__(self, name: str, stage: type[T]) -> None:
        """Offer a stage class under a kebab-case name.

        Raises:
            PluginError: when the name is malformed or the class is no stage of this kind.
        """
        if not NAME.match(name):
            raise PluginError(
                f"{self._kind.noun} name {name!r} is not kebab-case, such as 'my-name'"
            )
        if not (isinstance(stage, type) and issubclass(stage, Stage)):
            raise PluginError(f"{self._kind.noun} {name!r} is not a subclass of fumishirube.Stage")
        missing = [verb for verb in self._kind.verbs if not callable(getattr(stage, verb, None))]
        if missing:
            raise PluginError(
                f"{stage.__name__} is no {self._kind.noun}: it has no method {missing[0]}()"
            )
        self.offers.append(RegisteredStage(name, stage, self._plugin))


class DefaultRegister(Register[T]):
    """Takes surfaces or loaders, and which of them are there when the configuration names none."""

    def __call__(self, name: str, stage: type[T], *, default: bool = False) -> None:
        """Offer a stage; one by ``default`` is there when the configuration names none.

        A default loader reads the files that no loader of the surface's own claims, if the surface
        takes such loaders.

        Raises:
            PluginError: when the name is malformed or the class is no stage of this kind.
        """
        super().__call__(name, stage)
        self.offers[-1] = replace(self.offers[-1], default=default)


class StageKindRegistry:
    """The offers of one kind, by name."""

    def __init__(self, kind: StageKind) -> None:
        self.kind = kind
        self._offers: dict[str, RegisteredStage] = {}

    def __iter__(self) -> Iterator[RegisteredStage]:
        return iter(sorted(self._offers.values(), key=lambda offer: offer.name))

    def __contains__(self, name: str) -> bool:
        return name in self._offers

    def put(self, offer: RegisteredStage) -> None:
        """Put an offer on the shelf; whoever loads plugins has settled clashes before."""
        self._offers[offer.name] = offer

    def take(self, name: str, coordinate: str) -> RegisteredStage:
        """Return the offer of this name.

        Raises:
            ConfigError: with the coordinate and the nearest name, when there is none.
        """
        if name in self._offers:
            return self._offers[name]
        near = get_close_matches(name, self._offers, n=1)
        names = ", ".join(sorted(self._offers)) or "none"
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {names}"
        raise ConfigError(f"{coordinate}: no {self.kind.noun} is called {name!r}; {hint}")


class StageRegistry:
    """All shelves, by kind."""

    def __init__(self) -> None:
        self.kinds_by_name = {kind.kind_name: StageKindRegistry(kind) for kind in KINDS}

    def __getitem__(self, kind_name: str) -> StageKindRegistry:
        return self.kinds_by_name[kind_name]

    def default_surfaces(self) -> list[str]:
        """Return the surfaces that are there when the configuration names none, sorted."""
        return [offer.name for offer in self[SURFACES] if offer.default]

    def default_loaders(self) -> list[str]:
        """Return the loaders that surfaces may take when the configuration names none, sorted."""
        return [offer.name for offer in self[LOADERS] if offer.default]

    def offers(self) -> Iterator[tuple[StageKind, RegisteredStage]]:
        """Yield every offer with its kind, shelf by shelf, names sorted."""
        for registered in self.kinds_by_name.values():
            for offer in registered:
                yield registered.kind, offer
