"""The last refused reload of a server, in a file that other processes read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from fumishirube.disk.locks import own_lock, remove_left_behind, take_lock
from fumishirube.disk.own_files import made_folder, open_own, own_entries, read_own, state_folder

FOLDER = "reloads"
"""The folder below the state folder; it contains one file a process."""

_FAR = 1 << 30
"""The offset of the lock: on Windows, others cannot read locked bytes."""
_ATTEMPTS = 10
_MOST_BYTES = 64 * 1024


class RefusedReload(NamedTuple):
    """A server that refused a reload: its process, since when, and why."""

    process: int
    since: str
    why: str


class RefusalNotice:
    """The file of this process. It is valid as long as the process lives."""

    def __init__(self) -> None:
        self._file: Path | None = None
        self._handle: int | None = None

    def put(self, state: Path, why: str) -> None:
        """Record a refusal; ignore write errors."""
        self.clear()
        since = datetime.now().astimezone().isoformat(timespec="seconds")
        text = json.dumps(RefusedReload(os.getpid(), since, why)._asdict(), ensure_ascii=False)
        with suppress(OSError):
            self._file = made_folder(state_folder(state, FOLDER)) / f"{os.getpid()}.json"
            self._handle = _new_file(self._file)
            os.write(self._handle, text.encode("utf-8", "replace"))

    def clear(self) -> None:
        """Remove the record."""
        with suppress(OSError):
            if self._handle is not None:
                os.close(self._handle)
            if self._file is not None:
                self._file.unlink()
        self._file = self._handle = None


def refused_reloads(state: Path) -> Iterator[RefusedReload]:
    """Yield the refusals of running servers; files of ended processes are removed."""
    for file in own_entries(state_folder(state, FOLDER), "*.json"):
        with suppress(OSError, ValueError, TypeError, RecursionError):
            if not file.stem.isdecimal():
                continue
            handle = open_own(file, os.O_RDWR)
            os.lseek(handle, _FAR, os.SEEK_SET)
            if take_lock(handle, 0):
                remove_left_behind(handle, file)
            else:
                os.close(handle)
                yield RefusedReload(**json.loads(read_own(file, _MOST_BYTES)))


def _new_file(path: Path) -> int:
    """Create and lock a file; return its handle."""
    for _ in range(_ATTEMPTS):
        handle = open_own(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        os.lseek(handle, _FAR, os.SEEK_SET)
        if own_lock(handle, path):
            os.lseek(handle, 0, os.SEEK_SET)
            return handle
        os.close(handle)
    raise OSError(f"{path} cannot be created and locked")
