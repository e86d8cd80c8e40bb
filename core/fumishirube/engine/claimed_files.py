"""Claimed files of a folder, compared with the pages of an index."""

from __future__ import annotations

from collections.abc import Mapping

from fumishirube.disk.folders import is_settled
from fumishirube.documents import Document
from fumishirube.engine.library import ManualFolder
from fumishirube.errors import Forbidden, NotFound
from fumishirube.stages import ClaimedFile, IndexChanges, IndexedFile

UNSURE = "?"
"""Precedes the hash of a young file in a stamp."""
_PASSING = frozenset({Forbidden.code, NotFound.code})
"""Reasons for which a file could not be read that may end without a change of its stamp."""


class ClaimedFiles:
    """The claimed files, and which of them an index lacks or has in another version."""

    def __init__(self, folder: ManualFolder) -> None:
        self._folder = folder
        self._sure: dict[str, str] = {}
        self._compared: (
            tuple[Mapping[str, ClaimedFile], Mapping[str, IndexedFile], IndexChanges] | None
        ) = None

    def sweep(self) -> Mapping[str, ClaimedFile]:
        """Survey the folder now, and return every claimed file by path."""
        return self._folder.sweep()

    def changes(
        self, pages: Mapping[str, IndexedFile], claimed: Mapping[str, ClaimedFile]
    ) -> IndexChanges:
        """Return the removed pages, and the new or changed files.

        The result is cached until index or folder changes, unless time stamps are uncertain or a
        file could not be opened: a change of permissions changes no stamp.
        """
        if self._compared and self._compared[0] is claimed and self._compared[1] is pages:
            return self._compared[2]
        gone = [path for path in pages if path not in claimed]
        changed = [
            claimed[path]
            for path in sorted(claimed)
            if (page := pages.get(path)) is None or not self.is_current(page, claimed[path])
        ]
        if all(map(self._is_lasting, pages.values())):
            self._compared = (claimed, pages, (gone, changed))
        return gone, changed

    def _is_lasting(self, page: IndexedFile) -> bool:
        """Tell whether a comparison with a page stays valid while the folder is unchanged."""
        sure = UNSURE not in page.stamp or self._sure.get(page.path) == page.stamp
        return sure and page.skipped not in _PASSING

    def is_current(self, page: IndexedFile, file: ClaimedFile) -> bool:
        """Compare stamps; a file indexed within two seconds of its change is read once more.

        The clock of a file system may be too coarse to separate two quick changes.
        """
        if page.skipped in _PASSING and self._folder.content_hash(file):
            return False
        if page.stamp == file.stamp:
            return True
        stamp, unsure, known = page.stamp.partition(UNSURE)
        if stamp != file.stamp:
            return False
        if not unsure or self._sure.get(page.path) == page.stamp:
            return True
        if self._folder.content_hash(file) != known:
            return False
        if is_settled(file.modified_ns):
            self._sure[page.path] = page.stamp
        return True

    def load(self, file: ClaimedFile, *, links: bool = False) -> Document:
        """Read a file; with its links if its loader finds them.

        Raises:
            Unreadable: when its text cannot be read, or its loader fails.
        """
        return self._folder.load(file, links=links)

    def stamp(self, file: ClaimedFile) -> str:
        """Return the stamp for the page of a file that is about to be read.

        The stamp of a young file contains a hash for a later comparison.
        """
        if is_settled(file.modified_ns):
            return file.stamp
        return file.stamp + UNSURE + self._folder.content_hash(file)
