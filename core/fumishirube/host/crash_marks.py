"""Marks of running plugin code, which the next process reads if this one dies.

The marks of a process are in one file below the state folder. While a workspace has none, the file
is among those for temporary use: an import or a listing makes no state folder. It is mapped into
memory, so that a mark costs no system call. The process locks the file while it lives, and removes
it at a regular end. Marks in an unlocked file are those of a process that died.
"""

from __future__ import annotations

import mmap
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import NamedTuple

from fumishirube.disk.locks import own_lock, remove_left_behind, take_lock
from fumishirube.disk.own_files import open_own
from fumishirube.disk.scratch import is_own_folder
from fumishirube.host.standard_streams import before_exit

FOLDER = "running"
"""The folder below the state folder; it contains one file a process."""

_PREFIX = "fumishirube.running-"
_EXPIRY_SECONDS = 24 * 3600
"""After so long, marks of dead processes of other workspaces are removed unread."""
_SLOTS, _WIDTH = 64, 512
_FREE = b"\0"
_FIELDS = 4
_ATTEMPTS = 10
_NUMBERS = count(1)


class ForeignWork(NamedTuple):
    """What a plugin runs: its id, its distribution, the stage or tool, and a file if any."""

    plugin: str
    distribution: str
    stage: str
    file: str = ""

    @property
    def label(self) -> str:
        """The stage and its plugin, as sentences name them."""
        return f"{self.stage} of plugin {self.plugin}"

    @property
    def key(self) -> str:
        """The identity that all work of one stage shares, whatever its file."""
        text = f"{self.plugin}\t{self.distribution}\t{self.stage}"
        return sha256(text.encode("utf-8", "replace")).hexdigest()[:16]

    @property
    def encoded(self) -> bytes:
        """The encoded mark."""
        text = "\t".join(" ".join(field.split()) for field in self)
        return text.encode("utf-8", "replace")[: _WIDTH - 64]


class CrashMarks:
    """The marks of this process, which any thread may set; none, if the file cannot be written."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self._lock = threading.Lock()
        self._map: mmap.mmap | None = None
        self._opened: tuple[int, Path] | None = None
        self._free: list[int] = []
        self._tried = False
        self._forget = before_exit(self.close)

    @contextmanager
    def running(self, work: bytes) -> Iterator[None]:
        """Set a mark while the body runs; ``work`` is an encoded :class:`ForeignWork`."""
        marks, free = self._map or self._mapped(), self._free
        try:
            slot = free.pop()
        except IndexError:  # all slots are in use
            marks = None
        if marks is None:
            yield
            return
        begin = slot * _WIDTH
        record = b"%d\t%d\t%s\n" % (next(_NUMBERS), threading.get_ident(), work)
        try:
            marks[begin : begin + len(record)] = record
            yield
        finally:
            with suppress(ValueError):  # closed meanwhile
                marks[begin : begin + 1] = _FREE
            free.append(slot)

    def close(self) -> None:
        """Remove the marks at the end of the process, or when they are no longer needed."""
        self._forget()
        with self._lock:
            self._tried = True
            self._free = []
            if self._map is not None:
                with suppress(BufferError):
                    self._map.close()
            self._map = None
            if self._opened is None:
                return
            handle, file = self._opened
            self._opened = None
            with suppress(OSError):
                os.close(handle)
                file.unlink()
                file.parent.rmdir()  # unless another process has marks there

    def _mapped(self) -> mmap.mmap | None:
        with self._lock:
            if self._tried:
                return self._map
            self._tried = True
            with suppress(OSError, ValueError):
                folder = self._state / FOLDER
                if not self._state.exists():
                    folder = _elsewhere(self._state)
                    _remove_old(folder)
                self._opened = handle, _ = _new_file(folder)
                os.ftruncate(handle, _SLOTS * _WIDTH)
                if hasattr(os, "posix_fallocate"):  # a hole in a full disk would end the process
                    os.posix_fallocate(handle, 0, _SLOTS * _WIDTH)
                self._map = mmap.mmap(handle, _SLOTS * _WIDTH)
                self._free = [*range(_SLOTS)]
            return self._map


def crashed_work(state: Path) -> list[ForeignWork]:
    """Remove the marks of processes that died; return the innermost of each of their threads."""
    crashed: list[ForeignWork] = []
    files: list[Path] = []
    for folder in (state / FOLDER, _elsewhere(state)):
        with suppress(OSError):  # another process may have just removed the folder
            files += sorted(folder.glob("*-*")) if is_own_folder(folder) else ()
    processes: dict[str, bytes] = {}
    for file in files:
        process = file.name.partition("-")[0]
        processes[process] = processes.get(process, b"") + _taken(file)
    for marks in processes.values():
        crashed += _innermost(marks)
    with suppress(OSError):  # not there, or in use
        _elsewhere(state).rmdir()
    return crashed


def _new_file(folder: Path) -> tuple[int, Path]:
    """Create and lock the file of this process; return its handle and its path."""
    for _ in range(_ATTEMPTS):
        # Another process may remove the empty folder at any moment, also while it is looked at.
        with suppress(FileNotFoundError, FileExistsError):
            folder.mkdir(mode=0o700, exist_ok=True)
            if not is_own_folder(folder):
                break
            handle, name = tempfile.mkstemp(dir=folder, prefix=f"{os.getpid()}-")
            if own_lock(handle, Path(name)):
                return handle, Path(name)
            os.close(handle)
    raise OSError(f"no file can be created and locked in {folder}")


def _taken(file: Path) -> bytes:
    """Remove the marks of a dead process, and return them; none, if it is alive."""
    with suppress(OSError):
        handle = open_own(file, os.O_RDWR)
        if not take_lock(handle, 0):
            os.close(handle)
            return b""
        marks = os.read(handle, _SLOTS * _WIDTH)
        remove_left_behind(handle, file)
        return marks
    return b""


def _elsewhere(state: Path) -> Path:
    """Return the folder of marks while there is no state folder."""
    name = sha256(os.fsencode(state.absolute())).hexdigest()[:16]
    return Path(tempfile.gettempdir(), f"{_PREFIX}{name}")


def _remove_old(own: Path) -> None:
    """Remove old marks of workspaces that nobody may open again, such as temporary ones."""
    oldest = time.time() - _EXPIRY_SECONDS
    for folder in own.parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):  # another process removes it too
            if folder != own and is_own_folder(folder) and folder.lstat().st_mtime < oldest:
                for file in folder.glob("*-*"):
                    _taken(file)
                folder.rmdir()


def _innermost(marks: bytes) -> Iterator[ForeignWork]:
    """Yield the latest work of each thread, the latest of all first."""
    latest: dict[str, tuple[int, ForeignWork]] = {}
    for begin in range(0, len(marks), _WIDTH):
        line = marks[begin : begin + _WIDTH].split(b"\n")[0]
        if line[:1] in (_FREE, b""):
            continue
        number, thread, *fields = line.decode("utf-8", "replace").split("\t")
        if len(fields) == _FIELDS and number.isdecimal():
            numbered = int(number), ForeignWork(*fields)
            latest[thread] = max(numbered, latest.get(thread, numbered))
    for _, work in sorted(latest.values(), reverse=True):
        yield work
