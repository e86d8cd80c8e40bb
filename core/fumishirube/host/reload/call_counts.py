"""Counts the running calls of an application, to close it after the last one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock

from fumishirube.errors import Conflict
from fumishirube.host.catalog import Catalog
from fumishirube.tools.resources import Resource, Resources


class CallCounter:
    """Counts the running calls of tools, resources and prompts."""

    def __init__(self) -> None:
        self._calls = 0
        self._over = False
        self._lock = Lock()

    def catalog(self, catalog: Catalog) -> Catalog:
        """Return a catalog whose calls are counted."""
        used = self.used()
        return Catalog(
            tuple(replace(tool, run=used(tool.run)) for tool in catalog.tools),
            tuple(self._resources(item) for item in catalog.resources),
            tuple(
                replace(item, write=used(item.write), complete=used(item.complete))
                for item in catalog.prompts
            ),
            catalog.instructions,
        )

    def _resources(self, resources: Resources) -> Resources:
        """Return resources whose calls are counted; a listing counts until its end."""

        def listed() -> Sequence[Resource]:
            return [*resources.listed()]

        used, stamp = self.used(), resources.stamp
        read, complete = used(resources.read), used(resources.complete)
        return replace(
            resources,
            listed=used(listed),
            read=read,
            complete=complete,
            stamp=stamp and used(stamp),
        )

    @contextmanager
    def used(self) -> Iterator[None]:
        """Count one call while the body runs; raise a :class:`Conflict` after the end."""
        with self._lock:
            if self._over:
                raise Conflict("the configuration changed during the call; call again")
            self._calls += 1
        try:
            yield
        finally:
            with self._lock:
                self._calls -= 1

    def end(self) -> bool:
        """Refuse further calls and return ``True``, or return ``False`` while a call is running."""
        with self._lock:
            self._over = not self._calls
            return self._over
