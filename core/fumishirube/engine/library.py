"""The manuals of a root: its folders, those in other folders, and those on other machines."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import Lock, RLock
from typing import Any, NamedTuple, Protocol, runtime_checkable

from fumishirube.disk.folders import FolderEntry, escaped_name, is_allowed_name, is_real_folder
from fumishirube.disk.names import name_fault
from fumishirube.disk.roots import Root
from fumishirube.disk.stored import FileStore, StoredFile, StoredRoot
from fumishirube.engine.manual_folder import ManualFolder
from fumishirube.engine.pipeline import NamedStage
from fumishirube.errors import Forbidden, NotFound, ToolError
from fumishirube.stages import Fields, ListsStoredManuals, Loader
from fumishirube.text.folding import nfc

_DIGEST_DIGITS = 16
_IDS_SECONDS = 2.0
"""For how long the ids of manuals on other machines are not read again."""


class Library:
    """The manuals of one root: its folders, one level deep, and those of outlying folders.

    A library of a part of a root shares the manuals of the ``whole``. Manuals without a folder here
    may be ``stored`` in their indexes.
    """

    def __init__(
        self,
        root: Root,
        loaders: Sequence[Loader],
        reserved: Sequence[str] = (),
        outlying: OutlyingFolders | None = None,
        whole: Library | None = None,
        stored: StoredManuals | None = None,
    ) -> None:
        self._root = root
        self._stored = stored
        self._outlying = outlying or OutlyingFolders({}, root, root.path)
        self._whole = whole
        self._loaders = loaders
        self._reserved = frozenset(reserved)
        self._manuals: dict[str, ManualFolder] = {}
        self._followed = False
        self._lock = RLock()

    def follow(self, *, on: bool) -> None:
        """Watch large manuals, or stop watching; see :meth:`ManualFolder.follow`."""
        with self._lock:
            self._followed = on
            for manual in self._manuals.values():
                manual.follow(on=on)

    def manuals(self) -> Sequence[str]:
        """Return the ids of the manuals, sorted: folders that are neither links nor hidden."""
        inside = self._inside()
        others = [*self._outlying.ids(), *self._stored_ids()]
        return sorted({*inside, *others}) if others else inside

    def _entries(self) -> Sequence[FolderEntry]:
        return self._root.entries() if self._root.exists else []

    def _stored_ids(self) -> list[str]:
        ids = self._stored.ids() if self._stored else ()
        return [name for name in ids if not self._fault(name) and self._root.visible(name)]

    def _inside(self) -> list[str]:
        return [e.name for e in self._entries() if e.kind == "dir" and not self._fault(e.name)]

    def is_outlying(self, manual_id: str) -> bool:
        """Tell whether a manual is outside the root; those inside come first."""
        return manual_id in self._outlying and manual_id not in self._inside()

    def manual(self, manual_id: str) -> ManualFolder:
        """Return one manual."""
        manual_id = nfc(manual_id)
        if self._fault(manual_id):
            raise NotFound("manual not found", manual_id=manual_id)
        try:
            outlying = self.is_outlying(manual_id)
            root = (self._outlying.root if outlying else self._root.child)(manual_id)
        except NotFound as error:
            if self._stored is None or manual_id not in self._stored_ids():
                raise NotFound("manual not found", manual_id=manual_id) from error
            top, limits = self._root.top, self._root.limits
            root = StoredRoot(top, limits, manual_id, store=self._stored.store(manual_id))
        except Forbidden as error:
            raise Forbidden(str(error), manual_id=manual_id) from error
        if self._whole is not None:
            return self._whole.manual(manual_id)
        with self._lock:
            known = self._manuals.get(manual_id)
            if known is not None and known.root != root:  # its files are elsewhere now
                known.follow(on=False)
                known = None
            if known is None:
                known = self._manuals[manual_id] = ManualFolder(manual_id, root, self._loaders)
                known.follow(on=self._followed)
            return known

    def forget(self, manual_id: str) -> None:
        """Forget the files of a manual, and stop watching them, until it is used again."""
        with self._lock:
            known = self._manuals.pop(manual_id, None)
        if known is not None:
            known.follow(on=False)

    def loose_files(self) -> Sequence[str]:
        """Return the files beside the folders of the manuals, which belong to no manual."""
        return [e.name for e in self._entries() if e.kind == "file" and not e.name.startswith(".")]

    def rejected_folders(self) -> Sequence[tuple[str, str]]:
        """Return the folders whose names or kinds prevent them from being manuals."""
        entries = self._entries()
        named = [(e.name, self._fault(e.name)) for e in entries if e.kind == "dir"]
        links = [(e.name, "it is a symbolic link") for e in entries if e.kind == "link"]
        beside = [name for name in self._inside() if name in self._outlying]
        outlying = [(name, "a folder of the workspace has its name") for name in beside]
        faults = [*((name, fault) for name, fault in named if fault), *self._unnameable()]
        return sorted([*faults, *links, *outlying])

    def _unnameable(self) -> Iterator[tuple[str, str]]:
        if not self._root.exists:
            return
        with self._root.opened() as folder, folder.scan() as scanned:
            for entry in scanned:
                allowed = is_allowed_name(entry.name, first=True)
                if not allowed and entry.is_dir(follow_symlinks=False):
                    yield escaped_name(entry.name), "no path can begin with its name"

    def _fault(self, name: str) -> str:
        return name_fault(name, self._reserved)


class OutlyingFolders:
    """The folders of manuals outside the root, by id, each read under the rules of its folders.

    ``state`` is the folder of their indexes.
    """

    def __init__(self, folders: Mapping[str, Path], like: Root, state: Path) -> None:
        self._folders = folders
        self.state = Root(state, private=True)
        self._like = like

    def __contains__(self, manual_id: str) -> bool:
        return manual_id in self._folders

    def ids(self) -> list[str]:
        """Return the ids of the manuals whose folders exist."""
        return [name for name, folder in self._folders.items() if is_real_folder(folder)]

    def root(self, manual_id: str) -> Root:
        """Return the folder of one manual."""
        folder = self._folders.get(manual_id)
        if folder is None:
            raise NotFound("manual not found", manual_id=manual_id)
        beside = Root(folder.parent, self._like.limits, listing=self._like.listing)
        return beside.child(folder.name)

    def index_name(self, manual_id: str) -> str:
        """Return the name of the folder for the manual's indexes, which workspaces share."""
        folder = self._folders[manual_id]
        digest = hashlib.sha256(f"{manual_id}\n{folder}".encode("utf-8", "surrogateescape"))
        return f"{manual_id}-{digest.hexdigest()[:_DIGEST_DIGITS]}"


