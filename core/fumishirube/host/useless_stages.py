"""Checks for configured stages that could have no effect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from fumishirube.config.glossary import FILE as GLOSSARY
from fumishirube.config.pipelines import PIPELINE_KEYS, PipelineSpec
from fumishirube.engine.pipeline import NamedStage, comes_last, generates
from fumishirube.errors import ConfigError, FumishirubeError
from fumishirube.host.guarded_offers import GuardedOffers
from fumishirube.host.surfaces import ConfiguredSurface
from fumishirube.optional_attributes import LACKING, NEEDS, UNUSED, USES
from fumishirube.plugins.registry import SURFACES, StageRegistry
from fumishirube.stages import ResourceStage, Stage
from fumishirube.surfaces import Surface

_VECTOR_USERS = ("scorers", "fusers", "refiners")

Stages = Mapping[str, Sequence[NamedStage[Stage]]]


def check_stages(
    surface: NamedStage[Surface],
    spec: PipelineSpec,
    stages: Stages,
    coordinate: str,
    registry: StageRegistry,
    guarded: GuardedOffers,
) -> None:
    """Raise a :class:`ConfigError` about the first stage that can have no effect, if any."""
    example_of = partial(_example_of, surface.stage, registry, guarded)
    by_key = {
        key: [named.stage for named in stages[kind_name]]
        for kind_name, key in PIPELINE_KEYS.items()
    }
    for kind_name, key in PIPELINE_KEYS.items():
        places = {use.name: place for place, use in spec.uses(key)}
        for named in [each for each in stages[kind_name] if each.name in places]:
            where = f"{coordinate}.{key}{places[named.name]}"
            with guarded.configuring(kind_name, named.plugin, named.name, where):
                reasons = _reasons(surface, key, named, by_key, example_of, guarded)
                why = next(reasons, None)
            if why is not None:
                raise ConfigError(
                    f"{named.name!r} could do nothing here, because {why}; leave it out, or put it "
                    "where it can",
                    at=where,
                )


def unused_glossary(
    surfaces: Sequence[ConfiguredSurface], registry: StageRegistry, guarded: GuardedOffers
) -> Iterator[str]:
    """Yield a warning if no fuser searches with the words of the glossary; name one that would."""
    if any("synonyms" in configured.searched for configured in surfaces):
        return
    for configured in [each for each in surfaces if each.of_manuals]:
        if use := _example_of(configured.surface, registry, guarded, "fusers", "synonyms"):
            key = configured.pipeline_name
            yield f"{GLOSSARY}: no pipeline uses it; add {{use: {use}}} to pipelines.{key}.fusers"
            return
    yield f"{GLOSSARY}: no pipeline uses it"


def _example_of(
    surface: object, registry: StageRegistry, guarded: GuardedOffers, kind_name: str, need: str
) -> str | None:
    """Return the name of a registered stage that has a need, and that a surface can use.

    Those of plugins come last: they may need settings.
    """
    foreign: str | None = None
    for offer in registry[kind_name]:
        work = guarded.work(kind_name, offer.plugin, offer.name)
        try:
            with guarded.building(work):
                needs = [*map(str, _needs(offer.stage, PIPELINE_KEYS[kind_name]))]
        except FumishirubeError:
            continue  # its class cannot say it
        if need in needs and not lacks(surface, needs):
            if work is None:
                return offer.name
            foreign = foreign or offer.name
    return foreign


def _reasons(
    surface: NamedStage[Surface],
    key: str,
    named: NamedStage[Stage],
    stages: Mapping[str, Sequence[Any]],
    example_of: Callable[[str, str], str | None],
    guarded: GuardedOffers,
) -> Iterator[str]:
    stage, user = named.stage, surface.stage
    if missing := lacks(user, _needs(stage, key)):
        yield f"the surface {surface.name!r} has no {' and no '.join(missing)}"
    with guarded.building(guarded.work(SURFACES, surface.plugin, surface.name)):
        unused = UNUSED.of(user)
        why: str | None = unused(key, named.name, stage) if unused else None
    if why:
        yield why
    if (lacking := LACKING.of(stage)) and (why := lacking(stages)):
        yield why
    if key == "scorers" and not any(map(_may_generate, _until(stage, stages[key]))):
        yield "it generates no candidates, and no scorer before it does"
    used = any(needs_vectors(kind, other) for kind in _VECTOR_USERS for other in stages[kind])
    if key == "embedder" and _needs(stage, key) and not used:
        use = example_of("scorers", "vectors")
        yield f"no stage asks for vectors, as {use!r} does" if use else "no stage asks for vectors"
    if not stages["embedder"] and key in _VECTOR_USERS and needs_vectors(key, stage):
        use = example_of("embedders", "embedder")
        yield f"no embedder makes vectors, as {use!r} does" if use else "no embedder makes vectors"
    if (
        key == "scorers"
        and not any(map(gives_vectors, stages["embedder"]))
        and all(needs_vectors(key, scorer) for scorer in stages[key] if _may_generate(scorer))
    ):
        yield "no embedder makes vectors, and no scorer does without"


def _until(stage: object, scorers: Sequence[object]) -> Iterator[object]:
    """Yield the scorers that run before a stage, and then that one."""
    for scorer in sorted(scorers, key=comes_last):
        yield scorer
        if scorer is stage:
            return


def _may_generate(scorer: object) -> bool:
    """Tell whether a scorer generates candidates; some decide that only in their running form."""
    return generates(scorer) or isinstance(scorer, ResourceStage)


def lacks(surface: object, needs: Iterable[str]) -> Sequence[str]:
    """Return which of the needs of a stage a surface does not use, as far as its ``uses`` say."""
    known = USES.of(surface)
    return [need for need in needs if known is not None and need not in known]


def _needs(stage: object, key: str) -> Sequence[str]:
    needs = NEEDS.of(stage)
    return [key] if needs is None else [*needs]


def needs_vectors(key: str, stage: object) -> bool:
    """Tell whether a stage needs vectors, which an embedder has to make."""
    return "vectors" in _needs(stage, key)


def gives_vectors(embedder: object) -> bool:
    """Tell whether an embedder makes vectors; ``none`` says that it needs nothing."""
    return bool(_needs(embedder, "embedder"))
