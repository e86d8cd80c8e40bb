"""What an application remembers between calls, and hands on to the one that takes its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple, TypeAlias

from fumishirube.config.configuration import Loaded
from fumishirube.config.sections import Adaptive, Cache, Traces
from fumishirube.engine.adaptive import Statistics
from fumishirube.engine.cache import Guards, SearchCache
from fumishirube.stages import Embedder
from fumishirube.traces.store import TraceStore
from fumishirube.verdict import Thresholds

_Keys: TypeAlias = "tuple[tuple[Traces, Path | None], tuple[Cache, str], tuple[Adaptive, Path]]"


class Memory(NamedTuple):
    """The records of searches, the answers that may be given again, and the statistics.

    ``keys`` is what each of them depends on: one is handed on for as long as that stays the same.
    """

    traces: TraceStore
    cache: SearchCache
    statistics: Statistics
    keys: _Keys

    @classmethod
    def of(
        cls,
        loaded: Loaded,
        folder: Path | None,
        embedder: Callable[[], Embedder],
        code: str,
        former: Memory | None,
    ) -> Memory:
        """Return the memory for a configuration, with what can be kept of an earlier one.

        Traces are written to the ``folder``, if there is one. ``code`` names the plugins as they
        were imported: another one may answer otherwise.
        """
        config, file = loaded.config, loaded.statistics()
        keys = ((config.traces, folder), (config.cache, code), (config.adaptive, file))
        traces, cache, statistics = _same(former, keys)
        if traces is None:
            traces = TraceStore(config.traces.keep, config.traces.seconds, folder)
            if former is not None:
                traces.take_over(former.traces)
        if cache is None:
            cache = _cache(loaded, embedder())
        return cls(traces, cache, statistics or _statistics(loaded, file), keys)

    def close(self, others: Iterable[Memory] = ()) -> None:
        """Write what has not been written, but for what ``others`` still use."""
        used = {id(one) for other in others for one in _held(other)}
        for one in _held(self):
            if id(one) not in used:
                one.close()


def _held(memory: Memory) -> tuple[Statistics, TraceStore, SearchCache]:
    """Return what is to be closed."""
    return memory.statistics, memory.traces, memory.cache


def _same(
    former: Memory | None, keys: _Keys
) -> tuple[TraceStore | None, SearchCache | None, Statistics | None]:
    """Return what of an earlier memory still depends on the same."""
    if former is None:
        return None, None, None
    traces, cache, statistics = (key == old for key, old in zip(keys, former.keys, strict=True))
    return (
        former.traces if traces else None,
        former.cache if cache else None,
        former.statistics if statistics else None,
    )


def _cache(loaded: Loaded, embedder: Embedder) -> SearchCache:
    settings = loaded.config.cache
    return SearchCache(
        embedder,
        keep=settings.keep,
        seconds=settings.seconds,
        similarity=settings.similarity,
        guards=Guards(settings.gaps, settings.conflicts),
    )


def _statistics(loaded: Loaded, file: Path) -> Statistics:
    settings = loaded.config.adaptive
    return Statistics(
        Thresholds(settings.candidate_low, settings.file_bias),
        file,
        tuning=settings.tuning,
        min_recall=settings.min_recall,
    )
