"""Manuals outside the root: in other folders, and on other machines."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Protocol, runtime_checkable

from fumishirube.disk.folders import is_real_folder
from fumishirube.disk.roots import Root
from fumishirube.disk.stored import FileStore, StoredFile
from fumishirube.engine.pipeline import NamedStage
from fumishirube.errors import NotFound, ToolError
from fumishirube.stages import Fields, ListsStoredManuals

_DIGEST_DIGITS = 16

_IDS_SECONDS = 2.0
"""For how long the ids are not read again."""


class OutlyingFolders:
    """The folders of such manuals, by id; each is read under the rules of a root's folders.

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
        """Return the folder of one manual.

        Raises:
            NotFound: when it does not exist.
            Forbidden: when it is a symlink.
        """
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

    def faults(self, inside: Collection[str]) -> Iterator[tuple[str, str]]:
        """Yield the manuals that cannot be offered, with reasons; the root has those ``inside``."""
        for name in self._folders:
            if name in inside:
                yield name, "a folder of the workspace has its name"


@runtime_checkable
class ForgetsManuals(Protocol):
    """An index that other machines list manuals of, until it deletes them."""

    def forget_manuals(
        self, state: Root, present: Collection[str], fields: Fields
    ) -> Sequence[str]:
        """Delete the manuals that this workspace has indexed and that are not present.

        ``state`` is the folder of its state. Returns their ids.

        Raises:
            Forbidden: when the index does not answer.
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
        """Return the ids, as of the last seconds; the last known ones while the index is away.

        Raises:
            ToolError: when the index is away, and none is known yet.
        """
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
        return _StoreOnDemand(lambda: self._open_store(manual_id))


class _StoreOnDemand:
    def __init__(self, open_store: Callable[[], FileStore]) -> None:
        self._open_store = open_store

    def files(self) -> Mapping[str, StoredFile]:
        return self._open_store().files()

    def read(self, path: str) -> bytes:
        return self._open_store().read(path)
