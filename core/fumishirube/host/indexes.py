"""The indexes and vectors of one surface: their folders, and which of them stay open."""

from __future__ import annotations

import logging
import os
import random
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from fumishirube.disk.folders import is_denied, is_full
from fumishirube.disk.own_files import state_folder
from fumishirube.disk.roots import Root
from fumishirube.disk.scratch import ScratchFolder
from fumishirube.engine.folder_index import FolderIndex
from fumishirube.engine.library import Library, OutlyingFolders
from fumishirube.engine.manual_folder import ManualFolder
from fumishirube.engine.owned_locks import OwnedLock
from fumishirube.engine.pipeline import NamedStage
from fumishirube.errors import Forbidden
from fumishirube.host.surfaces import ConfiguredSurface, RunningStages, SharedServices
from fumishirube.host.useless_stages import gives_vectors
from fumishirube.stages import Embedder, OpenIndex, Stage

if TYPE_CHECKING:
    from fumishirube.engine.vectors.embedding import NamedEmbedder
    from fumishirube.engine.vectors.manual_vectors import ManualVectors
    from fumishirube.engine.vectors.section_vectors import StoredVectors

_log = logging.getLogger(__name__)

MOST_OPEN = 64
"""The most indexes that stay open between calls; each has a thread, and the list of its files."""

VECTORS = "vectors-"
"""The beginning of the names of folders with vectors, beside that of the index."""


class IndexFolders:
    """Makes the folders of one surface's indexes, those of ``outlying`` manuals elsewhere."""

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

    def folder(self, name: str) -> Path:
        """Return the folder that contains the indexes of a name, whether it exists or not."""
        state, path = self._place(name)
        return state.path / path

    def exists(self, name: str) -> bool:
        """Tell whether the index of this name has a folder."""
        return (self.folder(name) / self._fingerprint).is_dir()

    def make(self, name: str, fingerprint: str | None = None) -> Root:
        """Return the folder of an index, which is temporary if permissions allow no other.

        Another ``fingerprint`` gives a folder beside it.
        """
        state, folder = self._place(name)
        path = f"{folder}/{fingerprint or self._fingerprint}"
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

    def others(self, name: str) -> list[Path]:
        """Return the indexes of a name that other settings or another version made."""
        place, folders, _ = next(os.walk(self.folder(name)), ("", [], []))
        others = (folder for folder in folders if folder != self._fingerprint)
        return [Path(place, folder) for folder in others if not folder.startswith(VECTORS)]

    def remove_others(self, name: str) -> None:
        """Remove the indexes of a name that other settings or another version made."""
        for folder in self.others(name) if self.exists(name) else ():
            shutil.rmtree(folder, ignore_errors=True)  # it may be in use; doctor names it

    def _place(self, name: str) -> tuple[Root, str]:
        """Return the folder of state for a name, and the path in it of the name's indexes."""
        if self._is_outlying(name):
            return self._outlying.state, f"index/{self._outlying.index_name(name)}"
        return self._state, f"index/{name}"

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


class OpenIndexes:
    """Indexes by manual; of too many, the least used ones are closed as soon as no call uses them.

    ``open_index`` opens the index of a manual by its id, ``open_vectors`` its vectors. Uses are
    counted while an index is open, and weigh less with each index that is closed: least frequently
    used with dynamic aging, after Arlitt and others, "Evaluating content management techniques for
    web proxy caches" (2000). By the last use alone, a search of more manuals than stay open, all in
    turn, would close each one just before it is wanted again.
    """

    def __init__(
        self,
        library: Library,
        open_index: Callable[[str], OpenIndex],
        open_vectors: Callable[[str], ManualVectors | None],
    ) -> None:
        self._library = library
        self._open_index = open_index
        self._open_vectors = open_vectors
        self._open: dict[str, FolderIndex] = {}
        self.opened = self._open.get
        self._uses: Counter[str] = Counter()
        self._worth: dict[str, int] = {}
        self._age = 0
        self._lock = OwnedLock()
        self._opening: dict[str, OwnedLock] = {}

    def of(self, manual: ManualFolder) -> FolderIndex:
        """Return a manual with its index, which is opened if it is not open for its files.

        No other manual waits for that.
        """
        with self._opening.setdefault(manual.id, OwnedLock()):
            known = self._open.get(manual.id)
            if known is None or known.manual is not manual:
                known = FolderIndex(
                    manual,
                    lambda: self._open_index(manual.id),
                    self._open_vectors(manual.id),
                    stores_files=not self._library.is_outlying(manual.id),
                )
            with self._lock:
                self._open[manual.id] = known
                self._uses[manual.id] += 1
                self._worth[manual.id] = self._age + self._uses[manual.id]
                while len(self._open) > MOST_OPEN:
                    self._leave(self._least_used(manual.id))
            return known

    def _least_used(self, wanted: str) -> str:
        """Return the manual of least worth beside one, any of several."""
        others = [name for name in self._open if name != wanted]
        random.shuffle(others)
        return min(others, key=lambda name: self._worth[name])

    def _leave(self, name: str) -> None:
        """Let go of an index: it is closed when the last call that uses it has ended."""
        self._age = max(self._age, self._worth.pop(name))  # a new one may be worth less
        del self._uses[name], self._open[name]
        self._library.forget(name)

    def close(self) -> None:
        """Close all indexes. One that is being opened is closed with the process."""
        for indexed in [*self._open.values()]:
            indexed.close()
        self._open.clear()


# --- vectors --------------------------------------------------------------------------------


def named_embedder(
    configured: ConfiguredSurface, chosen: NamedStage[Stage], begun: NamedStage[Embedder]
) -> NamedEmbedder:
    """Return an embedder; with other settings, or other code of its plugin, it is another one."""
    from fumishirube.engine.vectors.embedding import NamedEmbedder  # noqa: PLC0415 - few pipelines embed

    return NamedEmbedder(chosen.name, configured.identity(chosen), begun.stage)


def pipeline_embedder(configured: ConfiguredSurface, begun: RunningStages) -> NamedEmbedder | None:
    """Return the embedder of a pipeline, if it has one."""
    rows = zip(configured.stages["embedders"], begun.embedders, strict=True)
    return next((named_embedder(configured, *row) for row in rows), None)


def surface_vectors(
    configured: ConfiguredSurface,
    begun: RunningStages,
    shared: SharedServices,
    opening: ExitStack,
    chosen: NamedStage[Stage] | None,
) -> StoredVectors:
    """Return vectors for a surface's own use, by the pipeline's embedder or a chosen one."""
    from fumishirube.engine.vectors.section_vectors import StoredVectors  # noqa: PLC0415 - as above

    named = pipeline_embedder(configured, begun)
    if chosen is not None:
        runs = shared.guarded.running("embedders", chosen, opening)
        named = named_embedder(configured, chosen, runs)
    folder = state_folder(shared.state.path, "vectors")
    return StoredVectors(named, folder, f"{named.identity if named else 'none'}.db")


def manual_vectors(
    configured: ConfiguredSurface,
    begun: RunningStages,
    folder: Callable[[str, str], Root],
    manual_id: str,
) -> ManualVectors | None:
    """Return the vectors of a manual, in a folder beside its index, if its pipeline makes any."""
    if not any(gives_vectors(named.stage) for named in begun.embedders[:1]):
        return None
    from fumishirube.engine.vectors.manual_vectors import ManualVectors  # noqa: PLC0415 - as above

    named = pipeline_embedder(configured, begun)
    assert named
    return ManualVectors(manual_id, named, folder(manual_id, f"{VECTORS}{named.identity}"))
