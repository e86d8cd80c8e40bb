"""Guards plugin code while it runs: marks it, records its failures, and cleans its errors.

Callers get errors without absolute paths, and as JSON.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from threading import get_ident
from typing import Any

from fumishirube.disk.absolute_paths import shorten_paths
from fumishirube.engine.owned_locks import working_thread
from fumishirube.errors import ConfigError, FumishirubeError, PluginError, ToolError, Unreadable
from fumishirube.host.crash_marks import CrashMarks, ForeignWork
from fumishirube.host.faults import FaultLog, described
from fumishirube.host.left_behind import undoing
from fumishirube.host.slow_work import SlowWork
from fumishirube.host.standard_streams import foreign_code
from fumishirube.interrupts import is_interrupt, raised_in
from fumishirube.plugins.discovery import Plugins
from fumishirube.plugins.entry_points import InstalledPlugin
from fumishirube.text.encoding import has_surrogates

_PASSING = (FumishirubeError, KeyboardInterrupt, GeneratorExit)
"""Exceptions that pass through plugin code, and are a fault if it raises them by itself."""


class RecordedFault(PluginError):
    """A failure of a plugin, which is recorded, and named by the message."""


class DamagedAgain(RecordedFault):
    """The same, if an index is damaged however often it is opened."""


class RefusedConfig(RecordedFault, ConfigError):
    """The same, if the plugin refuses the configuration, or something is not installed for it."""


class RunningCode:
    """Code of a plugin at work on a thread; without ``work``, code that the plugin calls.

    ``since`` is the time by :func:`time.monotonic` of its start, or of the end of the last code
    that it called. ``abandoned`` tells whether whatever began it goes on without it.
    """

    abandoned = False

    def __init__(self, work: ForeignWork | None, thread: int) -> None:
        self.work, self.thread, self.since = work, thread, time.monotonic()


class PluginGuard:
    """Marks running code of these plugins, if they are loaded, and records its failures.

    What the plugins of a ``former`` application still run is known too.
    """

    def __init__(
        self, state: Path, plugins: Plugins | None = None, former: PluginGuard | None = None
    ) -> None:
        self._plugins = plugins
        self._state = state
        self.log = FaultLog(state)
        self.slow = SlowWork(self.log, self.at_work)
        self._marks = CrashMarks(state)
        self.running: dict[int, list[RunningCode]] = former.running if former else {}

    @contextmanager
    def marked(self, work: ForeignWork, *, prints: bool = False) -> Iterator[Sequence[str]]:
        """Mark a plugin's code while it runs; its exceptions reach the caller.

        What it ``prints`` is the output of a command; else it goes to standard error, and what it
        leaves behind in the process is undone, recorded, and added to the list.
        """
        left: Sequence[str] = ()
        try:
            with self.working(work), self._marks.running(work.encoded):
                if prints:
                    yield left
                    return
                with undoing(partial(self._record_copy, work)) as left, foreign_code():
                    yield left
        finally:
            for problem in left:
                self.log.record(work, problem)

    def _record_copy(self, work: ForeignWork) -> None:
        """Record that this process is a copy; another thread may have held the log's lock."""
        problem = "it copied the process, and the copy went on; the copy was ended"
        FaultLog(self._state).record(work, problem)

    @contextmanager
    def working(self, work: ForeignWork | None) -> Iterator[None]:
        """Note what runs on this thread, or for what it waits, while the body runs."""
        thread = get_ident()
        running = self.running.setdefault(thread, [])
        running.append(RunningCode(work, thread))
        try:
            yield
        finally:
            running.pop()
            if running:  # what called it begins the next part of its work
                running[-1] = RunningCode(running[-1].work, thread)
            else:
                self.running.pop(thread, None)

    def called_back(self) -> AbstractContextManager[None]:
        """Note that a plugin waits for the framework while the body runs."""
        return self.working(None)

    def at_work(self, thread: int | None) -> RunningCode | None:
        """Return what a plugin runs on a thread, or on the one for whose lock that waits.

        Any thread may call this.
        """
        running = self.running.get(working_thread(thread) or 0, [])[-1:]
        return running[0] if running and running[0].work else None

    @contextmanager
    def watched(
        self,
        work: ForeignWork,
        method: str = "",
        answers: tuple[type[FumishirubeError], ...] = (),
        *,
        named: bool = False,
    ) -> Iterator[None]:
        """Mark a plugin's code while it runs, and record its failures.

        Errors of the types in ``answers`` are not failures if a caller can get them; nor are errors
        of the framework that only pass through.

        Raises:
            RecordedFault: instead of an error by which the framework ends its own work, if the
                plugin raises that by itself; instead of any failure, if it is to be ``named``.
        """
        try:
            with self.marked(work) as left:
                yield
        except BaseException as error:
            passed = self._passes(error, work, answers)
            if not passed:
                self.log.record(work, described(error), type(error).__name__, method)
            if isinstance(error, FumishirubeError):
                drop_paths(error)
            if passed or not (named or isinstance(error, _PASSING)):
                raise
            what = error if isinstance(error, FumishirubeError) else type(error).__name__
            kind = RefusedConfig if isinstance(error, ConfigError) else RecordedFault
            raise kind(f"{work.label} failed: {what}") from error
        if not left:
            self.log.worked(work, method)

    @contextmanager
    def closing(
        self, work: ForeignWork, answers: tuple[type[FumishirubeError], ...] = ()
    ) -> Iterator[None]:
        """Run a plugin's code that closes something; its failure disturbs nothing else."""
        try:
            with self.slow.named(work, "closed"), self.watched(work, "close", answers):
                yield
        except BaseException as error:
            if is_interrupt(error):
                raise

    def _passes(self, error: BaseException, work: ForeignWork, answers: tuple[type, ...]) -> bool:
        """Tell whether an error is an answer, or one of the framework that only passes through."""
        if isinstance(error, FumishirubeError) and not is_answer(error):
            return False
        if isinstance(error, answers):
            return True
        return isinstance(error, _PASSING) and not self._raised(error, work)

    def _raised(self, error: BaseException, work: ForeignWork) -> bool:
        """Tell whether a plugin raised an error by itself."""
        if isinstance(error, KeyboardInterrupt):
            return not is_interrupt(error)
        module = self._plugins.manager.get_plugin(work.plugin) if self._plugins else None
        package = str(getattr(module, "__name__", "")).partition(".")[0]
        return bool(package) and raised_in(error, package)

    @contextmanager
    def importing(self, plugin: InstalledPlugin) -> Iterator[None]:
        """Mark the import of a plugin and its hooks."""
        if plugin.builtin:
            yield
        else:
            work = ForeignWork(plugin.id, plugin.distribution, "its import")
            with self.slow.named(work, "imported"), self.marked(work):
                yield

    def close(self) -> None:
        """Remove the marks of this process, and end what watches its work."""
        self.slow.close()
        self._marks.close()


