"""Where the configuration in force uses a stage, how long it took, and what to write to use it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from fumishirube.config.pipelines import PIPELINE_KEYS, SINGLE_KINDS, PipelineSpec
from fumishirube.faces.cli.checks import Check
from fumishirube.host.application import Application
from fumishirube.host.surfaces import ConfiguredSurface, how_to_offer
from fumishirube.host.useless_stages import lacks, needs_vectors
from fumishirube.optional_attributes import NEEDS
from fumishirube.plugins.registry import DEFAULTS, SURFACES, RegisteredStage, StageKind
from fumishirube.stages import Stage
from fumishirube.traces.records import Span, Trace

_FIRST = frozenset({"loaders", "refiners"})
"""In these lists a stage may have nothing left to do behind the default ones."""
_SLOW_SECONDS = 1.0
_SLOW_SHARE = 0.5


def used_check(stage: str, places: Sequence[str], time: StageTime | None) -> Check:
    """Report that a stage is used, and how long it took."""
    finding = f"it is used in {', '.join(places)}{f'; {time}' if time else ''}"
    if time and time.is_slow:
        return Check("warn", stage, finding, "make it faster, or leave it out")
    return Check("ok", stage, finding)


def names_of(offer: RegisteredStage, application: Application) -> Iterator[str]:
    """Yield the names under which the configuration in force uses a stage."""
    for surface in application.surfaces:
        for stages in surface.stages.values():
            yield from (named.name for named in stages if type(named.stage) is offer.stage)


def uses(kind: StageKind, offer: RegisteredStage, application: Application) -> Iterator[str]:
    """Yield where the configuration in force uses a stage."""
    stage: type[object] = offer.stage
    if kind.kind_name == SURFACES:
        yield from ("surfaces" for s in application.surfaces if type(s.surface) is stage)
        return
    if kind.kind_name == "embedders" and application.config.cache.embedder == offer.name:
        yield "cache.embedder"
    for surface in application.surfaces:
        if any(type(named.stage) is stage for named in surface.stages[kind.kind_name]):
            yield f"pipelines.{surface.pipeline_name}.{PIPELINE_KEYS[kind.kind_name]}"
        elif offer.default:
            yield f"pipelines.{surface.pipeline_name}.loaders, for files that no other reads"


def how_to_use(kind: StageKind, offer: RegisteredStage, application: Application) -> str:
    """Return what to write to use a stage beside those that are used now."""
    if kind.kind_name == SURFACES:
        return how_to_offer(offer.name, application.loaded, application.surfaces)
    key = PIPELINE_KEYS[kind.kind_name]
    indexed = (s for s in application.surfaces if s.indexed)
    surface = next((s for s in indexed if not lacks(s.surface, _needs(kind, offer))), None)
    if surface is None:
        return "configure a surface with a pipeline"
    needed = {kind.kind_name: offer.name}
    if key == "embedder" and not any(needs_vectors(k, s) for k, s in _used(surface)):
        needed |= _fitting("scorers", ("vectors",), application)
    elif "vectors" in _needs(kind, offer) and not any(k == "embedder" for k, _ in _used(surface)):
        needed |= _fitting("embedders", ("embedder",), application)
    spec = application.config.pipelines.get(surface.pipeline_name, PipelineSpec())
    where, lines, added = f"pipelines.{surface.pipeline_name}", [], []
    for kind_name, name in needed.items():
        key = PIPELINE_KEYS[kind_name]
        first = kind_name in _FIRST
        if kind_name in SINGLE_KINDS:
            lines.append(f"{key}: {name}")
        elif getattr(spec, key) is None:
            names = (name, DEFAULTS) if first else (DEFAULTS, name)
            lines.append(f"{key}: [{', '.join(names)}]")
        else:  # the others of the list stay as they are, with their settings
            added.append(f"add {{use: {name}}} to {where}.{key}{', as the first' * first}")
    if lines:
        pipeline = f"pipelines: {{{surface.pipeline_name}: {{{', '.join(lines)}}}}}"
        added.append(f"write into fumishirube.yaml: {pipeline}")
    return "; ".join(added)


def _used(surface: ConfiguredSurface) -> Iterator[tuple[str, Stage]]:
    """Yield the stages of a surface, each with its key."""
    for kind_name, stages in surface.stages.items():
        yield from ((PIPELINE_KEYS[kind_name], named.stage) for named in stages)


def _needs(kind: StageKind, offer: RegisteredStage) -> tuple[str, ...]:
    """Return what a stage says that it needs of its surface; that may not be checked yet."""
    needs = NEEDS.of(offer.stage)
    return needs if isinstance(needs, tuple) else (PIPELINE_KEYS[kind.kind_name],)


def _fitting(kind_name: str, needs: tuple[str, ...], application: Application) -> Mapping[str, str]:
    """Return the first registered stage of a kind that needs just this."""
    registered = application.plugins.registry[kind_name]
    names = (offer.name for offer in registered if _needs(registered.kind, offer) == needs)
    return {kind_name: name} if (name := next(names, None)) else {}


# --- times ----------------------------------------------------------------------------------


class StageTime(NamedTuple):
    """The search in which a stage took longest: the seconds of the stage, and of the search."""

    seconds: float
    of: float

    @property
    def is_slow(self) -> bool:
        """Whether the stage took over a second, and most of the search."""
        return self.seconds >= max(_SLOW_SECONDS, _SLOW_SHARE * self.of)

    def __str__(self) -> str:
        return f"in the slowest recorded search it took {self.seconds:.3f} s of {self.of:.3f} s"


def longest_time(traces: Iterable[Trace], kind: str, names: Iterable[str]) -> StageTime | None:
    """Return the longest time of a stage of these names, or ``None`` if it ran in no search."""
    stages = {(kind, name) for name in names}
    times = []
    for trace in traces:
        spent = _milliseconds(trace.search)
        times += [StageTime(spent[s] / 1000, trace.search.ms / 1000) for s in stages if s in spent]
    return max(times, default=None)


def _milliseconds(search: Span) -> Mapping[tuple[str, str], float]:
    """Return the milliseconds of each stage.

    Where a stage was abandoned, the trace is of the search that was repeated without it.
    """
    times: defaultdict[tuple[str, str], float] = defaultdict(float)
    for span, _ in search.walk():
        if span.error is None:
            times[span.kind, span.name] += span.ms
    return times
