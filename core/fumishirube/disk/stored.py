"""Folders whose files are on other machines, and read from a store."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn, Protocol

from fumishirube.disk.folders import FolderEntry
from fumishirube.disk.names import clean_path
from fumishirube.disk.rights import upwards
from fumishirube.disk.roots import Root, missing, too_large
from fumishirube.disk.survey import Entering, Survey
from fumishirube.errors import Forbidden


class StoredFile(NamedTuple):
    """A file in a store: its path, size, time of change, and the SHA-256 of its bytes."""

    path: str
    size: int
    modified_ns: int
    digest: str


class FileStore(Protocol):
    """The files of one folder, as some other machine has stored them."""

    def files(self) -> Mapping[str, StoredFile]:
        """Return the files by path: the same object until one of them changes."""
        ...

    def read(self, path: str) -> bytes:
        """Return the bytes of a file, which have the stored SHA-256.

        Raises:
            NotFound: when it is not stored, or no longer.
            Unreadable: when other bytes are stored than it says.
        """
        ...


@dataclass(frozen=True)
class StoredRoot(Root):
    """A root that has only what a store has, of one folder at its top; nothing is written there."""

    store: FileStore = field(kw_only=True, compare=False)

    @property
    def inside(self) -> str:
        """The place in the store, below which the paths of this root are."""
        return self.below.partition("/")[2]

    @property
    def exists(self) -> bool:
        """Whether the folder exists."""
        return True

    def entries(self, path: str = "") -> list[FolderEntry]:
        """Return the entries of a folder, sorted by name."""
        survey = self.survey(path)
        parent = f"{path}/" if path else ""
        folders = [
            FolderEntry(folder, folder.rpartition("/")[2], "dir", 0, 0) for folder in survey.folders
        ]
        direct = [it for it in [*folders, *survey.files] if parent + it.name == it.path]
        if path and not direct:
            raise missing(path)
        return sorted(direct, key=lambda entry: entry.path)

    def survey(
        self,
        path: str = "",
        entering: Entering | None = None,  # noqa: ARG002 - no folder is opened
    ) -> Survey:
        """Return the stored files below a folder, and their folders; nothing there is unlisted."""
        path = clean_path(path) if path else ""
        prefix = "".join(f"{part}/" for part in (self.inside, path) if part)
        here = len(self.inside) + 1 if self.inside else 0
        files = [
            _entry(stored, stored.path[here:])
            for name, stored in self.store.files().items()
            if name.startswith(prefix) and self.visible(name[here:])
        ]
        above = {folder for entry in files for folder in upwards(entry.path.rpartition("/")[0])}
        above.discard("")
        below = f"{path}/" if path else ""
        return Survey(
            sorted(files), sorted(folder for folder in above if folder.startswith(below)), []
        )

    def resurvey(
        self,
        before: Survey,  # noqa: ARG002 - as above
        touched: Collection[str],  # noqa: ARG002 - as above
        entering: Entering | None = None,  # noqa: ARG002 - as above
    ) -> Survey:
        """Return a full survey, which looks at no file system."""
        return self.survey()

    def stat(self, path: str) -> FolderEntry:
        """Return the entry of one file or folder."""
        path = self._shown(clean_path(path))
        stored = self._stored(path)
        if stored is None:
            self.entries(path)
            return FolderEntry(path, path.rpartition("/")[2], "dir", 0, 0)
        return _entry(stored, path)

    def read_bytes(self, path: str) -> bytes:
        """Return the bytes of a file."""
        path = self._shown(clean_path(path))
        stored = self._stored(path)
        if stored is None:
            raise missing(path)
        if stored.size > self.limits.file_bytes:
            raise too_large(self.limits.file_bytes, path)
        return self.store.read(stored.path)

    def child(self, path: str) -> Root:
        """Return a folder below as a root of its own."""
        self.entries(path)
        return self.folder_below(path) if path else self

    def make(self, path: str = "") -> Root:  # noqa: ARG002 - nowhere
        """Refuse to create a folder."""
        raise Forbidden("the files are on another machine; nothing is written here")

    def _stored(self, path: str) -> StoredFile | None:
        return self.store.files().get("/".join(filter(None, (self.inside, path))))

    def opened(self, path: str = "") -> NoReturn:
        """Refuse: there is no folder here."""
        raise missing(path)


def _entry(stored: StoredFile, path: str) -> FolderEntry:
    return FolderEntry(path, path.rpartition("/")[2], "file", stored.size, stored.modified_ns)
