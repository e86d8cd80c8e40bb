"""Rights to folders below a root."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias


class FolderRights(NamedTuple):
    """The folders below a root that may be read, and those that may be written.

    A right to a folder is one to everything below it; the empty path is the whole root. What may
    be written may be read. Names are compared exactly, in composed form (NFC).
    """

    read: frozenset[str] = frozenset()
    write: frozenset[str] = frozenset()

    @property
    def whole(self) -> bool:
        """Whether everything may be read and written."""
        return "" in self.write

    @property
    def some(self) -> bool:
        """Whether there is any right."""
        return bool(self.read or self.write)

    def readable(self, path: str) -> bool:
        """Tell whether a file or folder, and everything below it, may be read."""
        return any(above in self.read or above in self.write for above in upwards(path))

    def visible(self, path: str) -> bool:
        """Tell whether a path may be read, or leads to a folder that may be read."""
        if self.readable(path):
            return True
        inside = f"{path}/" if path else ""
        return any(folder.startswith(inside) for folder in (*self.read, *self.write))

    def writable(self, path: str) -> bool:
        """Tell whether a file may be written, or a folder created."""
        return any(above in self.write for above in upwards(path))


Rights: TypeAlias = Mapping[str, FolderRights]
"""The rights of one person, by the name of the root; there are none to other roots."""


def upwards(path: str) -> Iterator[str]:
    """Yield a path and every folder above it, up to the root."""
    while path:
        yield path
        path = path.rpartition("/")[0]
    yield ""
