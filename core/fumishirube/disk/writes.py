"""Atomic and durable writes below a root, which never overwrite another writer's work."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from fumishirube.disk.folders import OpenFolder, why_unwritten
from fumishirube.disk.locks import take_lock
from fumishirube.disk.names import clean_path
from fumishirube.disk.no_follow import NO_FOLLOW, PLAIN
from fumishirube.disk.rights import upwards
from fumishirube.disk.roots import Root
from fumishirube.errors import Conflict, Forbidden, InvalidPath, NotFound, ToolError
from fumishirube.text.folding import nfc

LOCKS = 64
"""The number of lock files; the files of a root share them."""

_LOCK_SECONDS = 30.0
_NEW_MODE, _PRIVATE_MODE = 0o666, 0o600
_RIGHTS = stat.S_IRWXU | stat.S_IRWXG | stat.S_IRWXO
_PART = "._fumishirube-"
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS})


def content_hash(data: bytes) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def is_unfinished(name: str) -> bool:
    """Tell whether a name is that of an unfinished :meth:`WritableRoot.swap`."""
    return name.startswith(_PART)


@dataclass(frozen=True)
class WritableRoot:
    """A root whose files may be written; ``locks`` is a folder below it for the lock files.

    A writer holds the lock of a file from its first read to the last write. Nothing is written
    through links or by absolute path, nor where the root's rights do not allow it. The locks are no
    subject of rights.
    """

    root: Root
    locks: str

    def lock_of(self, path: str) -> int:
        """Return the number of a file's lock, for any spelling of its name."""
        name = nfc(clean_path(path).casefold())
        return hashlib.sha256(name.encode()).digest()[0] % LOCKS

    @contextmanager
    def locked(self, number: int, seconds: float = _LOCK_SECONDS) -> Iterator[None]:
        """Hold a lock against all other processes and threads.

        Raises:
            Conflict: when another holds it for longer than ``seconds``.
            Forbidden: when the system does not allow it, or has no locks there.
        """
        whole = WritableRoot(self.root.whole, self.locks)
        whole.make_folder(self.locks)
        name = f"{number:02x}.lock"
        flags = os.O_RDWR | os.O_CREAT | NO_FOLLOW | PLAIN
        path = f"{self.locks}/{name}"
        with whole.root.opened(self.locks) as folder, _translate_write_errors(path):
            handle = os.open(folder.at(name), flags, 0o666, dir_fd=folder.handle)
        try:
            with _translate_write_errors(path):  # a file system may have no locks
                taken = take_lock(handle, seconds)
            if not taken:
                raise Conflict("another process is writing this file; try again in a moment")
            yield
        finally:
            os.close(handle)

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, or ``None`` if it does not exist.

        Raises:
            Conflict: when the name is that of something else than a file.
            Forbidden: when the path contains a link, or permission is denied.
            Unreadable: when it is larger than the root's limit.
        """
        try:
            if self.root.stat(path).kind != "file":
                raise Conflict("this name belongs to something other than a file", path=path)
            return self.root.read_bytes(path)
        except NotFound:
            return None

    def make_folder(self, path: str) -> None:
        """Create a folder and its parents durably, unless they exist.

        Raises:
            Conflict: when a file has the name of one of them.
            Forbidden: when the path contains a link, or cannot be written.
        """
        above = [*upwards(path)][::-1]
        missing = [folder_path for folder_path in above if not self._is_folder(folder_path)]
        if not missing:
            return
        self.root.make(path)
        if not missing[0]:
            with suppress(OSError), OpenFolder.at_top(os.fspath(self.root.path.parent)) as outside:
                outside.sync()
        for folder_path in above[max(0, above.index(missing[0]) - 1) : -1]:
            with self.root.opened(folder_path) as folder:
                folder.sync()

    @contextmanager
    def needing_folder(self, path: str) -> Iterator[None]:
        """Create a folder and its parents for a body; if it fails, remove those that are empty.

        Only folders that were missing are removed, never the root itself. It raises the errors of
        :meth:`make_folder`.
        """
        missing = [above for above in upwards(path) if above and not self._is_folder(above)]
        try:
            self.make_folder(path)
            yield
        except BaseException:
            for folder_path in missing:
                with suppress(ToolError), self._opened(folder_path) as (folder, name):
                    os.rmdir(folder.at(name), dir_fd=folder.handle)
            raise

    def swap(self, path: str, before: bytes | None, after: bytes | None, mark: str) -> None:
        """Replace the content of a file: create it, replace it, or remove it with ``None``.

        The file has either content at every moment, and the new one survives a crash after the
        return. Permissions stay, except set-uid and the like. ``mark`` names the unfinished file,
        which a crash may leave; see :meth:`discard`.

        Raises:
            Conflict: when ``before`` is no longer the content; nothing is written.
            Forbidden: when the path cannot be written, or contains a link.
        """
        part = _PART + mark
        with self._opened(path) as (folder, name):
            if before is not None or after is None:
                _check(folder, name, before, path)
            if after is None:
                os.unlink(folder.at(folder.spelled(name)), dir_fd=folder.handle)
            else:
                mode = None if before is None else folder.lstat(folder.spelled(name)).st_mode
                try:
                    _write_new(folder, part, after, mode)
                    if before is None:
                        _appear(folder, part, name)
                    else:
                        _check(folder, name, before, path)
                        _rename(folder, part, folder.spelled(name))
                finally:
                    _discard(folder, part, name)
            folder.sync()

    def discard(self, path: str, mark: str) -> None:
        """Remove what a killed :meth:`swap` with this mark left, if it left something.

        Raises:
            Forbidden: when that is not allowed.
        """
        with suppress(NotFound), self._opened(path) as (folder, name):
            _discard(folder, _PART + mark, name)
            folder.sync()

    def create(self, path: str, data: bytes) -> None:
        """Write a new file durably, in place: a crash may leave a part of it.

        Only its owner may read it.

        Raises:
            Conflict: when the name is taken.
        """
        with self._opened(path) as (folder, name):
            _write_new(folder, name, data, _PRIVATE_MODE)
            folder.sync()

    def rename(self, path: str, name: str) -> None:
        """Rename a file in its folder; it may be missing."""
        with self._opened(path) as (folder, old), suppress(FileNotFoundError):
            _rename(folder, old, name)

    def remove(self, path: str) -> None:
        """Remove a file; it may be missing."""
        with self._opened(path) as (folder, name):
            _remove(folder, name)

    @contextmanager
    def _opened(self, path: str) -> Iterator[tuple[OpenFolder, str]]:
        """Open the folder of a file that may be written; yield it with the file's name."""
        path = clean_path(path)
        self.root.check_writable(path)
        above, _, name = path.rpartition("/")
        with self.root.opened(above) as folder, _translate_write_errors(path):
            yield folder, name

    def _is_folder(self, path: str) -> bool:
        if not path:
            return self.root.exists
        try:
            kind = self.root.stat(path).kind
        except NotFound:
            return False
        if kind != "dir":
            raise Conflict("a file has the name of a folder on the way", path=path)
        return True


