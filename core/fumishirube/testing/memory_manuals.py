"""A manual of documents in memory, which refuses what one of files refuses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fumishirube import Document, NotFound, Root
from fumishirube.disk import FolderEntry
from fumishirube.disk.names import clean_path
from fumishirube.places import Place


class MemoryManual:
    """One manual of documents in memory, by path."""

    def __init__(self, manual_id: str, documents: Iterable[Document], root: Root) -> None:
        self.id = manual_id
        self.root = root
        self._documents = {document.path: document for document in documents}

    def entries(self, path: str = "") -> Sequence[FolderEntry]:
        """Return the folders and files of one folder, sorted by name."""
        if path:
            clean_path(path)
        prefix = f"{path}/" if path else ""
        by_name: dict[str, FolderEntry] = {}
        for name, document in self._documents.items():
            if name.startswith(prefix):
                first, _, rest = name[len(prefix) :].partition("/")
                size = 0 if rest else len(document.text.encode())
                by_name[first] = FolderEntry(
                    prefix + first, first, "dir" if rest else "file", size, 0
                )
        if path and not by_name:
            raise NotFound("no such folder", path=path)
        return [by_name[name] for name in sorted(by_name)]

    def paths(self) -> Sequence[str]:
        """Return every file, sorted."""
        return sorted(self._documents)

    def document(self, path: str) -> Document:
        """Return the document of a file."""
        if path not in self._documents:
            clean_path(path)
            raise NotFound("no such file", path=path)
        return self._documents[path]

    def places(self, path: str) -> Sequence[Place]:
        """Return where people see the lines of a file."""
        return self.document(path).places

    def pictures(self, path: str) -> None:
        """Return nothing: no page is drawn."""
