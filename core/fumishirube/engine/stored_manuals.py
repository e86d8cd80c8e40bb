"""Manuals without a folder on this machine, whose files are read from their indexes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import Any

from fumishirube.disk.stored import FileStore, StoredFile
from fumishirube.engine.passages import FIELDS
from fumishirube.engine.pipeline import NamedStage
from fumishirube.errors import ToolError
from fumishirube.stages import Fields, ListsStoredManuals, Tokenizer

_SECONDS = 2.0
"""For how long the ids are not read again."""


def stored_manuals(
    indexes: Sequence[NamedStage[Any]],
    tokenizer: Callable[[], Tokenizer],
    open_store: Callable[[str], FileStore],
) -> StoredManuals | None:
    """Return the manuals that an index lists; ``None`` if it is of a kind that lists none."""
    for named in indexes:
        if isinstance(named.stage, ListsStoredManuals):
            return StoredManuals(partial(_listed, named.stage, tokenizer), open_store)
    return None


def _listed(index: ListsStoredManuals, tokenizer: Callable[[], Tokenizer]) -> Sequence[str]:
    return index.stored_manuals(Fields(FIELDS, tokenizer()))


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
            if self._ids is None or time.monotonic() > self._read + _SECONDS:
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
