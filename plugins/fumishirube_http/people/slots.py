"""What each person has open at a time: a count in this process, or one for all worker processes."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from threading import Lock

from fumishirube.disk import open_own, refuse_link, take_lock

FOLDER = "open"

_log = logging.getLogger("fumishirube.http")


class Slots:
    """A number of slots for each person and kind of request.

    With a folder all processes that serve the same workspace share them: each is a file, which a
    process locks while a request is open, so that the system frees those of a process that dies.
    While the folder cannot be used, each process counts by itself. The log says so, once.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.shared = folder is not None
        self._folder = folder
        self._problem = ""
        self._lock = Lock()

    def take(self, name: str, kind: str, number: int) -> int | None:
        """Lock one of ``number`` slots, and return its handle; ``None`` if all are taken.

        A handle below 0 stands for a slot that only this process counts.
        """
        if self._folder is None:
            return -1
        key = sha256(name.encode()).hexdigest()[:16]
        first = os.getpid() % number  # so that processes seldom try the same ones
        try:
            for place in range(number):
                path = self._folder / f"{key}-{kind}-{(first + place) % number}"
                handle = self._opened(path)
                if take_lock(handle, 0):
                    self._note("")
                    return handle
                os.close(handle)
        except OSError as error:
            self._note(str(error))
            return -1
        return None

    @contextmanager
    def released(self, handle: int) -> Iterator[None]:
        """Release a slot after the body."""
        try:
            yield
        finally:
            if handle >= 0:
                os.close(handle)

    def _opened(self, path: Path) -> int:
        flags = os.O_RDWR | os.O_CREAT
        refuse_link(path.parent)
        try:
            return open_own(path, flags)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            return open_own(path, flags)

    def _note(self, problem: str) -> None:
        with self._lock:
            before, self._problem = self._problem, problem
        if problem and not before:
            _log.warning("each worker counts the open requests of people by itself: %s", problem)
        elif before and not problem:
            _log.warning("all workers count the open requests of people together again")