@runtime_checkable
class ForgetsManuals(Protocol):
    """An index that other machines list manuals of, until it deletes them."""

    def forget_manuals(
        self, state: Root, present: Collection[str], fields: Fields
    ) -> Sequence[str]:
        """Delete the manuals that this workspace has indexed and that are not present.

        ``state`` is the folder of its state. Return their ids; raise if the index does not answer.
        """
        ...


def stored_manuals(
    indexes: Sequence[NamedStage[Any]],
    fields: Callable[[], Fields],
    open_store: Callable[[str], FileStore],
) -> StoredManuals | None:
    """Return the manuals that an index lists; ``None`` if it is of a kind that lists none."""
    stage = next((n.stage for n in indexes if isinstance(n.stage, ListsStoredManuals)), None)
    if stage is None:
        return None
    return StoredManuals(lambda: stage.stored_manuals(fields()), open_store)


class StoredManuals:
    """The manuals that an index outside this machine has files of, by id.

    ``listed`` reads their ids; ``open_store`` opens the index of one.
    """

    def __init__(
        self, listed: Callable[[], Sequence[str]], open_store: Callable[[str], FileStore]
    ) -> None:
        self._listed = listed
        self._open_store = open_store
        self._ids: Sequence[str] | None = None
        self._read = 0.0
        self._lock = Lock()

    def ids(self) -> Sequence[str]:
        """Return the ids of the last seconds; while the index is away the known ones, or raise."""
        with self._lock:
            if self._ids is None or time.monotonic() > self._read + _IDS_SECONDS:
                try:
                    self._ids = tuple(self._listed())
                except ToolError:
                    if self._ids is None:
                        raise
                self._read = time.monotonic()
            return self._ids

    def store(self, manual_id: str) -> FileStore:
        """Return the files of one manual; its index is opened with the first use."""
        return _StoreOnDemand(partial(self._open_store, manual_id))


class _StoreOnDemand(NamedTuple):
    open_store: Callable[[], FileStore]

    def files(self) -> Mapping[str, StoredFile]:
        return self.open_store().files()

    def read(self, path: str) -> bytes:
        return self.open_store().read(path)
