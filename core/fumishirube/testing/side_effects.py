"""Side effects of a stage: the files it changes and the hosts it connects to."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

_CHANGES = {
    "os.chmod": 1,
    "os.chown": 1,
    "os.link": 2,
    "os.mkdir": 1,
    "os.remove": 1,
    "os.rename": 2,
    "os.rmdir": 1,
    "os.symlink": 2,
    "os.truncate": 1,
    "os.utime": 1,
    "sqlite3.connect": 1,
}
"""Events that change what their first arguments name, and the number of those arguments."""

_CALLS = frozenset(
    {
        "socket.bind",
        "socket.connect",
        "socket.getaddrinfo",
        "socket.gethostbyaddr",
        "socket.gethostbyname",
        "socket.sendmsg",
        "socket.sendto",
    }
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_LOOPBACK = ("127.0.0.1", "::1")


class SideEffectMonitor:
    """Watches every audit event of the process; while confined, refuses forbidden ones.

    Refused events are recorded too: a stage may survive the refusal. Actions of C extensions or
    child processes raise no events.
    """

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._hosts: Collection[str] = ()
        self._attempts: list[str] = []
        sys.addaudithook(self._on_event)

    @contextmanager
    def confined_to(self, folder: Path, hosts: Collection[str] = ()) -> Iterator[list[str]]:
        """Allow writing only below a folder, and only these hosts; yield the refused attempts.

        A host is named with its port, such as ``127.0.0.1:9200``.
        """
        bytecode = sys.dont_write_bytecode
        sys.dont_write_bytecode = True  # imports may write bytecode
        self._attempts = []
        self._hosts = hosts
        self._folder = folder.resolve()
        try:
            yield self._attempts
        finally:
            self._folder = None
            sys.dont_write_bytecode = bytecode

    def _on_event(self, event: str, arguments: tuple[object, ...]) -> None:
        if self._folder is None:
            return
        if event in _CALLS:
            self._called(event, arguments)
        elif event == "open":
            path, _, flags = arguments
            if isinstance(flags, int) and flags & _WRITING:
                self._written(path, self._folder)
        elif event in _CHANGES:
            for path in arguments[: _CHANGES[event]]:
                self._written(path, self._folder)

    def _called(self, event: str, arguments: tuple[object, ...]) -> None:
        address = arguments[1] if len(arguments) > 1 and event != "socket.getaddrinfo" else None
        if isinstance(address, str | bytes):  # a socket of the file system
            return
        place = address if isinstance(address, tuple) else arguments
        if ":".join(map(str, place[:2])) in self._hosts:
            return
        if sys.platform == "win32" and isinstance(address, tuple) and address[0] in _LOOPBACK:
            return  # there, socketpair() connects over loopback
        self._refuse(f"{event} {address if address is not None else arguments[0]}")

    def _written(self, path: object, folder: Path) -> None:
        if not isinstance(path, str | bytes | os.PathLike) or not os.fspath(path):
            return  # an open handle, or a database in memory
        name = os.fsdecode(path)
        if name in {":memory:", os.devnull}:
            return
        if not Path(os.path.realpath(name)).is_relative_to(folder):
            self._refuse(f"write to {name}")

    def _refuse(self, attempt: str) -> None:
        self._attempts.append(attempt)
        raise PermissionError(errno.EACCES, f"a stage may not do that: {attempt}")


@cache
def side_effects() -> SideEffectMonitor:
    """Return the monitor of this process: an audit hook cannot be removed."""
    return SideEffectMonitor()
