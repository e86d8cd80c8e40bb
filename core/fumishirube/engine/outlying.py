"""Manuals whose folders are outside the root of the manuals."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from fumishirube.disk.roots import Root
from fumishirube.errors import NotFound

_DIGITS = 16


class OutlyingFolders:
    """The folders of such manuals, by id; each is read under the rules of a root's folders.

    ``state`` is the folder of their indexes.
    """

    def __init__(self, folders: Mapping[str, Path], like: Root, state: Path) -> None:
        self._folders = folders
        self.state = Root(state)
        self._like = like

    def __contains__(self, manual_id: str) -> bool:
        return manual_id in self._folders

    def ids(self) -> list[str]:
        """Return the ids of the manuals whose folders exist."""
        return [name for name, folder in self._folders.items() if _is_folder(folder)]

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
        return f"{manual_id}-{digest.hexdigest()[:_DIGITS]}"

    def faults(self, inside: Collection[str]) -> Iterator[tuple[str, str]]:
        """Yield the manuals that cannot be offered, with reasons; the root has those ``inside``."""
        for name, folder in self._folders.items():
            if name in inside:
                yield name, "a folder of the workspace has its name"
            elif not _is_folder(folder):
                yield name, f"its folder {folder.name!r} does not exist, or is a symbolic link"


def _is_folder(folder: Path) -> bool:
    return folder.is_dir() and not folder.is_symlink()
