"""Writes on their way to the cluster: requests of many, while the next ones are made."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from types import TracebackType
from typing import Self

from fumishirube import Budget, FumishirubeError
from fumishirube_opensearch.cluster import Cluster

_AT_A_TIME = 2
"""Requests that the cluster works on, while another one is filled."""


class Bulks:
    """Collects writes, and sends them in requests of ``size`` bytes, in no certain order.

    An error of a request is raised by a later :meth:`add`, or by :meth:`finish`.
    """

    def __init__(self, cluster: Cluster, index: str, size: int, budget: Budget) -> None:
        self._cluster = cluster
        self._index = index
        self._size = size
        self._budget = budget
        self._pool = ThreadPoolExecutor(_AT_A_TIME, thread_name_prefix="fumishirube-bulk")
        self._sent: deque[Future[None]] = deque()
        self._lines: list[bytes] = []
        self._bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wait until no request is on its way."""
        self._pool.shutdown(cancel_futures=error is not None)

    def add(self, lines: bytes) -> None:
        """Take a write: the line of its action, and that of its document if it has one."""
        if self._bytes + len(lines) > self._size:
            self._send()
        self._lines.append(lines)
        self._bytes += len(lines)

    def finish(self) -> None:
        """Send the rest, and wait for all answers.

        Raises:
            Forbidden: when the cluster does not accept a write before the deadline, or refuses it.
        """
        self._send()
        while self._sent:
            self._sent.popleft().result()

    def drop(self) -> None:
        """Forget what was not sent, and wait for the rest, whatever becomes of it."""
        self._lines, self._bytes = [], 0
        wait(self._sent)
        for each in self._sent:
            with suppress(FumishirubeError):
                each.result()
        self._sent.clear()

    def _send(self) -> None:
        lines, self._lines, self._bytes = self._lines, [], 0
        if not lines:
            return
        while len(self._sent) >= _AT_A_TIME:
            self._sent.popleft().result()
        self._sent.append(
            self._pool.submit(self._cluster.bulk, self._index, b"".join(lines), self._budget)
        )
