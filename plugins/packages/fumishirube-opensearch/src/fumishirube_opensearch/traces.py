"""Traces of all servers, in an index for each period."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Full, Queue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, NamedTuple

from fumishirube import FumishirubeError
from fumishirube_opensearch.cluster import Cluster
from fumishirube_opensearch.files import packed, unpacked

if TYPE_CHECKING:
    from fumishirube_opensearch import OpenSearch

_log = logging.getLogger("fumishirube")

_WAITING = 256
"""Traces that wait to be sent, at most."""
_JOIN_SECONDS = 5.0
_BODY = {
    "settings": {"number_of_shards": 1, "auto_expand_replicas": "0-1"},
    "mappings": {"dynamic": False},
}


class _Waiting(NamedTuple):
    key: str
    created: float
    encode: Callable[[], bytes]


class SharedTraces:
    """Stores traces for the other servers, and reads theirs.

    A thread sends them, so that no search waits. They are in an index for each period of
    ``seconds``; with a new one, those before the last are deleted.
    """

    def __init__(self, settings: OpenSearch, seconds: float) -> None:
        self._settings = settings
        self._seconds = max(1.0, seconds)
        self._cluster: Cluster | None = None
        self._period = -1
        self._queue: Queue[_Waiting | None] = Queue(_WAITING)
        self._thread: Thread | None = None
        self._lock = Lock()

    def put(self, scope: str, trace_id: str, created: float, encode: Callable[[], bytes]) -> None:
        """Send a trace soon; drop it if too many wait."""
        with self._lock:
            if self._thread is None:
                self._thread = Thread(target=self._run, name="fumishirube traces", daemon=True)
                self._thread.start()
        try:
            self._queue.put_nowait(_Waiting(_key(scope, trace_id), created, encode))
        except Full:
            _log.warning("a trace is not sent to the cluster: too many wait")

    def get(self, scope: str, trace_id: str) -> bytes | None:
        """Return a trace, or ``None`` if it is unknown.

        Raises:
            Unavailable: when the cluster does not answer.
        """
        last = self._period_of(time.time())
        for period in (last, last - 1):
            stored = self._opened().get(self._index(period), _key(scope, trace_id))
            if stored is not None:
                return unpacked(stored.body["trace"])
        return None

    def close(self) -> None:
        """Send what waits, within some seconds, and close the connections."""
        if self._thread is not None:
            with suppress(Full):
                self._queue.put(None, timeout=_JOIN_SECONDS)
            self._thread.join(_JOIN_SECONDS)
        with self._lock:
            if self._cluster is not None:
                self._cluster.close()

    def _run(self) -> None:
        while (waiting := self._queue.get()) is not None:
            try:
                self._send(waiting)
            except FumishirubeError as error:
                _log.warning("a trace is not sent to the cluster: %s", error)
            except Exception:
                _log.warning("a trace is not sent to the cluster", exc_info=True)

    def _send(self, waiting: _Waiting) -> None:
        period = self._period_of(waiting.created)
        if period > self._period:
            self._opened().make_index(self._index(period), _BODY)
            self._delete_before(period - 1)
            self._period = period
        body: dict[str, Any] = {"trace": packed(waiting.encode())}
        self._opened().store(self._index(period), waiting.key, body)

    def _delete_before(self, period: int) -> None:
        prefix = self._index("")
        for name in self._opened().index_names(f"{prefix}*"):
            number = name.removeprefix(prefix)
            if number.isdecimal() and int(number) < period:
                self._opened().delete_index(name)

    def _period_of(self, moment: float) -> int:
        return int(moment // self._seconds)

    def _index(self, period: int | str) -> str:
        """Return the name of a period's index; periods of another length have other names."""
        return f"{self._settings.namespace}-traces-{self._seconds:.0f}s-{period}"

    def _opened(self) -> Cluster:
        with self._lock:
            if self._cluster is None:
                self._cluster = Cluster(self._settings)
            return self._cluster


def _key(scope: str, trace_id: str) -> str:
    return f"{scope}-{trace_id}"
