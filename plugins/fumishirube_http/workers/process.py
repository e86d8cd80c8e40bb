"""What one worker process does: it serves until it is asked to stop."""

from __future__ import annotations

import os
import signal
import socket
from argparse import Namespace
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from fumishirube.serving import ConfigInForce, PeerProcesses, run_process
from fumishirube_http.workers.places import WorkerPlace

if TYPE_CHECKING:
    from starlette.types import ASGIApp

READY, LEAD = "ready", "lead"
"""What a worker sends to the supervisor once it serves, and what it is sent to index ahead.

A worker also sends the configuration of each reload, and is sent the numbers that none serves.
"""
_sending = Lock()


class WorkerStart(NamedTuple):
    """All that a worker needs: options, sockets, its place, and its connection to the supervisor.

    ``first`` means that no worker serves yet. It is ``begun`` with what is in force in the others.
    The options have the plugins, if this process has the same in memory.
    """

    options: Mapping[str, Any]
    listening: socket.socket
    own: socket.socket
    place: WorkerPlace
    connection: Connection
    first: bool
    begun: ConfigInForce

    def send(self, message: str | ConfigInForce) -> None:
        """Send a message to the supervisor, from any thread."""
        with _sending, suppress(OSError):  # the supervisor has just ended, and so will this
            self.connection.send(message)


def main(start: WorkerStart) -> NoReturn:
    """Serve; the exit code of the process says why it ended."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    run_process(lambda: _serve(start))


def _serve(start: WorkerStart) -> int:
    from fumishirube_http.command import serve_here  # noqa: PLC0415 - it imports the supervisor

    peers = PeerProcesses(start.place.fetch_trace, first=start.first)
    Thread(target=_obey, args=(start, peers), name="fumishirube worker", daemon=True).start()
    if "plugins" not in start.options:
        start.begun.forget_other_code()
    options = Namespace(**{"plugins": None, **start.options}, peers=peers)
    return serve_here(options, start)


def serve_worker(
    start: WorkerStart,
    app: ASGIApp,
    peers: PeerProcesses,
    tls: tuple[str, str] | None,
    grace: float,
) -> None:
    """Serve an application as a worker, until the process is asked to stop.

    Between workers there is no TLS: they listen to each other on this machine alone.
    """
    from fumishirube_http.server import serve  # noqa: PLC0415 - over a second
    from fumishirube_http.workers.routing import WorkerRouter  # noqa: PLC0415 - the same

    router = WorkerRouter(app, start.place, peers.encoded)
    serve(router, start.listening, lambda *_: start.send(READY), start.own, tls, grace)


def _obey(start: WorkerStart, peers: PeerProcesses) -> None:
    """Read the supervisor's messages; end this process when the supervisor is gone."""
    connection, supervisor = start.connection, parent_process()
    assert supervisor is not None
    # The connection alone does not tell: forked workers have copies of the other end.
    while supervisor.sentinel not in wait([connection, supervisor.sentinel]):
        message = connection.recv()
        if message == LEAD:
            peers.leads.set()
        else:
            start.place.unserved = message
    os.kill(os.getpid(), signal.SIGTERM)
