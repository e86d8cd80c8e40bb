"""The open indexes of the manuals of one root: few of them, the last used."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from fumishirube.engine.folder_index import FolderIndex
from fumishirube.engine.library import Library, ManualFolder
from fumishirube.engine.manual_vectors import ManualVectors
from fumishirube.stages import OpenIndex

MOST_OPEN = 64
"""The most indexes that stay open between calls; each has a thread, and the list of its files."""


class OpenIndexes:
    """Indexes by manual; the least used ones are closed as soon as no call uses them.

    ``open_index`` opens the index of a manual by its id, ``open_vectors`` its vectors.
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
        self._open: OrderedDict[str, FolderIndex] = OrderedDict()
        self._lock = Lock()

    def of(self, manual: ManualFolder) -> FolderIndex:
        """Return a manual with its index, which is opened if it is not open."""
        with self._lock:
            if manual.id not in self._open:
                self._open[manual.id] = FolderIndex(
                    manual,
                    lambda: self._open_index(manual.id),
                    self._open_vectors(manual.id),
                    stores_files=not self._library.is_outlying(manual.id),
                )
            self._open.move_to_end(manual.id)
            while len(self._open) > MOST_OPEN:
                # It is closed when the last call that uses it, or its corpus, has ended.
                least, _ = self._open.popitem(last=False)
                self._library.forget(least)
            return self._open[manual.id]

    def close(self) -> None:
        """Close all of them."""
        with self._lock:
            for indexed in self._open.values():
                indexed.close()
            self._open.clear()