# --- errors for callers ---------------------------------------------------------------------


def drop_paths(error: FumishirubeError) -> None:
    """Replace absolute paths in the message and the details of an error by their last names."""
    error.args = tuple(_without_paths(argument) for argument in error.args)
    if isinstance(error, ToolError):
        error.details = _without_paths(dict(error.details))
    if isinstance(error, ConfigError):
        error.problem, error.at = _without_paths(error.problem), _without_paths(error.at)


def is_answer(error: FumishirubeError) -> bool:
    """Tell whether an error is one that a caller can get: with a code, and details of JSON.

    The reason why a file is unreadable is a text that an index can store.
    """
    try:
        payload = error.payload() if isinstance(error, ToolError) else {}
        json.dumps(payload, allow_nan=False)
        reason = error.reason if isinstance(error, Unreadable) else "damaged"
        is_reason = isinstance(reason, str) and bool(reason) and not has_surrogates(reason)
        return isinstance(payload.get("code", ""), str) and is_reason
    except Exception:  # a plugin may define the payload
        return False


def _without_paths(value: Any) -> Any:
    match value:
        case str():
            return shorten_paths(value)
        case dict():
            return {_without_paths(key): _without_paths(each) for key, each in value.items()}
        case list():
            return [_without_paths(each) for each in value]
        case tuple():
            return tuple(_without_paths(each) for each in value)
        case _:
            return value
