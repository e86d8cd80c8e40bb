"""Root: the only door to the disk."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from shirube.errors import (
    Forbidden,
    InvalidParameter,
    InvalidPath,
    NeedsNarrowScope,
    NotFound,
    ToolError,
    Unreadable,
)
from shirube.text import nfc

SEGMENT_BYTES = 255
PATH_BYTES = 1024

_DRIVE = re.compile(r"^[A-Za-z]:")
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY = getattr(os, "O_DIRECTORY", 0)
_BINARY = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_BY_HANDLE = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
_CASE_BLIND = sys.platform in ("win32", "darwin")

EntryKind = Literal["dir", "file", "link", "other"]


def clean_path(raw: object, parameter: str = "path") -> str:
    """Return a relative path in its one spelling: ``/`` between segments, no ``.``, composed form.

    Raises:
        InvalidPath: for anything that is no relative path below a root.
    """
    if not isinstance(raw, str):
        raise _refused("must be a string", parameter)
    path = raw.strip().replace("\\", "/")
    if path.startswith("/") or _DRIVE.match(path):
        raise _refused("must be relative to its root", parameter)
    segments = [segment for segment in path.split("/") if segment not in ("", ".")]
    if not segments:
        raise _refused("must not be empty", parameter)
    if ".." in segments:
        raise InvalidPath("parent segments are not allowed", parameter=parameter)
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in path):
        raise _refused("must not hold control characters or unpaired surrogates", parameter)
    if max(len(s.encode()) for s in segments) > SEGMENT_BYTES or len(path.encode()) > PATH_BYTES:
        raise _refused(f"is longer than {SEGMENT_BYTES} bytes a segment or {PATH_BYTES}", parameter)
    return nfc("/".join(segments))


def clean_name(raw: str, parameter: str) -> str:
    """Return one path segment, trimmed and composed, as folder ids are.

    Raises:
        InvalidParameter: when it is blank, or more than one segment.
    """
    try:
        name = clean_path(raw, parameter)
    except InvalidPath as error:
        raise InvalidParameter(f"{parameter} {_NAME_RULE}", parameter=parameter) from error
    if "/" in name:
        raise InvalidParameter(f"{parameter} {_NAME_RULE}", parameter=parameter)
    return name


_NAME_RULE = "must be one folder name, without slashes or parent segments"


def _refused(rule: str, parameter: str) -> InvalidPath:
    return InvalidPath(f"{parameter} {rule}", parameter=parameter)


@dataclass(frozen=True)
class Limits:
    """What one root may hold."""

    file_bytes: int = 64 * 1024 * 1024
    depth: int = 32
    files: int = 200_000


class Entry(NamedTuple):
    """One name in a folder. ``path`` is relative to the root and composed; sizes are bytes."""

    path: str
    name: str
    kind: EntryKind
    size: int
    modified_ns: int


@dataclass(frozen=True, slots=True)
class _Folder:
    """An open folder: a handle where the platform opens relative to one, else its path."""

    path: str
    handle: int | None

    def at(self, name: str) -> str:
        return name if self.handle is not None else os.path.join(self.path, name)

    def names(self) -> list[str]:
        return os.listdir(self.path if self.handle is None else self.handle)

    def lstat(self, name: str) -> os.stat_result:
        return os.stat(self.at(name), dir_fd=self.handle, follow_symlinks=False)

    def spelled(self, wanted: str) -> str:
        """Return the name as the disk spells it: exact first, else equal in composed form."""
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


@dataclass(frozen=True)
class Root:
    """A folder that nothing below can lead out of.

    Paths are relative and walked component by component without following links, relative to
    open handles where the platform has them, so that a path cannot be swapped between the check
    and the use. Names are found by their composed form (NFC), whatever form the disk has.
    """

    path: Path
    limits: Limits = Limits()

    @property
    def exists(self) -> bool:
        """Whether the folder is there."""
        return self.path.is_dir()

    def entries(self, path: str = "") -> list[Entry]:
        """Return what one folder holds, sorted by composed name; links are told, not followed.

        Raises:
            NotFound: when there is no such folder.
            Forbidden: when a link stands in the way, or permission is denied.
        """
        with self._folder(path) as folder:
            prefix = f"{path}/" if path else ""
            found = [entry for entry, _ in _scan(folder, prefix)]
        return sorted(found, key=lambda entry: entry.path)

    def files(self, path: str = "", *, hidden: bool = False) -> list[Entry]:
        """Return every regular file below a folder, sorted by path; dot-names only if asked.

        Folders nested deeper than the limit are not looked into.

        Raises:
            NeedsNarrowScope: when there are more files than the limit says.
        """
        found: list[Entry] = []
        with self._folder(path) as folder:
            self._collect(folder, f"{path}/" if path else "", found, hidden=hidden, depth=1)
        return sorted(found, key=lambda entry: entry.path)

    def stat(self, path: str) -> Entry:
        """Return the entry of one file or folder.

        Raises:
            NotFound: when nothing is there.
            Forbidden: when it, or a folder above it, is a link.
        """
        parent, _, name = path.rpartition("/")
        with self._folder(parent) as folder, _told(path):
            spelled = folder.spelled(name)
            entry = _entry(path, nfc(name), folder.lstat(spelled))
        if entry.kind == "link":
            raise _link(path)
        return entry

    def read_bytes(self, path: str) -> bytes:
        """Return a regular file's bytes.

        Raises:
            NotFound: when there is no such regular file.
            Forbidden: when a link stands in the way, or permission is denied.
            Unreadable: with the reason ``too_large``, above the limit.
        """
        parent, _, name = path.rpartition("/")
        with self._folder(parent) as folder, _told(path):
            spelled = folder.spelled(name)
            kind = _kind(folder.lstat(spelled).st_mode)
            if kind == "link":
                raise _link(path)
            if kind != "file":
                raise NotFound("not a file", path=path)
            flags = os.O_RDONLY | _NO_FOLLOW | _BINARY
            handle = os.open(folder.at(spelled), flags, dir_fd=folder.handle)
            with open(handle, "rb") as stream:
                size = os.fstat(handle).st_size
                if size > self.limits.file_bytes:
                    raise Unreadable(
                        f"the file has {size} bytes; at most {self.limits.file_bytes} are read",
                        reason="too_large",
                        path=path,
                    )
                return stream.read()

    def child(self, path: str) -> Root:
        """Return a folder below as a root of its own.

        Raises:
            NotFound: when there is no such folder.
            Forbidden: when a link stands in the way.
        """
        with self._folder(path) as folder:
            return Root(Path(folder.path), self.limits)

    def make(self, path: str = "") -> Root:
        """Create a folder, and those above it, unless it is there; return it as a root.

        Raises:
            Forbidden: when the place cannot be written.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if path:
                (self.path / path).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Forbidden("the folder cannot be created; check its permissions") from error
        return self.child(path) if path else self

    def _collect(
        self, folder: _Folder, prefix: str, found: list[Entry], *, hidden: bool, depth: int
    ) -> None:
        if depth > self.limits.depth:
            return
        folders = _take_files(folder, prefix, found, hidden=hidden)
        if len(found) > self.limits.files:
            raise NeedsNarrowScope(f"the folder holds over {self.limits.files} files")
        for name, spelled in folders:
            try:
                with _opened(folder, spelled) as below:
                    self._collect(below, f"{prefix}{name}/", found, hidden=hidden, depth=depth + 1)
            except (FileNotFoundError, NotADirectoryError, PermissionError):
                continue  # it vanished, was swapped, or may not be read

    @contextmanager
    def _folder(self, path: str) -> Iterator[_Folder]:
        with _told(path):
            base = os.fspath(self.path)
            handle = os.open(base, os.O_RDONLY | _DIRECTORY | _BINARY) if _BY_HANDLE else None
            folder = _Folder(base, handle)
            try:
                for segment in path.split("/") if path else ():
                    spelled = folder.spelled(segment)
                    kind = _kind(folder.lstat(spelled).st_mode)
                    if kind == "link":
                        raise _link(path)
                    if kind != "dir":
                        raise NotFound("not a folder", path=path)
                    below = _open_folder(folder, spelled)
                    _close(folder)
                    folder = below
                yield folder
            finally:
                _close(folder)


