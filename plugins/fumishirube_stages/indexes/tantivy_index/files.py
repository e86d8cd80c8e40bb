"""The committed files of a tantivy index, damage to them, and what errors of tantivy mean."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from fumishirube import Forbidden, IndexDamaged
from fumishirube.disk import ScratchFolder

_META = "meta.json"
_MISSING = "FileDoesNotExist"
_UNREADABLE_NOW = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EACCES, errno.EPERM)
"""Errors that say nothing about the content of a file."""
_FOOTER = 8
"""The bytes at the end of a segment's file: the length of its footer, and a magic number."""
_CHUNK = 1 << 20
_UNWRITTEN = re.compile(
    r"io::Error|IoError|os error|writer was killed|OpenWriteError", re.IGNORECASE
)
"""Matches the errors of tantivy when it cannot write a file; they do not say why."""
_LITTLE = 32 * 1024 * 1024
_UNOPENED = re.compile(
    r"(?:os error|code:) (?:1|13|24|27|28|30|122)\b"
    r"|kind: (?:PermissionDenied|ReadOnlyFilesystem|StorageFull|FileTooLarge|QuotaExceeded)\b"
)
"""Matches the errors of tantivy when the system prevents it from opening an index, which also needs
to write. The files need not be damaged then."""
_STARVED = re.compile(
    r"(?:os error|code:) (?:11|12)\b|kind: (?:WouldBlock|OutOfMemory)\b|Failed to spawn"
)
"""Matches those when it gets no thread or no memory, of which it needs both to open an index."""


class FileStamp(NamedTuple):
    """The attributes of a file that change when it is replaced or written."""

    inode: int
    size: int
    modified_ns: int


class CommittedFiles:
    """The files of the last commit. tantivy never changes a file after writing it.

    The files are mapped into memory. A truncated file must not be searched, because the operating
    system ends a process that reads past its end.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stamps: dict[str, FileStamp] = {}
        self.segments = 0
        self.commit: FileStamp | None = None

    def newest_commit(self) -> FileStamp | None:
        """Return a stamp that changes with every commit; ``None`` without a commit on disk."""
        return self._stamp(_META)

    def reloaded(self, reload: Callable[[], None]) -> int:
        """Let tantivy load the newest commit, and return its number."""
        while True:
            opstamp: int = self._listed()["opstamp"]
            reload()
            if self._listed()["opstamp"] == opstamp:  # else another commit came between
                return opstamp

    def take(self, commit: FileStamp | None) -> None:
        """Store the stamps of the files of a commit, after it has been opened.

        Raises:
            IndexDamaged: when the list of the files cannot be read.
        """
        try:
            segments = self._listed()["segments"]
            deletes = {
                segment["segment_id"].replace("-", ""): segment["deletes"] or {}
                for segment in segments
            }
            listed = os.listdir(self._folder)  # noqa: PTH208 - every update waits for this
            names = [name for name in listed if _is_committed(name, deletes)]
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise IndexDamaged("the list of the index's files cannot be read") from error
        stamps = {name: self._stamp(name) for name in names}
        self._stamps = {name: stamp for name, stamp in stamps.items() if stamp is not None}
        self.segments = len(deletes)
        self.commit = commit

    def _listed(self) -> dict[str, Any]:
        """Return what tantivy lists of the newest commit."""
        listed: dict[str, Any] = json.loads((self._folder / _META).read_bytes())
        return listed

    def check(self) -> None:
        """Check that the files of the last commit are unchanged, as far as a newer one has them.

        A file whose stamp changed is unchanged if its size and its checksum are right.

        Raises:
            IndexDamaged: when a file is changed, or missing without a newer commit.
        """
        changed = {
            name: now for name, was in self._stamps.items() if (now := self._stamp(name)) != was
        }
        if not changed:
            return
        removed = self.newest_commit() != self.commit
        for name, now in changed.items():
            if now is None and removed:
                continue
            if now is None or now.size != self._stamps[name].size or not self._is_sound(name):
                raise self._damaged(name)
            self._stamps[name] = now

    @contextmanager
    def judging(self) -> Iterator[None]:
        """Raise instead of an error of tantivy what caused it.

        Raises:
            IndexDamaged: when files are damaged.
            Forbidden: when files cannot be written.
        """
        try:
            yield
        except BaseException as error:
            self.judge(error)
            if problem := write_problem(error, self._folder):
                raise Forbidden(problem) from error
            raise

    def judge(self, error: BaseException) -> None:
        """Find out whether tantivy failed because its files are damaged.

        Raises:
            IndexDamaged: when they are; otherwise the error has another cause.
        """
        if isinstance(error, IndexDamaged) or not is_damage(error):
            return
        if self.newest_commit() is None:
            raise IndexDamaged("the index is gone") from error
        if _MISSING in str(error):  # also one that is in no commit yet
            raise IndexDamaged("a file of the index is gone") from error
        for name in self._stamps:
            if self._is_sound(name):
                continue
            if self.newest_commit() != self.commit:
                raise IndexDamaged("another process has replaced the index") from error
            raise self._damaged(name) from error

    def _damaged(self, name: str) -> IndexDamaged:
        """Delete the commit, so that the next opening creates a new index; return the error."""
        with suppress(OSError):
            (self._folder / _META).unlink()
        kind = name.partition(".")[2]
        return IndexDamaged(f"a {kind} file of the index is gone or damaged")

    def _stamp(self, name: str) -> FileStamp | None:
        try:
            place = os.path.join(self._folder, name)  # noqa: PTH118 - every search waits for this
            status = os.stat(place)  # noqa: PTH116 - the same
        except OSError:
            return None
        return FileStamp(status.st_ino, status.st_size, status.st_mtime_ns)

    def _is_sound(self, name: str) -> bool:
        """Compare a segment's file with the checksum in its footer."""
        try:
            with (self._folder / name).open("rb") as stream:
                end = stream.seek(0, os.SEEK_END)
                stream.seek(end - _FOOTER)
                length = int.from_bytes(stream.read(4), "little")
                stream.seek(end - _FOOTER - length)
                footer = json.loads(stream.read(length))
                stream.seek(0)
                checksum = 0
                for chunk in _chunks(stream.read, end - _FOOTER - length):
                    checksum = zlib.crc32(chunk, checksum)
        except OSError as error:
            return error.errno in _UNREADABLE_NOW
        except (ValueError, OverflowError):
            return False
        return isinstance(footer, dict) and footer.get("crc") == checksum


