"""Taking in what changes while tools are served: a new application beside the old, then instead."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from threading import Event, Thread
from typing import Any, TypeAlias

from fumishirube.errors import FumishirubeError, InternalError, PluginError
from fumishirube.host.application import Application
from fumishirube.host.catalog import CatalogPublisher
from fumishirube.host.instructions import instructions
from fumishirube.host.reload.inputs import Inputs, InputWatcher, compiled
from fumishirube.host.reload.leases import CallCounter
from fumishirube.host.reload.reimports import reimport
from fumishirube.host.reload.rejections import RefusalNotice
from fumishirube.host.wire import write_error_line
from fumishirube.tools.definitions import Tool
from fumishirube.tools.list_pages import paged

CHECK_SECONDS = 0.5
"""Seconds between two looks; what is the same at two of them is not being written any more."""
ABSENCE_SECONDS = 3.0
"""Seconds for which a file may be away, or empty, before that is what it is meant to be."""
LINGER_SECONDS = 2.0
"""Seconds for which an application is kept at least, for calls that wait for their turn."""
_PATIENCE = 5.0

_log = logging.getLogger("fumishirube")

Tools: TypeAlias = Sequence[Tool[Any, Any]]
ToolWrapper: TypeAlias = Callable[[Tools], AbstractContextManager[Tools]]
"""What the tools go through before they are offered, such as a bridge."""
Reopen: TypeAlias = Callable[[Application, int], Application]
"""Builds an application in the place of another one; plugin code has been imported so often."""
ApplicationCallback: TypeAlias = Callable[[Application], None]


class ServedApplication:
    """An application at work, until the last of its calls has ended.

    Raises:
        Held: when another process does all that this one would.
    """

    def __init__(self, application: Application, through: ToolWrapper) -> None:
        self.application = application
        self._hold = CallCounter()
        self._replaced = 0.0
        with ExitStack() as going:
            going.enter_context(application.lifespan())
            application.drop_faulty_tools()
            tools = going.enter_context(through([*application.tools.values()]))
            said = instructions(application)
            counted = self._hold.catalog(
                replace(application.catalog, tools=tools, instructions=said)
            )
            application.tools = {tool.name: tool for tool in counted.tools}
            self.catalog = replace(counted, tools=[*map(paged, counted.tools)])
            self._going = going.pop_all()

    def replaced(self) -> None:
        """Take note that calls of it come in no more."""
        self._replaced = time.monotonic()

    def spent(self) -> bool:
        """Tell whether it has been replaced for a while, and no call of it goes on."""
        return time.monotonic() - self._replaced > LINGER_SECONDS and self._hold.end()

    def close(self, others: Sequence[ServedApplication] = ()) -> None:
        """End what goes on, and let go of all that others do not use."""
        try:
            self._going.close()
        finally:
            self.application.close([other.application.memory for other in others])


class Reloader:
    """Looks at what the application that stands was made from, and replaces it when that changes.

    What is offered hangs on the ``board``.
    Whatever goes wrong with the new one, the old one stays, and a line on standard error says why.
    """

    def __init__(
        self, first: ServedApplication, watched: InputWatcher, reopen: Reopen, through: ToolWrapper
    ) -> None:
        self.publisher = CatalogPublisher(first.catalog)
        self._current = first
        self._watched = watched
        self._reopen = reopen
        self._through = through
        self._spent: list[ServedApplication] = []
        self._followers: list[ApplicationCallback] = []
        self._made_from = watched.look()
        self._seen: tuple[Inputs, float] | None = None
        self._stale: set[str] = set()
        self._notice = RefusalNotice()
        self._stop = Event()

    @property
    def application(self) -> Application:
        """The application that stands."""
        return self._current.application

    def follow(self, callback: ApplicationCallback) -> None:
        """Have ``callback`` called with every application that takes the place of another one."""
        self._followers.append(callback)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Look and replace beside the body."""
        thread = Thread(target=self._run, name="fumishirube reloading", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join(_PATIENCE)

    def close(self) -> None:
        """End whatever stands, or still goes on."""
        self._notice.clear()
        for edition in [*self._spent, self._current]:
            edition.close()

    def _run(self) -> None:
        while not self._stop.wait(CHECK_SECONDS):
            try:
                self._let_go()
                self._look()
            except Exception:
                _log.exception("reloading failed; what is in force stays")

    def _let_go(self) -> None:
        for edition in [candidate for candidate in self._spent if candidate.spent()]:
            self._spent.remove(edition)
            edition.close([*self._spent, self._current])

    def _look(self) -> None:
        """Take in what has changed, once it is the same at two looks."""
        now = self._watched.look()
        self._made_from = self._made_from.with_more(now)
        if now.same(self._made_from):
            self._seen = None
        elif self._seen is None or not now.same(self._seen[0]):
            self._seen = now, time.monotonic()
        elif time.monotonic() - self._seen[1] > (
            ABSENCE_SECONDS if now.lost(self._made_from) else 0
        ):
            self._take_in(now)

    def _take_in(self, now: Inputs) -> None:
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
        except BaseException as error:  # an engine's own panic is no Exception
            failure = InternalError()
            _log.debug("error_id %s", failure.error_id, exc_info=True)
            said = f"something unexpected happened, {type(error).__name__}"
            self._refuse(f"{said}; --verbose shows the details (error_id {failure.error_id})")
        else:
            self._notice.clear()

    def _refuse(self, why: str) -> None:
        write_error_line(f"reload refused: {why}; what was in force stays")
        self._notice.put(self.application.state.path, why)

    def _replace(self) -> None:
        """Build the new application, and let it stand.

        When any plugin has new code, all are imported anew: one may use classes of another.
        """
        old = self._current.application
        strangers = self._watched.strangers if self._stale else set()
        stale = strangers - compiled(strangers)
        with reimport(stale):
            fresh = self._reopen(old, old.plugins.revision + bool(stale))
            try:
                edition = ServedApplication(fresh, self._through)
            except BaseException:
                fresh.close([old.memory])
                raise
            try:
                _check_nothing_lost(old, fresh)
                for callback in self._followers:
                    callback(fresh)
            except BaseException:
                edition.close([self._current])
                raise
        self._stale.clear()
        self._watched.files = fresh.loaded.inputs
        self._made_from = self._made_from.with_more(self._watched.look())
        self._current.replaced()
        self._spent.append(self._current)
        self._current = edition
        self.publisher.publish(edition.catalog, news=_is_news(self._spent[-1], edition))
        _tell(old, fresh)


def _check_nothing_lost(old: Application, fresh: Application) -> None:
    """Raise when the new code of a plugin fails where its old code did not."""
    known = {problem for _, problem in old.plugins.left_out}
    failing = [problem for _, problem in fresh.plugins.left_out if problem not in known]
    if failing:
        raise PluginError("; ".join(failing))


def _is_news(old: ServedApplication, fresh: ServedApplication) -> bool:
    """Tell whether clients would be shown another list, of tools, prompts or resources."""
    before, now = old.application.config, fresh.application.config
    folders = (before.roots, before.listing) != (now.roots, now.listing)
    return folders or not fresh.catalog.same_listing(old.catalog)


def _tell(old: Application, fresh: Application) -> None:
    """Say what is new: tools that came or went, and what is wrong that was not before."""
    came, went = fresh.tools.keys() - old.tools.keys(), old.tools.keys() - fresh.tools.keys()
    changes = [
        f"; {what}: {', '.join(sorted(names))}" for what, names in _named(came, went) if names
    ]
    write_error_line("reloaded" + "".join(changes))
    for problem in fresh.problems:
        if problem not in old.problems:
            write_error_line(f"problem: {problem}")
    for warning in (*fresh.warnings, *fresh.absent):
        if warning not in (*old.warnings, *old.absent):
            write_error_line(f"warning: {warning}")


def _named(came: set[str], went: set[str]) -> Iterator[tuple[str, set[str]]]:
    yield "tools that came", came
    yield "tools that went", went
