"""What plugins offer, guarded: contains its exceptions, its output, and the end of the process.

Built-ins run without guards: their failures are faults of the project.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, TypeVar

from fumishirube.disk.roots import Root
from fumishirube.engine.file_loads import FileLoad
from fumishirube.engine.pipeline import NamedStage, StageFailure
from fumishirube.engine.stage_calls import GRACE_SECONDS, AtWork, StageCall
from fumishirube.errors import AlreadyServed, ConfigError, IndexDamaged, PluginError, UnknownStage
from fumishirube.host.crash_marks import ForeignWork
from fumishirube.host.faults import described
from fumishirube.host.guarded_indexes import GUARDED_KINDS
from fumishirube.host.guarded_results import GUARDED_OFFERS
from fumishirube.host.guarded_stages import GuardedLoader, GuardedStage
from fumishirube.host.offered_types import check_running
from fumishirube.host.plugin_guard import DamagedAgain, PluginGuard, RecordedFault
from fumishirube.host.watched_updates import WatchedUpdates
from fumishirube.interrupts import is_interrupt
from fumishirube.model import LeftOut
from fumishirube.plugins.discovery import Plugins
from fumishirube.plugins.registry import INDEXES, LOADERS, NOUNS
from fumishirube.stages import ClaimedFile, Loader, ResourceStage
from fumishirube.traces.records import Trace

_log = logging.getLogger("fumishirube")

_OPEN = "open"

T = TypeVar("T")


@contextmanager
def _placed(work: ForeignWork | None, at: str) -> Iterator[None]:
    """Give an error of a stage its place in the configuration, and the name of its plugin."""
    try:
        yield
    except PluginError as error:
        raise ConfigError(str(error), at=at) from error
    except ConfigError as error:
        if work is None or error.at:
            raise
        raise ConfigError(f"{work.label}: {error}", at=at) from error


class GuardedOffers:
    """Guards stages and tools of plugins; those of built-ins are returned unchanged."""

    def __init__(self, plugins: Plugins, guard: PluginGuard, *, strict: bool = False) -> None:
        self._plugins = plugins
        self._guard = guard
        self._strict = strict

    def work(self, kind_name: str, plugin: str, name: str) -> ForeignWork | None:
        """Return the crash mark for a stage of a plugin, or ``None`` for a built-in."""
        return self._foreign_work(plugin, f"{NOUNS[kind_name]} {name!r}")

    def _foreign_work(self, plugin: str, stage: str) -> ForeignWork | None:
        maker = self._plugins.foreign(plugin)
        return ForeignWork(plugin, maker.distribution, stage) if maker else None

    def running(
        self, kind_name: str, named: NamedStage[Any], opening: ExitStack
    ) -> NamedStage[Any]:
        """Return the running form of a stage, guarded if it is a plugin's; the stack closes it.

        An index is not opened here, but for each manual. A :class:`ConfigError` says where one is
        that does not open.
        """
        stage, work = named.stage, self.work(kind_name, named.plugin, named.name)
        if isinstance(stage, ResourceStage) and kind_name != INDEXES:
            with _placed(work, named.coordinate):
                stage = opening.enter_context(self.opened(work, stage.open))
                with self.building(work):
                    check_running(stage, self._plugins.registry[kind_name].kind)
        if work is None:
            return named._replace(stage=stage, trusted=True)
        if kind_name == LOADERS:
            loader = GuardedLoader(stage, work, self._guard, strict=self._strict)
            return named._replace(stage=loader)
        kind = GUARDED_KINDS.get(kind_name, GuardedStage)
        return named._replace(stage=kind(stage, work, self._guard))

    def updates(self, stages: Iterable[NamedStage[Any]]) -> WatchedUpdates | None:
        """Return what runs the updates in which these running stages take part, if it has to."""
        trusted = all(named.trusted for named in stages)
        return None if trusted else WatchedUpdates(self._guard, strict=self._strict)

    @contextmanager
    def building(self, work: ForeignWork | None, state: str = _OPEN) -> Iterator[None]:
        """Run plugin code that makes or opens something; a :class:`PluginError` names it.

        While it takes long, it is named as something that is not ``open``, say.
        """
        if work is None:
            yield
            return
        try:
            with self._guard.slow.named(work, state), self._guard.marked(work):
                yield
        except (AlreadyServed, ConfigError, PluginError):
            raise
        except BaseException as error:
            if is_interrupt(error):
                raise
            raise PluginError(f"{work.label}: {described(error)}") from error

    @contextmanager
    def configuring(self, kind_name: str, plugin: str, name: str, at: str) -> Iterator[None]:
        """Run code of a stage that the configuration names; a :class:`ConfigError` says where."""
        work = self.work(kind_name, plugin, name)
        with _placed(work, at), self.building(work):
            yield

    @contextmanager
    def opened(
        self, work: ForeignWork | None, begin: Callable[[], AbstractContextManager[T]]
    ) -> Iterator[T]:
        """Begin what a stage opens; if that of a plugin fails to close, that is recorded.

        A :class:`PluginError` names the plugin of one that cannot be opened.
        """
        if work is None:
            with begin() as running:
                yield running
            return
        opening = ExitStack()  # no "with": an error of the body is none of the stage's
        with self.building(work):
            running = opening.enter_context(begin())
        self._guard.log.worked(work, _OPEN)
        try:
            yield running
        finally:
            with self._guard.closing(work):
                opening.close()

    @contextmanager
    def settled(self, work: ForeignWork | None, *, requested: bool) -> Iterator[None]:
        """Do what a surface settles itself, such as its own pipeline, which no user wrote.

        Raises:
            PluginError: instead of a :class:`ConfigError` if the surface is a plugin's, which it
                names, or if a stage is not installed that no configuration ``requested``.
        """
        try:
            yield
        except ConfigError as error:
            if work is None and (requested or not isinstance(error, UnknownStage)):
                raise
            origin = f"{work.label}: " if work else ""
            raise PluginError(f"{origin}{error}") from error

    def leave_out(self, problem: str, work: ForeignWork | None, problems: list[str]) -> None:
        """Report that a part of a plugin is left out; raise, if the configuration is strict."""
        if self._strict:
            raise ConfigError(problem)
        if problem in problems:
            return
        problems.append(problem)
        self.note_left_out(problem, work)
        _log.error("%s", problem, extra={"fault": problem, "left_out": True})

    def note_left_out(self, problem: str, work: ForeignWork | None) -> None:
        """Let a part that is left out be listed with its plugin, if it is of one."""
        if work is not None:
            self._plugins.left_out.append((work.plugin, problem))

    def offer(self, kind: type, offer: Any, work: ForeignWork | None) -> Any:
        """Return a tool, resources or a prompt of a surface, guarded if that is a plugin's."""
        return offer if work is None else GUARDED_OFFERS[kind](offer, work, self._guard)

    def observer(self, plugin: str, hook: Callable[..., object]) -> Callable[[Trace], object]:
        """Return a plugin's observer of searches, guarded unless it is built in."""

        def observe(trace: Trace) -> object:
            return hook(trace=trace)

        work = self._foreign_work(plugin, "its search_finished")
        return self._guard.watched(work)(observe) if work else observe

    def note_failures(self, failed: Iterable[StageFailure], began: float) -> None:
        """Record the stages of plugins that failed in a search since then without raising."""
        for named, problem in failed:
            if isinstance(named.stage, GuardedStage):
                work = named.stage.foreign_work
                log = self._guard.log
                if not log.recorded_since(work, began):
                    # A search knows the type alone, if the stage worked again in another run.
                    log.record(work, log.longer(work, problem))

    @contextmanager
    def damaged_again(self, indexes: Iterable[NamedStage[Any]]) -> Iterator[None]:
        """Search in an index that has been opened again; it is a fault if one is still damaged."""
        try:
            yield
        except IndexDamaged as error:
            for named in indexes:
                if work := self.work(INDEXES, named.plugin, named.name):
                    problem = "it says that its files are damaged, however often it is opened"
                    self._guard.log.record(work, f"{problem} ({error})", problem, "search")
                    # A strict call does not go on with the other manuals.
                    kind = RecordedFault if self._strict else DamagedAgain
                    raise kind(f"{work.label} failed: {problem}") from error
            raise

    def at_work(self, call: StageCall, thread: int) -> AtWork | None:
        """Record and name a stage of a plugin that runs on the thread of another, overdue one."""
        running = self._guard.at_work(thread)
        work = running and running.work
        if not running or not work or work.stage == f"{call.kind} {call.name!r}":
            return None
        if (seconds := time.monotonic() - running.since) < GRACE_SECONDS:
            return None  # it is one of many short calls
        self._guard.log.record(work, f"it was abandoned after {seconds:.1f} s")
        return AtWork(work.label, work.stage.startswith(f"{NOUNS[INDEXES]} "))

    def slow_files(
        self,
        manual_id: str,
        slow: Iterable[FileLoad],
        loaders: Sequence[tuple[NamedStage[Any], Loader]],
    ) -> Iterator[str]:
        """Record files that are still being loaded; yield a sentence about each.

        ``loaders`` are the running ones, each with the form that claims and caches.
        """
        for load in slow:
            named = next(named for named, form in loaders if form is load.file.loader)
            path, seconds = f"{manual_id}/{load.path}", load.seconds
            problem = f"it was abandoned after {seconds:.1f} s"
            work = self.work(LOADERS, named.plugin, named.name)
            began = time.time() - seconds
            if work is not None and not self._guard.log.recorded_since(work, began):
                self._guard.log.record(work._replace(file=path), problem)
            origin = f" of plugin {work.plugin}" if work else ""
            pages = load.pages_read
            read = f" ({pages.done} of {pages.total} pages)" if pages else ""
            yield (
                f"loader {named.name!r}{origin} has been reading {path} for {seconds:.1f} s"
                f"{read}; the file will be searched when it is read"
            )


def unread_by(
    skipped: Iterable[LeftOut],
    claimed: Mapping[str, ClaimedFile],
    loaders: Sequence[tuple[NamedStage[Any], Loader]],
) -> Iterator[str]:
    """Yield a sentence about each loader of a plugin that failed on files of a folder."""
    failed: defaultdict[str, list[str]] = defaultdict(list)
    for out in skipped:
        if out.reason == "loader_failed" and out.path in claimed:
            claiming = claimed[out.path].loader
            loader = next((named.stage for named, form in loaders if form is claiming), None)
            if isinstance(loader, GuardedLoader):
                failed[loader.foreign_work.label].append(out.path)
    for label, paths in failed.items():
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        yield f"{label} failed on {paths[0]}{more}: not searched"


def unlisted_by(loaders: Iterable[object], root: Root) -> Iterator[str]:
    """Yield a sentence about each loader of a plugin that failed to list the files of a folder."""
    for loader in loaders:
        if isinstance(loader, GuardedLoader) and (problem := loader.problem_of(root)):
            yield problem
