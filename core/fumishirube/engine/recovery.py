"""An index that is reopened when its files are missing or damaged."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from fumishirube.budget import Budget
from fumishirube.corpus import Corpus
from fumishirube.corpus_kinds import StoresVectors, VectorStore
from fumishirube.disk.stored import StoredFile
from fumishirube.errors import IndexDamaged, NotFound
from fumishirube.model import Passage
from fumishirube.stages import FileContents, IndexedFile, OpenIndex, StoresFiles

REBUILT = "the index on disk was removed or damaged; it has been rebuilt"

_log = logging.getLogger("fumishirube")


class RecoverableIndex:
    """An open index. ``refresh`` replaces it by an empty one if its files cannot be used.

    ``rebuilt`` is then a sentence for an answer, until the caller empties it.
    """

    def __init__(self, open_index: Callable[[], OpenIndex]) -> None:
        self._open_index = open_index
        self._index = open_index()
        self._closed = False
        self.rebuilt = ""

    def pages(self) -> Mapping[str, IndexedFile]:
        """Return the files of the last commit, by path: the same object until that changes."""
        return self._index.pages()

    @property
    def preparation(self) -> Callable[[Passage], object] | None:
        """A function that other processes call; see :class:`fumishirube.OpenIndex`."""
        return getattr(self._index, "preparation", None)

    def refresh(self) -> None:
        """Read what other processes have committed, or reopen the index.

        Raises:
            Forbidden: when no index can be opened in the folder; the next call tries again.
        """
        if not self._closed:
            try:
                self._index.refresh()
            except IndexDamaged as error:
                _log.warning("an index has to be rebuilt: %s", error)
            else:
                return
            self.close()
        self._index = self._open_index()
        self._closed = False
        self.rebuilt = REBUILT

    def writing(self, budget: Budget) -> AbstractContextManager[bool]:
        """Become the writer; yield ``False`` if another one stays busy until the deadline."""
        return self._index.writing(budget)

    def rebuilding(self, budget: Budget) -> AbstractContextManager[bool | None]:
        """Build a new index beside this one; yield ``None`` if the index does not support it."""
        rebuilding: Callable[[Budget], AbstractContextManager[bool]] | None
        rebuilding = getattr(self._index, "rebuilding", None)
        return nullcontext() if rebuilding is None else rebuilding(budget)

    def sync(
        self,
        gone: Collection[str],
        pages: Iterable[tuple[IndexedFile, Sequence[Any]]],
        contents: FileContents | None = None,
    ) -> None:
        """Replace the named pages and commit, all or nothing. Only inside :meth:`writing`.

        ``contents`` are for an index that stores files too.
        """
        if contents is not None and isinstance(self._index, StoresFiles):
            self._index.sync_with_files(gone, pages, contents)
        else:
            self._index.sync(gone, pages)

    def files(self) -> Mapping[str, StoredFile]:
        """Return the stored files of the last commit, by path; none if it stores none."""
        return self._index.files() if isinstance(self._index, StoresFiles) else {}

    def read_file(self, path: str) -> bytes:
        """Return the bytes of a stored file.

        Raises:
            NotFound: when it is not stored.
            Unreadable: when other bytes are stored than it says.
        """
        if not isinstance(self._index, StoresFiles):
            raise NotFound("no such file or folder", path=path)
        return self._index.read_file(path)

    def vector_store(self, identity: str) -> VectorStore | None:
        """Return the vectors of an embedder, if the index stores and compares them."""
        index = self._index
        return index.vector_store(identity) if isinstance(index, StoresVectors) else None

    def vector_note(self) -> str:
        """Return who compares vectors, as a part of a sentence; empty if there is no choice."""
        return self._index.vector_note() if isinstance(self._index, StoresVectors) else ""

    def corpus(self, manual_id: str) -> Corpus:
        """Return a view of the last commit that later commits do not change."""
        return self._index.corpus(manual_id)

    def close(self) -> None:
        """Close files and free memory."""
        if not self._closed:
            self._closed = True
            self._index.close()
