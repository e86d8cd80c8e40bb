"""Where the worker processes of a server reach each other."""

from __future__ import annotations

import hmac
import http.client
import logging
import secrets
import socket
from dataclasses import dataclass

LOCAL = "127.0.0.1"
SECRET_HEADER = b"fumishirube-worker"
"""The header of requests between workers; no one else knows its value."""
CLIENT_HEADER = b"fumishirube-client"
"""The header with the address of the client of a relayed request."""
TRACE_PATH = "/.worker/traces/"
"""The path of traces in memory, for other workers alone."""

_SECONDS = 2.0
_OK = 200
_log = logging.getLogger("fumishirube")


@dataclass
class WorkerPlace:
    """One worker: its number from 1 on, the ports of all workers, and their common secret.

    The supervisor says which numbers are ``unserved``: nobody answers at their ports, which accept
    connections nevertheless.
    """

    number: int
    ports: tuple[int, ...]
    secret: str
    unserved: frozenset[int] = frozenset()

    def is_peer(self, value: bytes | None) -> bool:
        """Tell whether a request with this value of the secret header is of another worker."""
        return value is not None and hmac.compare_digest(value, self.secret.encode())

    def fetch_trace(self, store: str, trace_id: str) -> bytes | None:
        """Return the JSON of a trace that another worker has in a store in memory."""
        absent = {self.number, *self.unserved}
        others = [port for n, port in enumerate(self.ports, 1) if n not in absent]
        answers = (self._trace_at(port, f"{store}/{trace_id}") for port in others)
        return next((data for data in answers if data is not None), None)

    def _trace_at(self, port: int, name: str) -> bytes | None:
        connection = http.client.HTTPConnection(LOCAL, port, timeout=_SECONDS)
        try:
            headers = {SECRET_HEADER.decode(): self.secret}
            connection.request("GET", f"{TRACE_PATH}{name}", headers=headers)
            answer = connection.getresponse()
            data = answer.read()
        except (OSError, http.client.HTTPException):
            _log.warning("another worker did not answer; its traces may be missing")
            return None
        finally:
            connection.close()
        return data if answer.status == _OK else None


def worker_sockets(count: int) -> tuple[list[socket.socket], list[WorkerPlace]]:
    """Return a listening socket for each worker, and the places of all.

    Raises:
        OSError: when this machine has no loopback address.
    """
    sockets = [socket.create_server((LOCAL, 0)) for _ in range(count)]
    ports = tuple(own.getsockname()[1] for own in sockets)
    secret = secrets.token_hex(32)
    return sockets, [WorkerPlace(number, ports, secret) for number in range(1, count + 1)]
