"""Temporary folders, which outlive no process for long; files replaced by temporary ones."""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir, mkstemp
from typing import Self

from fumishirube.disk.locks import take_lock
from fumishirube.disk.no_follow import NO_FOLLOW

PREFIX = "fumishirube-"
OWNER = ".owner"


def replace_file(
    file: Path, data: bytes, *, durable: bool = False, mode: int | None = None
) -> None:
    """Write a file beside another one, and put it in its place.

    Without a ``mode`` only its owner may open it. Its parent must exist.

    Raises:
        OSError: when that fails; the former file stays as it was.
    """
    handle, part = mkstemp(".part", f".{file.name}.", file.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            if durable:
                os.fsync(handle)
        if mode is not None:
            Path(part).chmod(mode)
        Path(part).replace(file)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise


class ScratchFolder:
    """A temporary folder. Its process holds a lock in it for as long as it is used.

    ``path`` is the folder. Use it as a context manager, or call ``remove``.
    """

    def __init__(self) -> None:
        _remove_abandoned(Path(gettempdir()))
        self._made = TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True)
        self.path = Path(self._made.name)
        locked = self.path / f"{OWNER}.new"
        self._lock = locked.open("wb")
        # Nobody looks at the lock before it is taken.
        take_lock(self._lock.fileno(), 0)
        with suppress(OSError):  # Windows does not rename open files
            locked.rename(self.path / OWNER)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def remove(self) -> None:
        """Remove the folder and what is in it."""
        self._lock.close()
        self._made.cleanup()


def _remove_abandoned(folder: Path) -> None:
    """Remove what killed processes of this user have left."""
    for left in folder.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if is_own_folder(left) and _is_abandoned(left / OWNER):
                shutil.rmtree(left, ignore_errors=True)


def is_own_folder(path: Path) -> bool:
    """Tell whether it is a folder of this user, and no link, which others may put there."""
    status = path.lstat()
    own = not hasattr(os, "getuid") or status.st_uid == os.getuid()
    return own and stat.S_ISDIR(status.st_mode)


def _is_abandoned(lock: Path) -> bool:
    """Tell whether no process holds the lock; raise an :class:`OSError` if there is no file."""
    handle = os.open(lock, os.O_RDWR | NO_FOLLOW)
    try:
        return take_lock(handle, 0)
    finally:
        os.close(handle)
