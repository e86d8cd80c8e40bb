"""The folders of indexes: in the state folder, or temporary where that cannot be written."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress

from fumishirube.disk.folders import is_denied, is_full
from fumishirube.disk.roots import Root
from fumishirube.disk.scratch import ScratchFolder
from fumishirube.engine.outlying import OutlyingFolders
from fumishirube.errors import Forbidden

_log = logging.getLogger(__name__)


class IndexFolders:
    """Makes the folders of one surface's indexes, those of ``outlying`` manuals elsewhere.

    ``is_outlying`` tells whether a name is that of such a manual.
    """

    def __init__(
        self,
        state: Root,
        fingerprint: str,
        outlying: OutlyingFolders,
        is_outlying: Callable[[str], bool],
    ) -> None:
        self._state = state
        self._outlying = outlying
        self._is_outlying = is_outlying
        self._fingerprint = fingerprint
        self._scratch: list[ScratchFolder] = []

    def exists(self, name: str) -> bool:
        """Tell whether the index of this name has a folder."""
        return (self._state.path / self._path(name)).is_dir()

    def make(self, name: str, fingerprint: str | None = None) -> Root:
        """Return the folder of an index, which is temporary if permissions allow no other.

        Another ``fingerprint`` gives a folder beside it.

        Raises:
            Forbidden: when anything but permissions prevents it, such as a full disk or a link.
        """
        state = self._state
        if self._is_outlying(name):
            state, name = self._outlying.state, self._outlying.index_name(name)
        path = self._path(name, fingerprint)
        try:
            return state.make(path)
        except Forbidden as error:
            refusal = _refusal(error)
            if is_denied(error.__cause__):
                with suppress(OSError):
                    self._scratch.append(ScratchFolder())
                    _log.warning("indexes are temporary from now on: %s", refusal)
                    return Root(self._scratch[-1].path).make(path)
            raise refusal from error

    def _path(self, name: str, fingerprint: str | None = None) -> str:
        return f"index/{name}/{fingerprint or self._fingerprint}"

    def close(self) -> None:
        """Remove the temporary folders."""
        for folder in self._scratch:
            folder.remove()
        self._scratch.clear()


def _refusal(error: Forbidden) -> Forbidden:
    full = is_full(error.__cause__)
    reason, remedy = (": the disk is full", "make room") if full else ("", "make it writable")
    return Forbidden(
        f"the state folder (.fumishirube) cannot be written{reason}; {remedy}, or name another "
        "one with FUMISHIRUBE_STATE_ROOT"
    )
