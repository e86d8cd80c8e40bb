"""Caches, traces and statistics, which an application passes on to its successor."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, TypeAlias

from fumishirube.config.configuration import LoadedConfig
from fumishirube.config.personal import USERS_FOLDER
from fumishirube.config.sections import AdaptiveSettings, CacheSettings, TraceSettings
from fumishirube.engine.adaptive import SearchStatistics
from fumishirube.engine.cache import CacheGuards, SearchCache
from fumishirube.stages import Embedder
from fumishirube.traces.records import Thresholds
from fumishirube.traces.store import TraceStore

_UNCHOSEN = ("default", USERS_FOLDER)
"""The origins of folders that nobody has chosen."""

_Keys: TypeAlias = tuple[
    tuple[TraceSettings, Path | None], tuple[CacheSettings, str], tuple[AdaptiveSettings, Path]
]


class SearchMemory(NamedTuple):
    """The traces, the cached answers, and the statistics of searches.

    ``keys`` holds what each of them depends on; it is passed on while that is unchanged.
    """

    traces: TraceStore
    cache: SearchCache
    statistics: SearchStatistics
    keys: _Keys

    @classmethod
    def of(
        cls,
        loaded: LoadedConfig,
        folder: Path | None,
        file: Path,
        embedder: Callable[[ExitStack], Embedder | None],
        code: str,
        former: SearchMemory | None,
    ) -> SearchMemory:
        """Return the memory for a configuration, with the still valid parts of an earlier one.

        Traces are written to the ``folder``, if there is one, and statistics to the ``file``. The
        running ``embedder`` of the cache is opened in a stack. ``code`` identifies the imported
        plugins, because other plugins may answer otherwise.
        """
        config = loaded.config
        keys = ((config.traces, folder), (config.cache, code), (config.adaptive, file))
        traces, cache, statistics = _same(former, keys)
        if traces is None:
            traces = TraceStore(config.traces.keep, config.traces.seconds, folder)
            if former is not None:
                traces.take_over(former.traces)
        if cache is None:
            cache = _cache(loaded, embedder)
        return cls(traces, cache, statistics or _statistics(loaded, file), keys)

    def close(self, others: Iterable[SearchMemory] = ()) -> None:
        """Write pending data and close, except for parts that ``others`` still use."""
        used = {id(part) for other in others for part in _closable(other)}
        for part in _closable(self):
            if id(part) not in used:
                part.close()


def _closable(memory: SearchMemory) -> tuple[SearchStatistics, TraceStore, SearchCache]:
    """Return the parts to close."""
    return memory.statistics, memory.traces, memory.cache


def _same(
    former: SearchMemory | None, keys: _Keys
) -> tuple[TraceStore | None, SearchCache | None, SearchStatistics | None]:
    """Return the parts of an earlier memory whose keys are unchanged."""
    if former is None:
        return None, None, None
    traces, cache, statistics = (key == old for key, old in zip(keys, former.keys, strict=True))
    return (
        former.traces if traces else None,
        former.cache if cache else None,
        former.statistics if statistics else None,
    )


def _cache(loaded: LoadedConfig, embedder: Callable[[ExitStack], Embedder | None]) -> SearchCache:
    settings = loaded.config.cache
    with ExitStack() as opening:
        return SearchCache(
            embedder(opening),
            keep=settings.keep,
            seconds=settings.seconds,
            similarity=settings.similarity,
            guards=CacheGuards(settings.gaps, settings.conflicts),
            resources=opening.pop_all(),
        )


def _statistics(loaded: LoadedConfig, file: Path) -> SearchStatistics:
    settings, vault = loaded.config.adaptive, loaded.folder("vault")
    chosen = any(loaded.origin(name) not in _UNCHOSEN for name in ("adaptive.file", "roots.vault"))
    return SearchStatistics(
        Thresholds(settings.candidate_low, settings.file_bias),
        file,
        tuning=settings.tuning,
        min_recall=settings.min_recall,
        vault=vault if file.is_relative_to(vault) and not chosen else None,
    )
