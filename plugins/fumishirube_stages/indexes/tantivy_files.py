"""The files of a tantivy index on disk: whether they still are what was committed."""

from __future__ import annotations

import json
import os
import re
import shutil
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import tantivy
from pydantic_core import from_json

from fumishirube import Forbidden, IndexDamaged
from fumishirube.disk import ScratchFolder

T = TypeVar("T")

_META = "meta.json"
_FOOTER = 8
"""Bytes of the last part of a segment's file: how long its footer is, and a fixed number."""
_CHUNK = 1 << 20


class FileStamp(NamedTuple):
    """What of a file differs when another one is in its place, or it was written to."""

    inode: int
    size: int
    modified_ns: int


class CommittedFiles:
    """The files of the last commit. The engine never changes one that it has written.

    They are mapped into memory, so that one which was cut short must not be searched: the
    operating system ends a process that reads past the end.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stamps: dict[str, FileStamp] = {}
        self.commit: FileStamp | None = None

    def newest_commit(self) -> FileStamp | None:
        """Return what changes with every commit; nothing when there is none on disk."""
        return self._stamp(_META)

    def take(self, commit: FileStamp | None) -> None:
        """Remember the files of a commit, after it has been opened.

        Raises:
            IndexDamaged: when what names them cannot be read.
        """
        try:
            segments = json.loads((self._folder / _META).read_bytes())["segments"]
            deletes = {
                segment["segment_id"].replace("-", ""): segment["deletes"] or {}
                for segment in segments
            }
            names = [p.name for p in self._folder.iterdir() if _is_committed(p.name, deletes)]
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise IndexDamaged("the list of the index's files cannot be read") from error
        stamps = {name: self._stamp(name) for name in names}
        self._stamps = {name: stamp for name, stamp in stamps.items() if stamp is not None}
        self.commit = commit

    def check(self) -> None:
        """See that the files of the last commit are as they were.

        One that was only touched is as it was, which its checksum tells.

        Raises:
            IndexDamaged: when one is gone, or holds something else, and no newer commit says why.
        """
        changed = [name for name, stamp in self._stamps.items() if self._stamp(name) != stamp]
        if not changed or self.newest_commit() != self.commit:
            return
        for name in changed:
            now = self._stamp(name)
            if now is None or now.size != self._stamps[name].size or not self._is_sound(name):
                raise self._damaged(f"{name.partition('.')[2]} file of the index")
            self._stamps[name] = now

    @contextmanager
    def judging(self) -> Iterator[None]:
        """Raise :class:`IndexDamaged` instead of what the engine says of damaged files."""
        try:
            yield
        except BaseException as error:
            self.judge(error)
            raise

    def judge(self, error: BaseException) -> None:
        """Find out whether the engine failed because its files are damaged.

        Raises:
            IndexDamaged: when they are; else somebody asked what the engine cannot answer.
        """
        panicked = type(error).__name__ == "PanicException"  # pyo3's, which nothing exports
        if not panicked and not isinstance(error, (ValueError, OSError, LookupError)):
            return
        if self.newest_commit() is None:
            raise IndexDamaged("the index is gone") from error
        for name in self._stamps:
            if not self._is_sound(name) and self.newest_commit() == self.commit:
                raise self._damaged(f"{name.partition('.')[2]} file of the index") from error

    def _damaged(self, what: str) -> IndexDamaged:
        """Take the commit away, so that whoever opens the folder next begins anew."""
        with suppress(OSError):
            (self._folder / _META).unlink()
        return IndexDamaged(f"a {what} is gone or damaged")

    def _stamp(self, name: str) -> FileStamp | None:
        try:
            status = os.stat(self._folder / name)  # noqa: PTH116 - every search waits for this
        except OSError:
            return None
        return FileStamp(status.st_ino, status.st_size, status.st_mtime_ns)

    def _is_sound(self, name: str) -> bool:
        """Compare a segment's file with the checksum that the engine has written at its end."""
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
        except (OSError, ValueError, OverflowError):
            return False
        return isinstance(footer, dict) and footer.get("crc") == checksum


