"""How files and folders are opened without following links."""

from __future__ import annotations

import os
from pathlib import Path

NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
PLAIN = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | NO_FOLLOW | PLAIN
_PASSED = FOLDER | getattr(os, "O_PATH", 0)
"""A folder that is only passed need not be readable, where the platform can tell."""

_SEEN: dict[str, tuple[int, int] | None] = {}
"""Which folder was at a path; ``None`` where a link led to it when it was opened first."""


def open_top(path: str) -> int:
    """Return a handle of the folder at an absolute path; it may be no link itself.

    Nor may one have taken the place of a folder above it since it was opened first. As long as the
    same folder is there nothing is looked up.

    Raises:
        OSError: when it cannot be opened.
    """
    handle = os.open(path, FOLDER)
    seen, now = _SEEN.get(path), _identity(handle)
    if seen == now:
        return handle
    if path not in _SEEN:
        _SEEN[path] = now if os.path.realpath(path) == path else None
    elif seen is not None:  # another folder came to this place
        os.close(handle)
        handle = _walked(path) if _PASSED != FOLDER else _looked_up(path)
        _SEEN[path] = _identity(handle)
    return handle


def was_replaced(path: str) -> bool:
    """Tell whether a link leads to a path at which a folder was opened that no link led to."""
    return _SEEN.get(path) is not None and os.path.realpath(path) != path


def _identity(handle: int) -> tuple[int, int]:
    status = os.fstat(handle)
    return status.st_dev, status.st_ino


def _walked(path: str) -> int:
    """Open a folder by opening those above it, each inside the one before."""
    top, *above, last = Path(path).parts
    handle = os.open(top, _PASSED)
    for name in above:
        handle = _inside(handle, name, _PASSED)
    return _inside(handle, last, FOLDER)


def _looked_up(path: str) -> int:
    """Open a folder where a platform cannot pass one above it that may not be read.

    Its path is then looked up; a link that comes between the look and the use is followed.
    """
    try:
        return _walked(path)
    except PermissionError:
        if os.path.realpath(path) != path:
            raise
        return os.open(path, FOLDER)


def _inside(above: int, name: str, flags: int) -> int:
    """Open a folder inside another one, which is closed."""
    try:
        return os.open(name, flags, dir_fd=above)
    finally:
        os.close(above)
