"""Follows the folder while tools are served: the lock, the first index, and later changes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Event, Thread

from fumishirube import AlreadyServed, FumishirubeError
from fumishirube_graph.arguments import GraphRuntime
from fumishirube_graph.lock import ServeLock

SOON = 0.3
"""Seconds within which several changes are handled as one."""
EVERY = 1.0
"""Seconds between two sweeps of a folder that cannot be watched."""
_LAST = 0.3

_log = logging.getLogger("fumishirube")


@contextmanager
def following(runtime: GraphRuntime, *, lock: bool) -> Iterator[None]:
    """Take the lock and update the index in a thread; without the lock, only read.

    Raises:
        AlreadyServed: when another process has the lock. The tools then only read. When that
            process ends, this one takes the lock.
    """
    if not lock:
        runtime.docs.follower = True
        yield
        return
    serve_lock = ServeLock(runtime.docs.context.folder("workspace"))
    try:
        serve_lock.take()
    except AlreadyServed:
        runtime.docs.follower = True
        waiting = partial(_take_over, runtime, serve_lock)
        runtime.closing.enter_context(_running(waiting, serve_lock))
        raise
    runtime.served = True
    with _running(partial(_follow, runtime), serve_lock):
        yield


@contextmanager
def _running(body: Callable[[Event], None], serve_lock: ServeLock) -> Iterator[None]:
    """Run a thread during the calls; release the lock at the end, if it was taken."""
    stop = Event()
    thread = Thread(target=body, args=(stop,), name="fumishirube documents", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        serve_lock.release()
        thread.join(_LAST)


def _take_over(runtime: GraphRuntime, serve_lock: ServeLock, stop: Event) -> None:
    """Wait until the lock is free; then take it and follow the folder."""
    while not stop.wait(SOON):
        try:
            serve_lock.take()
        except (FumishirubeError, OSError):
            continue
        if stop.is_set():
            serve_lock.release()
            return
        # Calls wait for the first sweep before they use the index again.
        runtime.served = True
        runtime.docs.follower = False
        _log.warning("the process that followed the documents is gone; this one follows them now")
        _follow(runtime, stop)
        return


def _follow(runtime: GraphRuntime, stop: Event) -> None:
    """Take in changes; log a failure, and try again."""
    docs = runtime.docs
    while not stop.is_set():
        surveyed = False
        try:
            surveyed = docs.present and docs.catch_up()
            if surveyed or docs.news.is_set():
                docs.news.clear()
                docs.view().prepare()
                docs.embed(lambda: not stop.is_set())
            elif docs.present:
                docs.view()  # rebuilds a damaged index for processes that only read
        except FumishirubeError as error:
            _log.warning("the documents could not be indexed: %s", error)
        except Exception:
            _log.exception("the documents could not be indexed")
        stop.wait(SOON if not surveyed or docs.marked else EVERY)
