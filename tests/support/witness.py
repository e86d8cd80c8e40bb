"""A witness that no test can talk round: the kernel says which files were touched, and by nobody.

inotify, by way of the C library, because it is there on every Linux without root or a package. It
sees what a library written in another language opens too, which an audit hook does not, and
follows links to what they lead to, which a list of system calls does not.
"""

from __future__ import annotations

import ctypes
import os
import select
import struct
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Self

HERE = sys.platform == "linux"

_ALL = 0xFFF
_EVENT = struct.Struct("iIII")


class Witness:
    """Notes every touch of what lies in some folders, but for names that may be touched."""

    def __init__(self, folders: Mapping[Path, Collection[str]]) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._handle = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        assert self._handle >= 0, os.strerror(ctypes.get_errno())
        self._watched: dict[int, tuple[Path, Collection[str]]] = {}
        for folder, allowed in folders.items():
            number = self._libc.inotify_add_watch(self._handle, os.fsencode(folder), _ALL)
            assert number >= 0, os.strerror(ctypes.get_errno())
            self._watched[number] = (folder, allowed)

    @classmethod
    def outside(cls, top: Path, root: Path, allowed: Collection[str]) -> Self:
        """Watch a whole tree, and of what is in ``root`` only what is not allowed there."""
        inner = [folder for folder, _, _ in os.walk(top) if not Path(folder).is_relative_to(root)]
        watched: dict[Path, Collection[str]] = {Path(folder): () for folder in inner}
        watched[root.parent] = (root.name,)
        watched[root] = allowed
        return cls(watched)

    def touched(self) -> set[str]:
        """Return what was touched since the last time."""
        found: set[str] = set()
        while select.select([self._handle], [], [], 0)[0]:
            data = os.read(self._handle, 1 << 16)
            while data:
                number, _, _, length = _EVENT.unpack_from(data)
                name = data[_EVENT.size : _EVENT.size + length].rstrip(b"\0").decode()
                data = data[_EVENT.size + length :]
                assert number >= 0, "too much happened to note it all; look more often"
                folder, allowed = self._watched[number]
                if name not in allowed and (name or not allowed):
                    found.add(str(folder / name))
        return found

    def close(self) -> None:
        """Stop looking."""
        os.close(self._handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
