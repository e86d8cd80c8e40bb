"""Counts the running calls of an application, to close it after the last one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from typing import ParamSpec, TypeVar

from fumishirube.errors import Conflict
from fumishirube.host.catalog import Catalog
from fumishirube.tools.resources import Resource, Resources

Q = ParamSpec("Q")
T = TypeVar("T")


class CallCounter:
    """Counts the running calls of tools, resources and prompts."""

    def __init__(self) -> None:
        self._calls = 0
        self._over = False
        self._lock = Lock()

    def catalog(self, catalog: Catalog) -> Catalog:
        """Return a catalog whose calls are counted."""
        return Catalog(
            tuple(replace(tool, run=self._counted(tool.run)) for tool in catalog.tools),
            tuple(self._resources(item) for item in catalog.resources),
            tuple(
                replace(
                    item, write=self._counted(item.write), complete=self._counted(item.complete)
                )
                for item in catalog.prompts
            ),
            catalog.instructions,
        )

    def _resources(self, resources: Resources) -> Resources:
        """Return resources whose calls are counted; a listing counts until its end."""

        def listed() -> Sequence[Resource]:
            with self.used():
                return [*resources.listed()]

        read, complete = self._counted(resources.read), self._counted(resources.complete)
        stamp = self._counted(resources.stamp) if resources.stamp else None
        return replace(resources, listed=listed, read=read, complete=complete, stamp=stamp)

    def _counted(self, function: Callable[Q, T]) -> Callable[Q, T]:
        def counted(*arguments: Q.args, **named: Q.kwargs) -> T:
            with self.used():
                return function(*arguments, **named)

        return counted

    @contextmanager
    def used(self) -> Iterator[None]:
        """Count one call while the body runs.

        Raises:
            Conflict: after ``end`` succeeded.
        """
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
