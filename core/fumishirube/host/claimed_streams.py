"""The standard streams that a process has claimed, to be restored behind the code of plugins."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import TextIO


class ClaimedStreams:
    """The standard streams as they were claimed, and a spare of each descriptor.

    A command owns its output. In a server a stream may be replaced for a while, as by
    :func:`contextlib.redirect_stdout` on another thread.
    """

    def __init__(self, *, owns_output: bool) -> None:
        self._streams = {"stdout": sys.stdout, "stderr": sys.stderr}
        self._owned = "stdout" if owns_output else None
        self._spares = {}
        for number in range(3):
            with suppress(OSError):  # it may be closed
                self._spares[number] = duplicate(number), os.fstat(number)

    def restore(self) -> bool:
        """Restore what is closed, and the output that a command owns; tell whether any was."""
        # First the descriptors: the next file that is opened would take the number of a closed one.
        restored = [number for number in self._spares if self._restored(number)]
        for number, (name, stream) in enumerate([*self._streams.items()], start=1):
            present = getattr(sys, name)
            if stream is None or (_is_open(present) and (present is stream or name != self._owned)):
                continue
            self._streams[name] = stream if _is_open(stream) else _opened(number)
            setattr(sys, name, self._streams[name])
            restored.append(number)
        return bool(restored)

    def _restored(self, number: int) -> bool:
        spare, was = self._spares[number]
        with suppress(OSError):
            if os.path.samestat(os.fstat(number), was):
                return False
        with suppress(OSError):
            os.dup2(spare, number)
        return True


def _is_open(stream: TextIO | None) -> bool:
    try:
        return stream is not None and not stream.closed
    except ValueError:  # its buffer has been detached
        return False


def _opened(number: int) -> TextIO:
    file = io.FileIO(number, "w", closefd=False)
    return io.TextIOWrapper(file, "utf-8", "backslashreplace", write_through=True)


def duplicate(descriptor: int) -> int:
    """Return a duplicate that children do not inherit, above the three standard descriptors."""
    if sys.platform == "win32":
        return os.dup(descriptor)
    import fcntl  # noqa: PLC0415 - there is none on Windows

    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
