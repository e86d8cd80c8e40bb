"""One manual: its files, the loader that claims each, and which of them an index lacks."""

from __future__ import annotations

import hashlib
import logging
from collections import Counter, OrderedDict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial

from fumishirube.disk.folders import FolderEntry, is_settled
from fumishirube.disk.roots import Root
from fumishirube.disk.stored import StoredFile, StoredRoot
from fumishirube.disk.survey import Survey, UnlistedEntry
from fumishirube.disk.watches import Watch
from fumishirube.documents import Document
from fumishirube.engine.claiming_loaders import NO_CLAIMS, claimed_by, unlisted
from fumishirube.engine.owned_locks import OwnedLock
from fumishirube.errors import Forbidden, FumishirubeError, NotFound, ToolError, Unreadable
from fumishirube.model import OutsideSearch, Skipped
from fumishirube.optional_attributes import PLACED
from fumishirube.parsing.pictures import PagePictures, page_pictures
from fumishirube.places import Place
from fumishirube.stages import ClaimedFile, IndexChanges, IndexedFile, LinkLoader, Loader

_log = logging.getLogger("fumishirube")

SWEPT_FILES = 25
"""The most files of a folder that is surveyed on every call, which is cheaper than a watch."""

_FEW = 32
"""The most files with events that are examined one by one, instead of a survey."""

_DOCUMENT_CACHE_SIZE = 32

UNSURE = "?"
"""Precedes the hash of a young file in a stamp."""
_PASSING = frozenset({Forbidden.code, NotFound.code})
"""Reasons for which a file could not be read that may end without a change of its stamp."""


