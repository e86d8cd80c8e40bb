"""Following the folder while tools are served: the lock, the first index, and what changes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from fumishirube import AlreadyServed, FumishirubeError, Root
from fumishirube.disk import Watch
from fumishirube_graph.arguments import GraphRuntime
from fumishirube_graph.lock import ServeLock

SOON = 0.3
"""Seconds in which several changes are one."""
EVERY = 1.0
"""Seconds between two looks at a folder that cannot be watched."""
_LAST = 0.3

_log = logging.getLogger("fumishirube")


@contextmanager
def following(runtime: GraphRuntime, *, lock: bool) -> Iterator[None]:
    """Hold the lock, and keep the index up to date in a thread; without the lock only read.

    Raises:
        Held: when another process has the lock. The tools then only read, until that process is
            gone and this one takes over.
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
        runtime.closing.enter_context(_running(_take_over, runtime, serve_lock))
        raise
    runtime.served = True
    with _running(_follow, runtime, serve_lock):
        yield


@contextmanager
def _running(
    body: Callable[[GraphRuntime, ServeLock, Event], None],
    runtime: GraphRuntime,
    serve_lock: ServeLock,
) -> Iterator[None]:
    """Run a thread beside the calls; in the end give the lock back, if it was taken."""
    stop = Event()
    thread = Thread(
        target=body, args=(runtime, serve_lock, stop), name="fumishirube documents", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        stop.set()
        serve_lock.release()
        thread.join(_LAST)


def _take_over(runtime: GraphRuntime, serve_lock: ServeLock, stop: Event) -> None:
    """Try for the lock until its holder is gone, and then do what that one did."""
    while not stop.wait(SOON):
        try:
            serve_lock.take()
        except (FumishirubeError, OSError):
            continue
        if stop.is_set():
            serve_lock.release()
            return
        # Calls wait for the first look at the folder before they answer of the index again.
        runtime.served = True
        runtime.docs.follower = False
        _log.warning("the process that followed the documents is gone; this one follows them now")
        _follow(runtime, serve_lock, stop)
        return


def _follow(runtime: GraphRuntime, _serve_lock: ServeLock, stop: Event) -> None:
    """Take in what changes; what fails is told in the log, and tried again."""
    docs = runtime.docs
    while not stop.is_set():
        surveyed = False
        try:
            surveyed = docs.context.root.exists and docs.catch_up()
            if surveyed or docs.news.is_set():
                docs.news.clear()
                docs.view().prepare()
                docs.embed(lambda: not stop.is_set())
            elif docs.context.root.exists:
                docs.view()  # a damaged index is made anew for readers beside this process
        except FumishirubeError as error:
            _log.warning("the documents could not be indexed: %s", error)
        except Exception:
            _log.exception("the documents could not be indexed")
        stop.wait(SOON if not surveyed or docs.marked else EVERY)


def watches(root: Root) -> bool:
    """Tell whether the operating system marks what changes in a folder."""
    watch = Watch(root.path)
    watch.quiet()
    watch.surveyed()
    try:
        return watch.quiet()
    finally:
        watch.close()
