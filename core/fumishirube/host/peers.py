"""The other processes of a server with several worker processes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event

from fumishirube.traces.store import TraceStore


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