def _is_committed(name: str, deletes: Mapping[str, Mapping[str, int]]) -> bool:
    """Tell whether a file belongs to a commit, given its segments with their deletions.

    A killed writer may leave deletions that were never committed; the next writer removes them.
    """
    segment, _, rest = name.partition(".")
    if segment not in deletes:
        return False
    return not rest.endswith(".del") or rest == f"{deletes[segment].get('opstamp')}.del"


def _chunks(read: Callable[[int], bytes], length: int) -> Iterator[bytes]:
    """Yield a number of bytes in chunks; fewer at the end of the file."""
    while length and (chunk := read(min(length, _CHUNK))):
        length -= len(chunk)
        yield chunk


def linked_copy(folder: Path) -> ScratchFolder:
    """Return a writable folder with the files of a commit, if there is one.

    The files of segments are linked, since they never change.

    Raises:
        OSError: when the folder cannot be created.
    """
    copy = ScratchFolder()
    for file in folder.iterdir() if (folder / _META).is_file() else ():
        beside = copy.path / file.name
        if file.suffix == ".json":
            shutil.copyfile(file, beside)
        elif file.suffix != ".lock":
            try:
                beside.symlink_to(file)
            except OSError:  # Windows restricts symbolic links
                shutil.copyfile(file, beside)
    return copy


# --- errors of tantivy ----------------------------------------------------------------------


def is_damage(error: BaseException) -> bool:
    """Tell whether tantivy raises such errors for files that it cannot read; it may also panic."""
    panicked = type(error).__name__ == "PanicException"  # pyo3's, which no module exports
    return panicked or isinstance(error, (ValueError, OSError, LookupError, IndexDamaged))


def is_starved(error: BaseException | None) -> bool:
    """Tell whether tantivy got no thread or no memory of the system."""
    return _STARVED.search(str(error)) is not None


def open_problem(error: BaseException, folder: Path) -> str | None:
    """Return why tantivy could not open its files; ``None`` if they may be damaged."""
    return (
        write_problem(error, folder) if is_starved(error) or _UNOPENED.search(str(error)) else None
    )


def write_problem(error: BaseException, folder: Path) -> str | None:
    """Return why tantivy could not write; ``None`` for any other error."""
    if isinstance(error, Forbidden):
        return None
    if is_starved(error):
        return "the system has no thread or no memory left; raise its limits, or end other programs"
    if not _UNWRITTEN.search(str(error)):
        return None
    if _is_full(folder):
        return "the disk is full, or a file may not grow further; make room"
    return "the index cannot be written; check its folder's permissions and the disk"


def _is_full(folder: Path) -> bool:
    """Tell whether the disk is nearly full, or the size of files is limited."""
    with suppress(ImportError, OSError):
        import resource  # noqa: PLC0415 - there is none on Windows

        if resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY:
            return True
    with suppress(OSError):
        return shutil.disk_usage(folder).free < _LITTLE
    return False
