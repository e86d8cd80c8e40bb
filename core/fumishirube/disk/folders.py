"""Open folders, walked without following links: what `Root` stands on."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import Literal, NamedTuple, Self

from fumishirube.disk.names import trap
from fumishirube.text.folding import nfc

NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
PLAIN = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)

_DIRECTORY = getattr(os, "O_DIRECTORY", 0)
_BY_HANDLE = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
_CASE_BLIND = sys.platform in ("win32", "darwin")
_TRAPS = sys.platform == "win32"

_UNSPEAKABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")

_FULL = frozenset({errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)})

RACY_NS = 2_000_000_000
"""How long after a change a file may change again without a new time stamp, in nanoseconds."""


def is_settled(modified_ns: int, looked_ns: int | None = None) -> bool:
    """Tell whether a time of change can be trusted: by now, or when the file was looked at.

    A young file may change once more without a new one: the clock of a file system is coarse.
    """
    looked_ns = time.time_ns() if looked_ns is None else looked_ns
    return looked_ns - modified_ns > RACY_NS


def is_full(error: BaseException | None) -> bool:
    """Tell whether the system had no room, or a file may not grow further."""
    return isinstance(error, OSError) and error.errno in _FULL


def why_unwritten(error: OSError) -> str:
    """Say in the project's own words why the system refused to write, and what to do."""
    if is_full(error):
        return "the disk is full; make room and try again"
    if error.errno == errno.EROFS:
        return "the file system is read-only; make it writable, or name another folder"
    return "the operating system refused to write; check permissions and the disk"


EntryKind = Literal["dir", "file", "link", "other"]


class FolderEntry(NamedTuple):
    """One name in a folder. ``path`` is relative to the root and composed; sizes are bytes.

    ``inode`` tells a file from another that was put in its place, where the platform says it.
    """

    path: str
    name: str
    kind: EntryKind
    size: int
    modified_ns: int
    inode: int = 0


@dataclass(frozen=True, slots=True)
class OpenFolder:
    """An open folder: a handle where the platform opens relative to one, else its path."""

    path: str
    handle: int | None

    @classmethod
    def at_top(cls, path: str) -> OpenFolder:
        """Open the folder that a root stands for; its own path may lead through links."""
        flags = os.O_RDONLY | _DIRECTORY | PLAIN
        return cls(path, os.open(path, flags) if _BY_HANDLE else None)

    def inner(self, name: str) -> OpenFolder:
        """Open a folder inside this one, not through a link."""
        path = os.path.join(self.path, name)
        if self.handle is None:
            return OpenFolder(path, None)
        flags = os.O_RDONLY | _DIRECTORY | NO_FOLLOW | PLAIN
        return OpenFolder(path, os.open(name, flags, dir_fd=self.handle))

    def stays_in(self, top: str, name: str = "") -> bool:
        """Tell whether the folder, or an entry of it, lies below ``top``, as it must.

        Behind a handle it does; a path may have been swapped meanwhile, or lead through a junction.
        """
        if self.handle is not None:
            return True
        real, above = os.path.realpath(os.path.join(self.path, name)), os.path.realpath(top)
        return real == above or real.startswith(os.path.join(above, ""))

    def close(self) -> None:
        """Let go of the handle."""
        if self.handle is not None:
            os.close(self.handle)

    def sync(self) -> None:
        """See that names added and removed outlast a crash, where the platform has that."""
        if self.handle is not None:
            os.fsync(self.handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def at(self, name: str) -> str:
        """Return what names an entry relative to this folder."""
        return name if self.handle is not None else os.path.join(self.path, name)

    def scan(self) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
        """Return what yields the folder's entries, in no order; to be closed after use."""
        return os.scandir(self.path if self.handle is None else self.handle)

    def names(self) -> list[str]:
        """Return the names that the folder holds, as spelled."""
        return os.listdir(self.path if self.handle is None else self.handle)

    def lstat(self, name: str) -> os.stat_result:
        """Return the state of an entry; of a link, its own."""
        return os.stat(self.at(name), dir_fd=self.handle, follow_symlinks=False)

    def spelled(self, wanted: str) -> str:
        """Return the name as the disk spells it: exact first, else equal in composed form."""
        if _TRAPS and trap(wanted):
            raise FileNotFoundError(errno.ENOENT, "no such entry", wanted)
        if not _CASE_BLIND:
            try:
                self.lstat(wanted)
            except FileNotFoundError:
                pass
            else:
                return wanted
        names = self.names()
        if wanted in names:
            return wanted
        for name in sorted(names):
            if nfc(name) == wanted:
                return name
        raise FileNotFoundError(errno.ENOENT, "no such entry", wanted)


def scan(folder: OpenFolder, prefix: str) -> Iterator[FolderEntry]:
    """Yield every entry of a folder, links as links."""
    with folder.scan() as scanned:
        for entry in scanned:
            if not speakable(entry.name):
                continue
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            name = nfc(entry.name)
            yield entry_of(prefix + name, name, status)


def make_inside(folder: OpenFolder, names: list[str]) -> None:
    """Create folders one inside the other, unless they are there; never through a link."""
    if not names:
        return
    try:
        name = folder.spelled(names[0])
    except FileNotFoundError:
        name = names[0]
        if _TRAPS and trap(name):
            raise
        with suppress(FileExistsError):  # another process was faster
            os.mkdir(folder.at(name), dir_fd=folder.handle)
    if kind_of(folder.lstat(name).st_mode) != "dir":
        raise NotADirectoryError(errno.ENOTDIR, "not a folder", name)
    with folder.inner(name) as below:
        make_inside(below, names[1:])


def is_junction(entry: os.DirEntry[str]) -> bool:
    """Tell Windows' other kind of link to a folder, which is no symbolic link to Python."""
    return _TRAPS and bool(getattr(entry.stat(follow_symlinks=False), "st_reparse_tag", 0))


def speakable(name: str) -> bool:
    """Names that no path may hold, since they are no text or steer terminals, are not listed."""
    return name.isprintable() or not _UNSPEAKABLE.search(name)


def entry_of(path: str, name: str, status: os.stat_result) -> FolderEntry:
    """Return an entry from its state."""
    kind = kind_of(status.st_mode)
    return FolderEntry(path, name, kind, status.st_size, status.st_mtime_ns, status.st_ino)


def kind_of(mode: int) -> EntryKind:
    """Return the kind of an entry from its mode."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "dir"
    return "link" if stat.S_ISLNK(mode) else "other"