def _write_new(folder: OpenFolder, name: str, data: bytes, mode: int | None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW | PLAIN
    first_mode = _NEW_MODE if mode is None else _PRIVATE_MODE
    handle = os.open(folder.at(name), flags, first_mode, dir_fd=folder.handle)
    try:
        with open(handle, "wb") as stream:
            if mode is not None and os.chmod in os.supports_fd:
                os.chmod(handle, mode & _RIGHTS)
            stream.write(data)
            stream.flush()
            os.fsync(handle)
    except BaseException:
        _remove(folder, name)
        raise


def _check(folder: OpenFolder, name: str, before: bytes | None, path: str) -> None:
    """Check that a file is writable and has unchanged content."""
    try:
        spelled = folder.at(folder.spelled(name))
        flags = os.O_RDWR | NO_FOLLOW | PLAIN
        with open(os.open(spelled, flags, dir_fd=folder.handle), "rb") as stream:
            current = stream.read(len(before or b"") + 1)
    except (FileNotFoundError, IsADirectoryError):
        current = None
    if current is None or current != before:
        raise Conflict("the file was changed meanwhile; read it again", path=path)


def _appear(folder: OpenFolder, part: str, name: str) -> None:
    """Give a finished file its name, unless the name is taken in any spelling."""
    with suppress(FileNotFoundError):
        folder.spelled(name)
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)
    try:
        os.link(
            folder.at(part), folder.at(name), src_dir_fd=folder.handle, dst_dir_fd=folder.handle
        )
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # Without links, another file takes the name first, so that nothing is overwritten. It
        # holds the name of the unfinished one: no file of somebody else is taken for it.
        _write_new(folder, name, part.encode(), None)
        _rename(folder, part, name)


def _discard(folder: OpenFolder, part: str, name: str) -> None:
    """Remove an unfinished file, and the one that took its name."""
    with suppress(OSError, Conflict):
        folder.lstat(part)
        _check(folder, name, part.encode(), name)
        _remove(folder, name)
    _remove(folder, part)


def _rename(folder: OpenFolder, old: str, new: str) -> None:
    os.replace(folder.at(old), folder.at(new), src_dir_fd=folder.handle, dst_dir_fd=folder.handle)


def _remove(folder: OpenFolder, name: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(folder.at(name), dir_fd=folder.handle)


@contextmanager
def _translate_write_errors(path: str) -> Iterator[None]:
    """Translate errors of the operating system on writing."""
    try:
        yield
    except FileExistsError as error:
        raise Conflict("this name is already taken", path=path) from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Forbidden("symbolic links are not followed", path=path) from error
        if error.errno == errno.ENAMETOOLONG:
            raise InvalidPath("the file system takes no name of this length", path=path) from error
        if isinstance(error, (FileNotFoundError, NotADirectoryError)):
            raise NotFound("the folder is no longer there", path=path) from error
        raise Forbidden(why_unwritten(error), path=path) from error
