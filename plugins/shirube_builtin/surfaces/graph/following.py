"""Following the folder while tools are served: the lock, the first index, and what changes."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from shirube import Held, Root, ShirubeError, Watch
from shirube_builtin.surfaces.graph.arguments import Room
from shirube_builtin.surfaces.graph.lock import ServeLock

SOON = 0.3
"""Seconds in which several changes are one."""
EVERY = 1.0
"""Seconds between two looks at a folder that cannot be watched."""
_LAST = 0.3

_log = logging.getLogger("shirube")


@contextmanager
def following(room: Room, *, lock: bool) -> Iterator[None]:
    """Hold the lock, and keep the index up to date in a thread; without the lock only read.

    Raises:
        Held: when another process has the lock; the tools then only read.
    """
    docs = room.docs
    if not lock:
        docs.follower = True
        yield
        return
    held = ServeLock(docs.desk.folder("workspace"))
    try:
        held.take()
    except Held:
        docs.follower = True
        raise
    room.served = True
    stop = Event()
    thread = Thread(target=_follow, args=(room, stop), name="shirube documents", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        held.release()
        thread.join(_LAST)


def _follow(room: Room, stop: Event) -> None:
    """Take in what changes; what fails is told in the log, and tried again."""
    docs = room.docs
    watch = Watch(docs.desk.root.path)
    while not stop.is_set():
        if watch.quiet():
            stop.wait(SOON)
            continue
        try:
            if docs.desk.root.exists:
                if not docs.refresh().busy:
                    watch.looked()
                docs.view().prepare()
                docs.embed(lambda: not stop.is_set())
        except ShirubeError as error:
            _log.warning("the documents could not be indexed: %s", error)
        except Exception:
            _log.exception("the documents could not be indexed")
        stop.wait(SOON if watches(docs.desk.root) else EVERY)
    watch.close()


def watches(root: Root) -> bool:
    """Tell whether the operating system marks what changes in a folder."""
    watch = Watch(root.path)
    watch.quiet()
    watch.looked()
    try:
        return watch.quiet()
    finally:
        watch.close()