class ManualFolder:
    """A folder whose files loaders claim, compared with the pages of its index.

    It is one manual, or the whole root of a surface, whose name is then its id. If it is
    ``stored``, its files are read from its index, because they are on other machines.
    """

    def __init__(self, manual_id: str, root: Root, loaders: Sequence[Loader]) -> None:
        self.id = manual_id
        self.root = root
        self.stored = isinstance(root, StoredRoot)
        self.loaders = loaders
        self._survey = Survey([], [], [])
        self._claims = NO_CLAIMS
        self._unlisted: Sequence[UnlistedEntry] = ()
        self._documents: OrderedDict[tuple[str, str], Document] = OrderedDict()
        self._lock = OwnedLock(reentrant=True)
        self._followed = False
        self._watch: Watch | None = None
        self._stored_files: Mapping[str, StoredFile] | None = None
        self._sure: dict[str, str] = {}
        self._compared: (
            tuple[Mapping[str, ClaimedFile], Mapping[str, IndexedFile], IndexChanges] | None
        ) = None

    def follow(self, *, on: bool) -> None:
        """Let :meth:`check` watch the folder if it is large, or stop watching; servers do this."""
        if self.stored:  # no event tells of changes elsewhere
            return
        with self._lock:
            self._followed = on
            if self._watch is not None and not on:
                self._watch.close()
                self._watch = None

    def expect(self, files: int) -> None:
        """Say how many files the folder had; the first :meth:`sweep` of a large one watches it."""
        with self._lock:
            if self._followed and self._watch is None and files > SWEPT_FILES:
                self._watch = self._new_watch()

    def _new_watch(self) -> Watch:
        return Watch(self.root.path, hidden=self.root.listing.hidden)

    def sweep(self) -> Mapping[str, ClaimedFile]:
        """Survey the folder now, and return every claimed file by path.

        In a watched folder, only files with events are examined. If several loaders claim a path,
        the first one gets it.
        """
        with self._lock:
            if isinstance(self.root, StoredRoot):
                self._sweep_stored(self.root)
            elif self._watch is None:
                self._take(self.root.survey())
            else:
                self._sweep_watched(self._watch)
            return self._claims.files

    def _sweep_watched(self, watch: Watch) -> None:
        touched = watch.touched(begin=False)
        if touched is not None and not touched and not self._claims.unsure:
            return
        if touched is None or len(touched) > _FEW:
            survey = watch.survey(self.root)
        else:
            survey = self.root.resurvey(self._survey, touched, watch.enter)
        self._take(survey)
        watch.surveyed()

    def _sweep_stored(self, root: StoredRoot) -> None:
        files = root.store.files()
        if files is not self._stored_files or self._claims.unsure:
            self._take(root.survey())
            self._stored_files = files

    @property
    def check_due(self) -> bool:
        """Whether :meth:`check` has something to do."""
        with self._lock:
            large = len(self._survey.files) > SWEPT_FILES
            return self._followed and large and (self._watch is None or self._watch.due)

    def check(self) -> None:
        """Survey the folder beside the calls, in case events are missing; begin the watch."""
        with self._lock:
            before, watch = self._survey, self._watch
        if watch is None:
            watch = self._new_watch()
            survey = watch.survey(self.root)  # later changes have events that nothing else reads
        else:
            survey = self.root.survey()
        with self._lock:
            if not self._followed or self._watch not in (None, watch):
                watch.close()
            elif self._watch is None:
                self._watch = watch
                self._take(survey)
                watch.surveyed()
            elif self._survey is before:  # else calls have read events, which this survey may lack
                if survey == before:
                    watch.checked()
                else:  # perhaps without an event: what was mounted since is not watched
                    watch.close()
                self._take(survey)

    def _take(self, survey: Survey) -> None:
        if survey != self._survey or self._claims.unsure:
            entries = {entry.path: entry for entry in survey.files}
            self._claims = claimed_by(self.loaders, self.root, entries, self._claims)
            self._unlisted = unlisted(survey, self._claims.files)
        self._survey = survey  # also if it is equal: `check` sees that calls have read events

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
        # Thousands of files are as they were, and a call for each takes most of the time.
        other = [
            path
            for path, file in claimed.items()
            if (page := pages.get(path)) is None or page.skipped or page.stamp != file.stamp
        ]
        changed = [
            claimed[path]
            for path in sorted(other)
            if (page := pages.get(path)) is None or not self.is_current(page, claimed[path])
        ]
        passing = [page for page in pages.values() if page.skipped or UNSURE in page.stamp]
        if all(map(self._is_lasting, passing)):
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
        if page.skipped in _PASSING and self.content_hash(file):
            return False
        if page.stamp == file.stamp:
            return True
        stamp, unsure, known = page.stamp.partition(UNSURE)
        if stamp != file.stamp:
            return False
        if not unsure or self._sure.get(page.path) == page.stamp:
            return True
        if self.content_hash(file) != known:
            return False
        if is_settled(file.modified_ns):
            self._sure[page.path] = page.stamp
        return True

    def stamp(self, file: ClaimedFile) -> str:
        """Return the stamp for the page of a file that is about to be read.

        The stamp of a young file contains a hash for a later comparison.
        """
        if is_settled(file.modified_ns):
            return file.stamp
        return file.stamp + UNSURE + self.content_hash(file)

    def entries(self, path: str = "") -> Sequence[FolderEntry]:
        """Return the folders and the claimed files of one folder, sorted by name."""
        with self._lock:
            files, folders = self.sweep(), frozenset(self._survey.folders)
        entries = self.root.entries(path)
        if path and path not in folders:
            raise NotFound("the folder is not listed", path=path)
        listed: dict[str, Collection[str]] = {"dir": folders, "file": files}
        return [entry for entry in entries if entry.path in listed.get(entry.kind, ())]

    def paths(self) -> Sequence[str]:
        """Return every file that a loader claims, sorted."""
        return sorted(self.sweep())

    def document(self, path: str) -> Document:
        """Read a claimed file; raise if it does not exist, is not claimed, or cannot be read."""
        claimed = self.sweep().get(path)
        if claimed is None:
            entry = self.root.stat(path)
            why = (
                "no loader reads it" if path in self._claims.entries else "it is hidden or ignored"
            )
            why = why if entry.kind == "file" else "it is no file"
            raise NotFound(f"the manual lists no such file: {why}", path=path)
        key = (path, claimed.stamp)
        with self._lock:
            if key in self._documents:
                self._documents.move_to_end(key)
                return self._documents[key]
        try:
            document = self.load(claimed)
        except Unreadable as error:
            raise Unreadable(str(error), error.reason, path=path) from error
        if not is_settled(claimed.modified_ns):
            return document
        with self._lock:
            self._documents[key] = document
            while len(self._documents) > _DOCUMENT_CACHE_SIZE:
                self._documents.popitem(last=False)
        return document

    def forget_documents(self) -> None:
        """Read all files again: an index has other texts, perhaps of files with the same times."""
        with self._lock:
            self._documents.clear()

    def places(self, path: str) -> Sequence[Place]:
        """Return where people see the lines of a file; empty for plain text."""
        # The last survey knows the loader; another survey takes longer than a search.
        claimed = self._claims.files.get(path) or self.sweep().get(path)
        if claimed is not None and not PLACED.of(claimed.loader):
            return ()
        return self.document(path).places

    def pictures(self, path: str) -> PagePictures | None:
        """Return what draws the pages of a file; ``None`` if nothing does."""
        claimed = None if self.stored else self._claims.files.get(path)
        return claimed and page_pictures(claimed, self.root, partial(self.document, path))

    def unlisted(self) -> Sequence[UnlistedEntry]:
        """Return the unlisted entries of the last survey, with reasons."""
        with self._lock:
            return self._unlisted

    def unread(self) -> Sequence[str]:
        """Return the listed files of the last survey that no loader claims, sorted."""
        if not any(self._survey):  # no survey yet, or no folder
            self.sweep()
        return sorted(entry.path for entry in self.unlisted() if entry.reason == "no_loader")

    def aside(self) -> OutsideSearch:
        """Return the counts of what is not searchable, by reason."""
        counts = Counter((entry.reason, entry.unit) for entry in self.unlisted())
        return OutsideSearch(unlisted=tuple(Skipped(*key, counts[key]) for key in sorted(counts)))

    def load(self, file: ClaimedFile, *, links: bool = False) -> Document:
        """Read a file without any cache; with its links if its loader finds them.

        Raises:
            Unreadable: with the reason ``loader_failed`` for any other error of a loader.
        """
        loader, source = file.loader, file.source
        read = loader.load_with_links if links and isinstance(loader, LinkLoader) else loader.load
        try:
            document = read(self.root, source)
            if not isinstance(document, Document):
                raise TypeError("a loader gives a document, and nothing else")
        except (FumishirubeError, KeyboardInterrupt):
            raise
        except BaseException as error:
            name = type(loader).__name__
            _log.exception("a loader failed on a file; it is skipped: %s on %s", name, source.path)
            raise Unreadable(
                "the loader failed on this file; the server log says why", "loader_failed"
            ) from error
        return document

    def content_hash(self, file: ClaimedFile) -> str:
        """Return a hash of the bytes that affect a file's content; empty if it cannot be read."""
        content = hashlib.sha256()
        try:
            for path in (file.source.path, *file.source.governed_by):
                content.update(self.root.read_bytes(path))
        except ToolError:
            return ""
        return content.hexdigest()[:16]

    def contents(
        self, file: ClaimedFile, claimed: Collection[str]
    ) -> Sequence[tuple[FolderEntry, bytes]]:
        """Return a file and the unclaimed ones that affect it, as far as they can be read."""
        read: list[tuple[FolderEntry, bytes]] = []
        governing = [path for path in file.source.governed_by if path not in claimed]
        for path in (file.source.path, *governing):
            with suppress(ToolError):  # the index has the reason
                read.append((self.root.stat(path), self.root.read_bytes(path)))
        return read
