"""Files of the program's own, below the folders of state and logs: no link leads to them."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from fumishirube.disk.no_follow import NO_FOLLOW, PLAIN
from fumishirube.disk.roots import Root
from fumishirube.errors import Forbidden, ToolError


def state_folder(state: Path, path: str = "") -> Root:
    """Return the folder of state, or one below it, whether it exists or not.

    Its ``make`` creates the folder of state for this user alone.
    """
    root = Root(state, private=True)
    return root.folder_below(path) if path else root


def made_folder(root: Root) -> Path:
    """Create a folder and its parents, unless they exist; return its path.

    Raises:
        OSError: when it cannot be created, or a link is in its place or above.
    """
    try:
        return root.make().path
    except Forbidden as error:
        if isinstance(error.__cause__, OSError):
            raise error.__cause__ from error
        raise PermissionError(errno.EACCES, str(error)) from error


def own_entries(root: Root, pattern: str) -> list[Path]:
    """Return what matches in a folder, sorted; nothing, if there is none or a link leads there."""
    try:
        with root.opened():
            return sorted(root.path.glob(pattern))
    except ToolError:
        return []


def open_own(path: Path, flags: int, mode: int = 0o600) -> int:
    """Open a regular file, and return its handle; ``mode`` is that of a new one.

    Raises:
        OSError: when that fails, or a link or anything else is in its place.
    """
    refuse_link(path)
    handle = os.open(path, flags | NO_FOLLOW | PLAIN, mode)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "this is no file", path.name)
    return handle


def read_own(path: Path, most: int, *, linked: bool = False) -> bytes:
    """Return the content of a regular file of at most so many bytes.

    With ``linked``, such as for the user's configuration, a link is followed to such a file.

    Raises:
        OSError: when it cannot be read, a link or anything else is in its place, or, as ``EFBIG``,
            it is larger.
    """
    place = Path(os.path.realpath(path)) if linked else path
    with open(open_own(place, os.O_RDONLY), "rb") as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, "this is too large", path.name)
    return data


def refuse_link(path: Path) -> None:
    """Check that a path is no link, for libraries that open files themselves.

    Raises:
        OSError: when it is one.
    """
    if path.is_symlink():
        raise OSError(errno.ELOOP, "symbolic links are not followed", path.name)