def _open_folder(folder: _Folder, name: str) -> _Folder:
    path = os.path.join(folder.path, name)
    if folder.handle is None:
        return _Folder(path, None)
    flags = os.O_RDONLY | _DIRECTORY | _NO_FOLLOW | _BINARY
    return _Folder(path, os.open(name, flags, dir_fd=folder.handle))


@contextmanager
def _opened(folder: _Folder, name: str) -> Iterator[_Folder]:
    below = _open_folder(folder, name)
    try:
        yield below
    finally:
        _close(below)


def _close(folder: _Folder) -> None:
    if folder.handle is not None:
        os.close(folder.handle)


def _scan(folder: _Folder, prefix: str) -> Iterator[tuple[Entry, str]]:
    with os.scandir(folder.path if folder.handle is None else folder.handle) as scanned:
        for found in scanned:
            if not _speakable(found.name):
                continue
            try:
                status = found.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            name = nfc(found.name)
            yield _entry(prefix + name, name, status), found.name


def _take_files(
    folder: _Folder, prefix: str, found: list[Entry], *, hidden: bool
) -> list[tuple[str, str]]:
    """Append a folder's regular files; return its folders, composed and as spelled.

    Every search looks at every file in this loop, so it does nothing that it need not.
    """
    folders = []
    with os.scandir(folder.path if folder.handle is None else folder.handle) as scanned:
        for entry in scanned:
            spelled = entry.name
            if not _speakable(spelled) or (spelled[0] == "." and not hidden):
                continue
            name = nfc(spelled)
            if entry.is_dir(follow_symlinks=False):
                folders.append((name, spelled))
            elif entry.is_file(follow_symlinks=False):
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                found.append(Entry(prefix + name, name, "file", status.st_size, status.st_mtime_ns))
    return folders


def _speakable(name: str) -> bool:
    """Names that are no Unicode text cannot be written into an answer, so they are not listed."""
    return name.isascii() or not any("\ud800" <= character <= "\udfff" for character in name)


def _entry(path: str, name: str, status: os.stat_result) -> Entry:
    return Entry(path, name, _kind(status.st_mode), status.st_size, status.st_mtime_ns)


def _kind(mode: int) -> EntryKind:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "dir"
    return "link" if stat.S_ISLNK(mode) else "other"


def _link(path: str) -> Forbidden:
    return Forbidden("symbolic links are not followed", path=path)


@contextmanager
def _told(path: str) -> Iterator[None]:
    """Say what the operating system says in the project's own words, without absolute paths."""
    try:
        yield
    except ToolError:
        raise
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound("no such file or folder", path=path or None) from error
    except PermissionError as error:
        raise Forbidden("permission denied by the operating system", path=path or None) from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _link(path) from error
        raise NotFound("the file or folder cannot be opened", path=path or None) from error
