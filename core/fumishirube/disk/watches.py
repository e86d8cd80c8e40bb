"""Watches of folders: what may have changed, without a look at every file."""

from __future__ import annotations

import errno
import logging
import os
import re
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inotify_simple import INotify

    from fumishirube.disk.folders import OpenFolder
    from fumishirube.disk.roots import Root
    from fumishirube.disk.survey import Survey

_log = logging.getLogger("fumishirube")

_TRUST = 10.0
"""Seconds after which a folder is surveyed although no event came."""
_RETRY = 60.0
"""Seconds after which a failed watch is tried again."""
_TRIES = 5

_LIMITS = {
    errno.ENOSPC: "raise fs.inotify.max_user_watches",
    errno.EMFILE: "raise fs.inotify.max_user_instances, or the limit of open files",
}
"""What to do where the words of the system speak of a disk, or of files."""

_MOUNTS = Path("/proc/self/mountinfo")
_LOCAL = frozenset(
    {"btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "ramfs", "tmpfs", "xfs", "zfs"}
)
"""File systems that change only through this machine, which then sends events."""


class Watch:
    """Events of the operating system for changes below a folder.

    Linux queues an event before a write, a rename or a removal returns, so all earlier changes are
    known. Without events, or if some may be missing, anything may have changed. With ``hidden``,
    folders whose names begin with a dot are watched too.
    """

    def __init__(self, top: Path, *, hidden: bool = False) -> None:
        self._top = top
        self._hidden = hidden
        self._marks: INotify | None = None
        self._place: tuple[int, int] | None = None
        self._prefixes: dict[int, set[str]] = {}
        self._mask = 0
        self._touched: set[str] | None = None
        self._looked = 0.0
        self._retry = 0.0
        self._warned: str | None = None

    def quiet(self) -> bool:
        """Tell whether nothing can have changed since the last survey, if that is not old."""
        touched = self.touched()
        return touched is not None and not touched and not self.due

    @property
    def due(self) -> bool:
        """Whether the last survey is old, so that another one should check the events."""
        return self._marks is not None and time.monotonic() - self._looked >= _TRUST

    def touched(self, *, begin: bool = True) -> Collection[str] | None:
        """Return what may have come, gone or changed since the last survey.

        The paths are those of files, relative and as spelled on disk. ``None`` means anything: a
        folder came or went, or there are no events. Unless that is left to :meth:`survey`, the
        watch begins again then.
        """
        with self._ended_by_errors():
            if (
                self._marks is None
                or self._place != _place(self._top)
                or self._read_events(self._marks)
            ):
                self.close()
                if begin:
                    self._begin()
        return self._touched

    def survey(self, root: Root) -> Survey:
        """Survey the watched folder; a watch that has not begun, or has ended, begins.

        Each folder is watched before it is listed, so every later change of it has an event.
        """
        try:
            if self._marks is None:
                with self._ended_by_errors():
                    self._open()
            return root.survey(entering=self.enter)
        except BaseException:
            self.close()  # some folders have no watch yet
            raise

    def enter(self, folder: OpenFolder) -> None:
        """Watch a folder that a survey is about to list, unless the watch has ended."""
        if self._marks is not None:
            with self._ended_by_errors():
                self._add(folder.path)

    def surveyed(self) -> None:
        """Note that the folder was surveyed after the last call of :meth:`touched`."""
        self._touched = None if self._marks is None else set()
        self._looked = time.monotonic()

    def checked(self) -> None:
        """Note that a survey beside the calls has found what the events say."""
        self._looked = time.monotonic()

    def close(self) -> None:
        """Stop watching."""
        self._touched = None
        self._prefixes = {}
        if self._marks is not None:
            self._marks.close()
            self._marks = None

    @contextmanager
    def _ended_by_errors(self) -> Iterator[None]:
        """End the watch, and log why, if the body cannot watch a folder."""
        try:
            yield
        except (FileNotFoundError, NotADirectoryError):
            self.close()  # a folder vanished; the next call tries again
        except (OSError, ImportError) as error:
            self.close()
            self._retry = time.monotonic() + _RETRY
            reason = _reason(error)
            level = logging.DEBUG if reason == self._warned else logging.WARNING
            _log.log(level, "a folder cannot be watched (%s); its files are compared", reason)
            self._warned = reason

    def _begin(self) -> None:
        """Watch every folder; earlier changes have no events."""
        self._open()
        known: list[str] = []
        for _ in range(_TRIES if self._marks is not None else 0):
            folders = _folders(self._top, hidden=self._hidden)
            if folders == known:
                return
            for folder in folders:
                self._add(folder)
            known = folders
        self.close()

    def _open(self) -> None:
        """Open a queue of events, unless there are none here, or one was refused just now."""
        if time.monotonic() < self._retry or not is_local(self._top):
            return
        from inotify_simple import INotify, flags  # noqa: PLC0415 - only large manuals need it

        written = flags.MODIFY | flags.ATTRIB | flags.CLOSE_WRITE
        named = flags.CREATE | flags.DELETE | flags.MOVED_FROM | flags.MOVED_TO
        itself = flags.DELETE_SELF | flags.MOVE_SELF
        self._mask = int(written | named | itself | flags.ONLYDIR | flags.DONT_FOLLOW)
        self._place = _place(self._top)
        self._marks = INotify(nonblocking=True)

    def _add(self, folder: str) -> None:
        assert self._marks is not None
        with suppress(PermissionError):  # unreadable folders have no files to watch
            number = self._marks.add_watch(folder, self._mask)
            below = folder.removeprefix(os.fspath(self._top)).strip(os.sep)
            self._prefixes.setdefault(number, set()).add(f"{below}/" if below else "")

    def _read_events(self, marks: INotify) -> bool:
        """Read all events so far; return whether other folders have to be watched."""
        from inotify_simple import flags  # noqa: PLC0415 - as above

        events = marks.read(timeout=0)
        other = flags.ISDIR | flags.DELETE_SELF | flags.MOVE_SELF | flags.UNMOUNT
        other |= flags.IGNORED | flags.Q_OVERFLOW
        if self._touched is not None:
            self._touched.update(
                prefix + event.name
                for event in events
                for prefix in self._prefixes.get(event.wd, ())  # several for a folder mounted twice
            )
        return any(event.mask & other for event in events)


def _reason(error: OSError | ImportError) -> str:
    if isinstance(error, ImportError):
        return str(error)
    return _LIMITS.get(error.errno or 0) or error.strerror or str(error)


def is_local(folder: Path) -> bool:
    """Tell whether every change in a folder goes through this machine, as far as is known."""
    if sys.platform != "linux":
        return False
    real = folder.resolve()
    kind = None
    for place, name in _mounts():
        if real.is_relative_to(place):
            kind = name
        elif place.is_relative_to(real) and name not in _LOCAL:
            return False
    return kind in _LOCAL


def _mounts() -> list[tuple[Path, str]]:
    """Return mount points and types of file systems, in the order of mounting."""
    mounts = []
    for line in _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        fields = line.split()
        place = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), fields[4])
        mounts.append((Path(place), fields[fields.index("-") + 1]))
    return sorted(mounts, key=lambda mount: len(mount[0].parts))


def _folders(top: Path, *, hidden: bool) -> list[str]:
    """Return the folder and those below it, without links; hidden ones only if requested."""
    folders = []
    for path, names, _ in os.walk(top):
        names[:] = [name for name in names if hidden or not name.startswith(".")]
        folders.append(path)
    return sorted(folders)


def _place(folder: Path) -> tuple[int, int]:
    status = folder.stat()
    return status.st_dev, status.st_ino
