"""Open folders, walked without following links; :class:`Root` is built on them."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, Self

from fumishirube.disk.names import FORBIDDEN_CHARACTERS, clean_path, extended_path, trap
from fumishirube.disk.no_follow import FOLDER, open_top
from fumishirube.errors import InvalidPath
from fumishirube.text.folding import nfc

_BY_HANDLE = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
_CASE_BLIND = sys.platform in ("win32", "darwin")
_TRAPS = sys.platform == "win32"

_ESCAPED_BYTES = (0xDC80, 0xDCFF)
"""The code points for bytes of a name that are no UTF-8 (PEP 383)."""

_DENIED = (errno.EACCES, errno.EPERM, errno.EROFS)
_FULL = frozenset({errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)})

RACY_NS = 2_000_000_000
"""How long after a change a file may change again without a new time stamp, in nanoseconds."""
_AHEAD_NS = 24 * 3600 * 1_000_000_000
"""How far the clock of a file system may be ahead of ours, as in another time zone."""


def is_settled(modified_ns: int, looked_ns: int | None = None) -> bool:
    """Tell whether a time of change was reliable, now or at the time of a look.

    File systems have coarse clocks: a young file may change again without a new time. A time of up
    to a day ahead may be that of a young file, by another clock; one further ahead was set, and a
    change now would replace it.
    """
    looked_ns = time.time_ns() if looked_ns is None else looked_ns
    return not -_AHEAD_NS <= looked_ns - modified_ns <= RACY_NS


def is_real_folder(path: Path) -> bool:
    """Tell whether a folder is at a path; a symbolic link is none."""
    return path.is_dir() and not path.is_symlink()


def mode_at(path: Path) -> int:
    """Return the mode of what a path leads to, 0 if nothing is there.

    Raises:
        OSError: if that cannot be seen, where ``Path.exists`` says no since Python 3.14.
    """
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0


def is_full(error: BaseException | None) -> bool:
    """Tell whether the disk is full, or a file may not grow further."""
    return isinstance(error, OSError) and error.errno in _FULL


def are_too_many_open(error: OSError) -> bool:
    """Tell whether no file can be opened now, whichever it is."""
    return error.errno in (errno.EMFILE, errno.ENFILE)


def is_denied(error: BaseException | None) -> bool:
    """Tell whether permissions, or a read-only file system, forbid to write."""
    return isinstance(error, OSError) and error.errno in _DENIED


def why_unwritten(error: OSError) -> str:
    """Explain in the project's words why writing failed, and what to do."""
    if is_full(error):
        return "the disk is full; make room and try again"
    if error.errno == errno.EROFS:
        return "the file system is read-only; make it writable, or name another folder"
    return "the operating system refused to write; check permissions and the disk"


EntryKind = Literal["dir", "file", "link", "other"]