def _is_committed(name: str, deletes: Mapping[str, Mapping[str, int]]) -> bool:
    """Tell whether a file is one of a commit's, given the segments with their deletions.

    A writer that was killed may leave deletions that were never committed; they are collected.
    """
    segment, _, rest = name.partition(".")
    if segment not in deletes:
        return False
    return not rest.endswith(".del") or rest == f"{deletes[segment].get('opstamp')}.del"


_UNWRITTEN = re.compile(
    r"io::Error|IoError|os error|writer was killed|OpenWriteError", re.IGNORECASE
)
"""What the engine says when a file cannot be written; it does not say why."""
_LITTLE = 32 * 1024 * 1024


_UNOPENED = re.compile(
    r"(?:os error|code:) (?:1|13|24|27|28|30|122)\b"
    r"|kind: (?:PermissionDenied|ReadOnlyFilesystem|StorageFull|FileTooLarge|QuotaExceeded)\b"
)
"""What it says when the system, and no damage, keeps it from opening its files: it writes then."""


def is_damage(error: BaseException) -> bool:
    """Tell whether the engine fails so over files that it cannot read; it may panic over them."""
    return (
        isinstance(error, (ValueError, OSError, LookupError, IndexDamaged))
        or type(error).__name__ == "PanicException"
    )


def open_refusal(error: BaseException, folder: Path) -> Forbidden | None:
    """Return why the engine could not open its files, if they need not be damaged."""
    return write_refusal(error, folder) if _UNOPENED.search(str(error)) else None


def linked_copy(folder: Path) -> ScratchFolder:
    """Return a folder that holds the files of a commit, if there is one, and can be written.

    Files of segments never change, so that links to them will do.

    Raises:
        OSError: when there is no room for a folder.
    """
    copy = ScratchFolder()
    for file in folder.iterdir() if (folder / _META).is_file() else ():
        beside = copy.path / file.name
        if file.suffix == ".json":
            shutil.copyfile(file, beside)
        elif file.suffix != ".lock":
            try:
                beside.symlink_to(file)
            except OSError:  # Windows lets few make links
                shutil.copyfile(file, beside)
    return copy


def write_refusal(error: BaseException, folder: Path) -> Forbidden | None:
    """Return why the engine could not write; nothing when it failed over something else."""
    if isinstance(error, Forbidden) or not _UNWRITTEN.search(str(error)):
        return None
    if _is_full(folder):
        return Forbidden("the disk is full, or a file may not grow further; make room")
    return Forbidden("the index cannot be written; check its folder's permissions and the disk")


def _is_full(folder: Path) -> bool:
    """Tell whether there is little room, or a limit to the size of files."""
    with suppress(ImportError, OSError):
        import resource  # noqa: PLC0415 - there is none on Windows

        if resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY:
            return True
    with suppress(OSError):
        return shutil.disk_usage(folder).free < _LITTLE
    return False


class CheckedSearcher:
    """A searcher that tells damage from everything else that the engine may fail on."""

    def __init__(self, searcher: tantivy.Searcher, files: CommittedFiles) -> None:
        self._searcher = searcher
        self._files = files
        self.num_docs: int = searcher.num_docs

    def search(
        self, query: tantivy.Query, limit: int, *, count: bool = True
    ) -> tantivy.SearchResult:
        """Return the best documents for which a query holds."""
        return self._checked(lambda: self._searcher.search(query, limit, count=count))

    def doc_freq(self, field: str, term: str) -> int:
        """Return in how many documents a term was written."""
        return self._checked(lambda: self._searcher.doc_freq(field, term))

    def numbers(self, field: str, addresses: list[tantivy.DocAddress]) -> list[Any]:
        """Return the numbers of some documents, without reading what else is kept with them."""
        return self._checked(lambda: self._searcher.fast_field_values(field, addresses))

    def data(self, address: tantivy.DocAddress) -> Any:
        """Return what was kept with a document."""
        return self._checked(lambda: from_json(self._searcher.doc(address)["data"][0]))

    def _checked(self, verb: Callable[[], T]) -> T:
        try:
            return verb()
        except BaseException as error:
            self._files.judge(error)
            raise


def _chunks(read: Callable[[int], bytes], length: int) -> Iterator[bytes]:
    """Yield so many bytes, or fewer if there are no more."""
    while length and (chunk := read(min(length, _CHUNK))):
        length -= len(chunk)
        yield chunk
