"""The server of one person: the same as a server of that person's files alone."""

from __future__ import annotations

import logging
from dataclasses import replace
from threading import Lock

import anyio
from starlette.types import Receive, Scope, Send

from fumishirube.serving import CatalogPublisher, PersonalTools, Reloader, Served
from fumishirube_http.application import HttpApplication
from fumishirube_http.log import Recorder
from fumishirube_http.people.limits import PeopleCounts, PersonLimits
from fumishirube_http.people.records import Person

_log = logging.getLogger("fumishirube.http")


class PersonServer:
    """Serves the tools of one person, of the newest application and rights, while it ``runs``."""

    def __init__(
        self, name: str, person: Person, reloader: Reloader, record: Recorder, counts: PeopleCounts
    ) -> None:
        self.name = name
        self.person = person
        self.limits = PersonLimits(name, person.per_minute, counts, record)
        self._reloader = reloader
        self._lock = Lock()
        self._old: list[Served[PersonalTools]] = []
        self._served = served = reloader.serve_person(name, person.rights)
        # The rights of a person may change even where the configuration does not.
        profile = replace(reloader.publisher.profile, changing=True)
        self._publisher = CatalogPublisher(served.catalog, profile)
        self._http = HttpApplication(
            served.application, served.tools, self._publisher, record, name, self.limits
        )
        self._stop = anyio.Event()
        self.ready = anyio.Event()

    @property
    def current(self) -> bool:
        """Whether it serves the newest application."""
        return self._served.application.whole is self._reloader.application

    def renew(self, person: Person) -> None:
        """Serve the newest application with the newest rights; sessions go on."""
        with self._lock:
            self._close_old()
            self.limits.per_minute = person.per_minute
            if self.current and person.rights == self.person.rights:
                self.person = person
                return
            before = self._served
            same = person.rights == self.person.rights
            memory = before.application.memory if same else None
            fresh = self._reloader.serve_person(self.name, person.rights, memory)
            self._http.replace_application(fresh)
            self._publisher.publish(fresh.catalog, notify=not fresh.same_lists(before))
            # Last: requests that see the new rights here do not wait for them.
            self._served, self.person = fresh, person
            before.mark_replaced()
            self._old.append(before)

    async def runs(self) -> None:
        """Serve until :meth:`stop`."""
        try:
            async with self._http.running():
                self.ready.set()
                await self._stop.wait()
        finally:
            self.ready.set()

    def stop(self) -> None:
        """End all sessions."""
        self._stop.set()

    def close(self) -> None:
        """Close what this server opened; no call is running."""
        for served in [*self._old, self._served]:
            served.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self._http.app(scope, receive, send)

    def _close_old(self) -> None:
        for served in [old for old in self._old if old.spent()]:
            self._old.remove(served)
            served.close([self._served])