class FolderEntry(NamedTuple):
    """An entry of a folder. ``path`` is relative to the root and composed; sizes are bytes.

    ``inode`` distinguishes a file from a replacement, where the platform provides it.
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
        """Open the folder of a root; see :func:`open_top` about links."""
        return cls(path, open_top(path) if _BY_HANDLE else None)

    def inner(self, name: str) -> OpenFolder:
        """Open a folder inside this one; refuse links."""
        # As os.path.join, which takes a third of the time of a survey for a folder.
        path = f"{self.path.rstrip(os.sep)}{os.sep}{name}"
        if self.handle is None:
            return OpenFolder(path, None)
        return OpenFolder(path, os.open(name, FOLDER, dir_fd=self.handle))

    def at_once(self, name: str) -> OpenFolder | None:
        """Open a folder inside this one at once; ``None`` if that takes a look at its entry."""
        if _CASE_BLIND or self.handle is None:
            return None
        try:
            return self.inner(name)
        except OSError:
            return None

    def stays_in(self, top: str, name: str = "") -> bool:
        """Tell whether the folder, or an entry of it, lies below ``top``.

        With a handle it always does; a path may be swapped, or lead through a junction.
        """
        if self.handle is not None:
            return True
        inside = _reachable(os.path.join(self.path, name))
        real, above = (_reachable(os.path.realpath(path)) for path in (inside, top))
        return real == above or real.startswith(os.path.join(above, ""))

    def close(self) -> None:
        """Close the handle."""
        if self.handle is not None:
            os.close(self.handle)

    def sync(self) -> None:
        """Make added and removed names durable, where the platform supports that."""
        if self.handle is not None:
            os.fsync(self.handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def at(self, name: str) -> str:
        """Return how a call that gets the handle, if there is one, names an entry."""
        return name if self.handle is not None else _reachable(os.path.join(self.path, name))

    def scan(self) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
        """Return an iterator of the folder's entries, unsorted; close it after use."""
        return os.scandir(_reachable(self.path) if self.handle is None else self.handle)

    def names(self) -> list[str]:
        """Return the names in the folder, as spelled on disk."""
        return os.listdir(_reachable(self.path) if self.handle is None else self.handle)

    def lstat(self, name: str) -> os.stat_result:
        """Return the state of an entry, without following a link."""
        return os.stat(self.at(name), dir_fd=self.handle, follow_symlinks=False)

    def spelled(self, wanted: str) -> str:
        """Return the name as spelled on disk: an exact match, else one equal in composed form."""
        return self.entry(wanted)[0]

    def entry(self, wanted: str) -> tuple[str, os.stat_result]:
        """Return the name of an entry as spelled on disk, and its state."""
        if _TRAPS and trap(wanted):
            raise FileNotFoundError(errno.ENOENT, "no such entry", wanted)
        if not _CASE_BLIND:
            try:
                return wanted, self.lstat(wanted)
            except FileNotFoundError:
                pass
        names = self.names()
        if wanted in names:
            return wanted, self.lstat(wanted)
        for name in sorted(names):
            if nfc(name) == wanted:
                return name, self.lstat(name)
        raise FileNotFoundError(errno.ENOENT, "no such entry", wanted)


def _reachable(path: str) -> str:
    """Return a path in the form that Windows opens however long it is; elsewhere it stays."""
    return extended_path(os.path.abspath(path)) if _TRAPS else path


def scan(folder: OpenFolder, prefix: str) -> Iterator[FolderEntry]:
    """Yield every entry of a folder; links are entries.

    Of names that are equal in composed form, only the one that :meth:`OpenFolder.entry` finds.
    """
    with folder.scan() as scanned:
        for entry in one_of_each(scanned)[0]:
            if not is_allowed_name(entry.name, first=not prefix):
                continue
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            name = nfc(entry.name)
            yield entry_of(prefix + name, name, status)


def one_of_each(
    scanned: Iterable[os.DirEntry[str]],
) -> tuple[Sequence[os.DirEntry[str]], Sequence[os.DirEntry[str]]]:
    """Return an entry for each composed name, that with the name or the first; and the others."""
    entries = [*scanned]
    if all(entry.name.isascii() or nfc(entry.name) == entry.name for entry in entries):
        return entries, ()
    reached: dict[str, os.DirEntry[str]] = {}
    for entry in sorted(entries, key=lambda entry: (nfc(entry.name) != entry.name, entry.name)):
        reached.setdefault(nfc(entry.name), entry)
    return [*reached.values()], [e for e in entries if reached[nfc(e.name)] is not e]


def make_inside(folder: OpenFolder, names: list[str]) -> None:
    """Create nested folders, unless they exist; never through a link."""
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
    """Tell whether an entry is a junction of Windows, which Python does not call a link."""
    return _TRAPS and bool(getattr(entry.stat(follow_symlinks=False), "st_reparse_tag", 0))


def is_allowed_name(name: str, *, first: bool = False) -> bool:
    """Tell whether a path can contain this name, and begin with it if it is the ``first``.

    The ``first`` may also be a whole path. What is no text, holds controls or a backslash, or ends
    in a space means nothing or another file as a path; so does a space or a drive at the beginning
    of the first.
    """
    if not first and name.isprintable():  # a quick answer for almost all
        return "\\" not in name and not name.endswith(" ")
    try:
        inside = "" if first else "x/"
        return clean_path(inside + name) == inside + nfc(name)
    except InvalidPath:
        return False


def escaped_name(name: str) -> str:
    r"""Return a name for messages: undecodable bytes and controls are written as ``\xe9``."""
    return FORBIDDEN_CHARACTERS.sub(_escaped, name)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if _ESCAPED_BYTES[0] <= code <= _ESCAPED_BYTES[1]:
        return f"\\x{code & 0xFF:02x}"
    return match[0].encode("unicode_escape").decode()


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
