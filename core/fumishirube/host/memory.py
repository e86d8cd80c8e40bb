"""Caches, traces and statistics: passed on to a successor; traces also shared with peers."""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import partial
from operator import methodcaller
from pathlib import Path
from threading import Event, Lock
from typing import NamedTuple, TypeAlias, TypeVar

from fumishirube.config.configuration import LoadedConfig
from fumishirube.config.personal import USERS_FOLDER
from fumishirube.config.sections import AdaptiveSettings, CacheSettings, TraceSettings
from fumishirube.disk.own_files import state_folder
from fumishirube.disk.roots import Root
from fumishirube.engine.cache import CacheGuards, SearchCache
from fumishirube.search_statistics import HasStatistics, SearchStatistics
from fumishirube.stages import Embedder
from fumishirube.surfaces import Surface
from fumishirube.traces.records import SearchAssessment, Thresholds, Trace
from fumishirube.traces.store import TraceStore

T = TypeVar("T")

_log = logging.getLogger("fumishirube")

_UNCHOSEN = ("default", USERS_FOLDER)
"""The origins of folders that nobody has chosen."""

_Keys: TypeAlias = tuple[
    tuple[TraceSettings, Root | None],
    tuple[CacheSettings, str],
    tuple[AdaptiveSettings, Path, str],
]


class SearchMemory(NamedTuple):
    """The traces, the cached answers, and the statistics of searches.

    ``keys`` holds what each of them depends on; it is passed on while that is unchanged.
    """

    traces: TraceStore
    cache: SearchCache
    statistics: SurfaceStatistics
    keys: _Keys

    @classmethod
    def of(
        cls,
        loaded: LoadedConfig,
        folder: Root | None,
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
        keys = ((config.traces, folder), (config.cache, code), (config.adaptive, file, code))
        if former and former.keys[0] == keys[0]:
            traces = former.traces
        else:
            traces = TraceStore(config.traces.keep, config.traces.seconds, folder)
            if former:
                traces.take_over(former.traces)
        cache = former.cache if former and former.keys[1] == keys[1] else None
        statistics = former.statistics if former and former.keys[2] == keys[2] else None
        return cls(
            traces,
            cache or _cache(loaded, embedder),
            statistics or SurfaceStatistics(loaded, file),
            keys,
        )

    def close(self, others: Iterable[SearchMemory] = ()) -> None:
        """Write pending data and close, except for parts that ``others`` still use."""
        used = {id(part) for other in others for part in other}
        for part in (self.statistics, self.traces, self.cache):
            if id(part) not in used:
                part.close()


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


class SurfaceStatistics:
    """The statistics of the surfaces that keep some, in one file; made with the first search."""

    def __init__(self, loaded: LoadedConfig, file: Path) -> None:
        self._loaded = loaded
        self._file = file
        settings = loaded.config.adaptive
        self._base = Thresholds(settings.candidate_low, settings.file_bias)
        self._made: dict[type[Surface], SearchStatistics | None] = {}
        self._locks: dict[type[Surface], Lock] = {}

    def of(self, surface: Surface) -> SearchStatistics | None:
        """Return those of a surface, if it keeps some; surfaces of one class share them."""
        kind = type(surface)
        if kind not in self._made:  # no search waits for another surface's to be made
            with self._locks.setdefault(kind, Lock()):
                if kind not in self._made:
                    made = None
                    if isinstance(surface, HasStatistics):
                        made = self._unless_failing(kind, partial(self._make, surface))
                    self._made[kind] = made
        return self._made[kind]

    def thresholds(self, surface: Surface) -> Thresholds:
        """Return the thresholds for the next search of a surface."""
        return self._used(surface, lambda statistics: _checked(statistics.thresholds)) or self._base

    def search_finished(self, surface: Surface, trace: Trace) -> None:
        """Pass on a search of the surface."""
        self._used(surface, lambda statistics: statistics.search_finished(trace))

    def conclude(self, surface: Surface, trace_id: str, assessment: SearchAssessment) -> None:
        """Pass on the surface's assessment of a search."""
        self._used(surface, lambda statistics: statistics.conclude(trace_id, assessment))

    def close(self) -> None:
        """Write what waits."""
        for kind, statistics in [*self._made.items()]:
            if statistics is not None:
                self._unless_failing(kind, partial(methodcaller("close"), statistics))

    def _used(self, surface: Surface, use: Callable[[SearchStatistics], T]) -> T | None:
        """Return what a function makes of the statistics of a surface, if it keeps some."""
        statistics = self.of(surface)
        if statistics is None:
            return None
        return self._unless_failing(type(surface), partial(use, statistics))

    def _unless_failing(self, kind: type[Surface], call: Callable[[], T]) -> T | None:
        """Return what a call returns; an error ends no search, but the statistics of the class."""
        try:
            return call()
        except KeyboardInterrupt:
            raise
        except BaseException:  # a plugin's may exit
            self._made[kind] = None
            _log.exception("the statistics of %s failed; they are not kept any more", kind.__name__)
            return None

    def _make(self, surface: HasStatistics) -> SearchStatistics:
        loaded, file = self._loaded, self._file
        vault, state = loaded.folder("vault"), loaded.folder("state")
        inside = file.parent.relative_to(state).as_posix() if file.is_relative_to(state) else "."
        names = ("adaptive.file", "roots.vault")
        chosen = any(loaded.origin(name) not in _UNCHOSEN for name in names)
        return surface.search_statistics(
            self._base,
            file,
            tuning=loaded.config.adaptive.tuning,
            min_recall=loaded.config.adaptive.min_recall,
            vault=vault if file.is_relative_to(vault) and not chosen else None,
            folder=state_folder(state, inside) if inside != "." else None,
        )


def _checked(thresholds: tuple[int, float]) -> Thresholds:
    candidate_low, file_bias = thresholds
    if not isinstance(candidate_low, int) or not math.isfinite(file_bias):
        raise TypeError("thresholds are an integer and a finite number")
    return Thresholds(candidate_low, file_bias)


class PeerProcesses:
    """The other processes that serve the same workspace.

    ``fetch`` returns a trace as JSON that one of them has in memory, by the name of a store and the
    trace's id, or ``None``. ``leads`` is set in the one process that indexes ahead of the calls.
    ``first`` means that no other process of the server has started yet.
    """

    def __init__(self, fetch: Callable[[str, str], bytes | None], *, first: bool) -> None:
        self.leads = Event()
        self.first = first
        self._fetch = fetch
        self._stores: dict[str, TraceStore] = {}

    def share(self, statistics: Path, store: TraceStore) -> None:
        """Let the other processes read a store, which belongs to a file of statistics.

        Each person's memory has a file of its own, in every process the same.
        """
        name = hashlib.sha256(str(statistics).encode("utf-8", "surrogatepass")).hexdigest()[:32]
        self._stores[name] = store
        store.elsewhere = partial(self._fetch, name)

    def encoded(self, name: str, trace_id: str) -> bytes | None:
        """Return a trace as JSON from a store of this process, or ``None``."""
        store = self._stores.get(name)
        return None if store is None else store.encoded(trace_id)
