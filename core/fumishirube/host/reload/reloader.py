"""Reload while tools are served: build a new application beside the old one, then switch."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from threading import Event, Thread
from typing import Any, Generic, TypeAlias, TypeVar

from fumishirube.disk.rights import Rights
from fumishirube.errors import FumishirubeError, InternalError, PluginError
from fumishirube.host.application import Application
from fumishirube.host.catalog import CallCounter, CatalogPublisher
from fumishirube.host.memory import SearchMemory
from fumishirube.host.people import PersonalTools
from fumishirube.host.reload.inputs import ConfigInForce, Inputs, InputWatcher, compiled, forget
from fumishirube.host.reload.rejections import RefusalNotice
from fumishirube.host.standard_streams import write_error_line
from fumishirube.host.tool_host import ToolHost
from fumishirube.tools.definitions import Tool
from fumishirube.tools.pages import paged

CHECK_SECONDS = 0.5
"""Seconds between two looks; files that are equal at two of them are written completely."""
ABSENCE_SECONDS = 3.0
"""Seconds for which a file may be missing or empty before that counts as a change."""
MIN_OPEN_SECONDS = 2.0
"""Seconds for which a replaced application stays open, for calls that wait in the queue."""
_JOIN_SECONDS = 5.0

_log = logging.getLogger("fumishirube")

Tools: TypeAlias = Sequence[Tool[Any, Any]]
ToolWrapper: TypeAlias = Callable[[Tools], AbstractContextManager[Tools]]
"""Wraps the tools before they are offered, as a bridge does."""
Reopen: TypeAlias = Callable[[Application, int], Application]
"""Builds an application's successor; the number counts the imports of plugin code."""

HostT = TypeVar("HostT", bound=ToolHost)


class Served(Generic[HostT]):
    """An application that is served until its last call has ended.

    ``tools`` are those of the ``catalog`` before their lists are paged. Calls of what is served
    ``within`` another one are calls of that one too.
    """

    def __init__(
        self, application: HostT, through: ToolWrapper, within: Served[Any] | None = None
    ) -> None:
        self.application = application
        self.calls = CallCounter()
        self._replaced = 0.0
        with ExitStack() as stack:
            stack.enter_context(application.lifespan())
            catalog = application.drop_faulty_tools()
            tools = stack.enter_context(through([*application.tools.values()]))
            counted = self.calls.catalog(replace(catalog, tools=tools))
            counted = within.calls.catalog(counted) if within else counted
            self.tools = counted.tools
            self.catalog = replace(counted, tools=[*map(paged, counted.tools)])
            self._lifespan = stack.pop_all()

    def same_lists(self, other: Served[Any]) -> bool:
        """Tell whether clients see the same tools, prompts and resources."""
        same_files = self.application.listed_from == other.application.listed_from
        return same_files and self.catalog.same_listing(other.catalog)

    def mark_replaced(self) -> None:
        """Note that no new calls come in."""
        self._replaced = time.monotonic()

    def spent(self) -> bool:
        """Tell whether it was replaced some seconds ago, and no call is running."""
        return time.monotonic() - self._replaced > MIN_OPEN_SECONDS and self.calls.end()

    def close(self, others: Sequence[Served[Any]] = ()) -> None:
        """Stop background work, and close files that the ``others`` do not use."""
        try:
            self._lifespan.close()
        finally:
            self.application.close([other.application.memory for other in others])


ServedApplication: TypeAlias = Served[Application]


