"""What errors of tantivy mean: damaged files, or a system that does not let it write or open."""

from __future__ import annotations

import re
import shutil
from contextlib import suppress
from pathlib import Path

from fumishirube import Forbidden, IndexDamaged

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