class Reloader:
    """Watches the inputs of the application that is ``served``, and replaces it when they change.

    The ``publisher`` always has the current catalog. If the new application fails, the old one
    stays, and a line on standard error says why. The first one was ``made_from`` these inputs, or
    from those of now.
    """

    def __init__(
        self,
        first: ServedApplication,
        watched: InputWatcher,
        reopen: Reopen,
        through: ToolWrapper,
        made_from: Inputs | None = None,
    ) -> None:
        profile = first.application.list_profile
        self.publisher = CatalogPublisher(first.catalog, profile, self._greet)
        self.served = first
        self._watched = watched
        self._reopen = reopen
        self._through = through
        self._spent: list[ServedApplication] = []
        self._followers: list[Callable[[ServedApplication], None]] = []
        self._sharers: list[Callable[[ConfigInForce], None]] = []
        now = watched.look()  # in any case: it also finds which plugins there are
        self._made_from = made_from or now
        self._seen: tuple[Inputs, float] | None = None
        self._stale: set[str] = set()
        self._notice = RefusalNotice()
        self._stop = Event()

    @property
    def application(self) -> Application:
        """The current application."""
        return self.served.application

    def serve_person(
        self, person: str, rights: Rights, former: SearchMemory | None = None
    ) -> Served[PersonalTools]:
        """Return what one person may use of the current application.

        It is valid until the next application is published; ``former`` is the memory of the same
        person and rights.
        """
        whole = self.served
        tools = PersonalTools(whole.application, person, rights, former)
        return Served(tools, nullcontext, whole)

    def follow(self, callback: Callable[[ServedApplication], None]) -> None:
        """Call ``callback`` with every new application, as it is served."""
        self._followers.append(callback)

    def share(self, send: Callable[[ConfigInForce], None]) -> None:
        """Send what is in force after each reload, for processes that begin later."""
        self._sharers.append(send)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Watch and reload in a thread while the body runs, unless the process must not."""
        thread = Thread(target=self._run, name="fumishirube reloading", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join(_JOIN_SECONDS)

    def close(self) -> None:
        """Close all applications."""
        self._notice.clear()
        for served in [*self._spent, self.served]:
            served.close()

    def _greet(self) -> None:
        self.application.greet()

    def _run(self) -> None:
        while self.publisher.profile.changing and not self._stop.wait(CHECK_SECONDS):
            try:
                self._close_spent()
                self._look()
            except Exception:
                _log.exception("reload failed; the current configuration stays in force")

    def _close_spent(self) -> None:
        for served in [candidate for candidate in self._spent if candidate.spent()]:
            self._spent.remove(served)
            served.close([*self._spent, self.served])

    def _look(self) -> None:
        """Reload after a change, once two looks in a row find the same inputs."""
        now = self._watched.look()
        self._made_from = self._made_from.with_more(now)
        if now.same(self._made_from):
            self._seen = None
        elif self._seen is None or not now.same(self._seen[0]):
            self._seen = now, time.monotonic()
        elif time.monotonic() - self._seen[1] > (
            ABSENCE_SECONDS if now.lost(self._made_from) else 0
        ):
            self._reload(now)

    def _reload(self, now: Inputs) -> None:
        before, self._made_from, self._seen = self._made_from, now, None
        changed = now.changed_code(before)
        if now.builtins != before.builtins:
            write_error_line(
                "fumishirube itself has been updated; restart it to use the new release"
            )
        fixed = compiled(changed)
        for name in sorted(fixed):
            write_error_line(
                f"reload: {name} has compiled parts; restart fumishirube to use its new code"
            )
        self._stale |= changed - fixed
        try:
            self._replace()
        except FumishirubeError as error:
            self._refuse(str(error))
        except BaseException as error:  # panics of extensions in Rust are no Exception
            failure = InternalError()
            _log.debug("error_id %s", failure.error_id, exc_info=True)
            message = f"something unexpected happened, {type(error).__name__}"
            self._refuse(f"{message}; --verbose shows the details (error_id {failure.error_id})")
        else:
            self._notice.clear()
            for send in self._sharers:
                send(ConfigInForce.of(self.application.as_read, self._made_from))

    def _refuse(self, why: str) -> None:
        write_error_line(f"reload refused: {why}; the former configuration stays in force")
        self._notice.put(self.application.state.path, why)

    def _replace(self) -> None:
        """Build the new application, and switch to it.

        If any plugin has new code, all are imported again: they may use classes of each other.
        """
        old = self.served.application
        packages = self._watched.foreign_packages if self._stale else set()
        stale = packages - compiled(packages)
        with _reimport(stale):
            fresh = self._reopen(old, old.plugins.revision + bool(stale))
            try:
                served = ServedApplication(fresh, self._through)
            except BaseException:
                fresh.close([old.memory])
                raise
            try:
                _check_nothing_lost(old, fresh)
                for callback in self._followers:
                    callback(served)
            except BaseException:
                served.close([self.served])
                raise
        self._stale.clear()
        self._watched.files = fresh.loaded.inputs
        self._made_from = self._made_from.with_more(self._watched.look())
        self.served.mark_replaced()
        self._spent.append(self.served)
        self.served = served
        self.publisher.publish(served.catalog, notify=not served.same_lists(self._spent[-1]))
        _report_changes(self._spent[-1], served)


def _check_nothing_lost(old: Application, fresh: Application) -> None:
    """Raise when the new code of a plugin fails where its old code did not."""
    known = {problem for _, problem in old.plugins.left_out}
    failing = [problem for _, problem in fresh.plugins.left_out if problem not in known]
    if failing:
        raise PluginError("; ".join(failing))


def _report_changes(before: ServedApplication, served: ServedApplication) -> None:
    """Report tools that came or went, and new problems."""
    had, has = ({tool.name for tool in each.tools} for each in (before, served))
    pairs = (("tools that came", has - had), ("tools that went", had - has))
    changes = [f"; {what}: {', '.join(sorted(names))}" for what, names in pairs if names]
    write_error_line("reloaded" + "".join(changes))
    old, fresh = before.application, served.application
    for problem in fresh.problems:
        if problem not in old.problems:
            write_error_line(f"problem: {problem}")
    for warning in (*fresh.warnings, *fresh.absent):
        if warning not in (*old.warnings, *old.absent):
            write_error_line(f"warning: {warning}")


@contextmanager
def _reimport(packages: Collection[str]) -> Iterator[None]:
    """Import packages again in the body; if that fails, the old modules are restored."""
    old = forget(packages)
    try:
        yield
    except BaseException:
        forget(packages)
        sys.modules.update(old)
        raise
