"""Lists the manuals, reads their tables of contents, and locates their files."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from threading import Lock
from typing import NamedTuple

from fumishirube import (
    Chapter,
    Contents,
    ContentsLoader,
    Forbidden,
    NotFound,
    Root,
    ToolError,
    Unreadable,
)
from fumishirube.disk import FolderEntry, is_settled
from fumishirube.text import nfc
from fumishirube_chapters.failures import no_contents, no_manual, no_section
from fumishirube_chapters.surface import LocationSettings

LOG = logging.getLogger("fumishirube.chapters")

_SHOWN = 200
_HIDDEN = "another folder with this name in other characters (NFC or NFD) is hidden"


class LocatedFile(NamedTuple):
    """The real path and state of a file, or the reason why it cannot be read.

    ``key`` distinguishes the files of a manual. It is the path in its folder, but a link may lead
    to a file outside, which has an equal path in another folder.
    """

    root: Root
    path: str
    key: str
    entry: FolderEntry | None
    fault: str | None = None

    @property
    def stamp(self) -> str:
        """A string that changes with the file."""
        entry = self.entry
        return f"{entry.inode}:{entry.size}:{entry.modified_ns}" if entry else ""

    @property
    def settled(self) -> bool:
        """Whether the stamp is reliable: a file just written may change again within one tick."""
        return self.entry is not None and is_settled(self.entry.modified_ns)


@dataclass(frozen=True)
class ChapterManual:
    """A manual with a usable table of contents; ``name`` is spelled as in the call."""

    name: str
    root: Root
    locations: LocationSettings
    contents: Contents
    by_id: Mapping[str, Chapter]

    def chapter(self, section_id: str) -> Chapter:
        """Return the chapter with an id.

        Raises:
            NotFound: when the table of contents has no such id.
        """
        if section_id not in self.by_id:
            raise no_section(section_id, self.name)
        return self.by_id[section_id]

    def in_scope(self, section_id: str | None) -> list[Chapter]:
        """Return a list of the chapter with an id; of all chapters, in order, for ``None``."""
        return [*self.by_id.values()] if section_id is None else [self.chapter(section_id)]

    def locate(self, path: str | None) -> LocatedFile:
        """Return the location of a chapter's file."""
        if path is None:
            return LocatedFile(self.root, "", "", None, "refused")
        return located(self.root, path, self.locations)

    def locate_all(self, paths: Iterable[str]) -> Mapping[str, LocatedFile]:
        """Return the locations of many files, listing each folder once."""
        requested = [*paths]
        folders = {str(PurePosixPath(path).parent) for path in requested}
        files: dict[str, FolderEntry] = {}
        for folder in folders:
            try:
                entries = self.root.entries("" if folder == "." else folder)
            except ToolError:
                continue
            files |= {entry.path: entry for entry in entries if entry.kind == "file"}
        listed = {path: files.get(path) for path in requested}
        return {
            path: LocatedFile(self.root, path, path, entry) if entry else self.locate(path)
            for path, entry in listed.items()
        }


class _Subject(NamedTuple):
    """What warnings are about: a chapter's file, or the table of contents of a manual."""

    manual: str
    file: str | None = None


class ChapterLibrary:
    """The manuals below a root; a table of contents is read again when it changes."""

    def __init__(self, root: Root, loader: ContentsLoader, locations: LocationSettings) -> None:
        self._root = root
        self._loader = loader
        self._locations = locations
        self._read: dict[str, tuple[str, ChapterManual]] = {}
        self._logged: dict[_Subject, tuple[str, Sequence[str]]] = {}
        self._lock = Lock()

    def manuals(self) -> list[str]:
        """Return the names of the manuals, sorted by code point."""
        return sorted(self._folders())

    def manual(self, name: str) -> ChapterManual:
        """Return a manual with its table of contents.

        Raises:
            NotFound: when there is no such manual, or its table of contents is unusable.
        """
        folder = self._folder(name)
        toc = self._locations.toc
        file = located(folder, toc, self._locations)
        if file.fault is not None:
            self._log_once(_Subject(name), file.fault, [f"{toc} cannot be used: {file.fault}"])
            raise no_contents(name, toc, file.fault)
        # An unsettled file is not cached: it may change without a new stamp.
        settled = file.settled
        with self._lock:
            stamp, cached = self._read.get(nfc(name), ("", None))
        if cached is not None and stamp == file.stamp and settled:
            return replace(cached, name=name)
        try:
            contents = self._loader.contents(file.root, file.path)
        except ToolError as error:
            fault = fault_of(error)
            said = isinstance(error, Unreadable) and fault == "unreadable"
            reason = str(error) if said else fault
            self._log_once(_Subject(name), file.stamp, [f"{toc} cannot be used: {reason}"])
            raise no_contents(name, toc, reason) from error
        self._log_once(_Subject(name), file.stamp, contents.warnings)
        by_id: dict[str, Chapter] = {}
        for chapter in contents.chapters:
            by_id.setdefault(chapter.id, chapter)
        manual = ChapterManual(name, folder, self._locations, contents, by_id)
        with self._lock:
            self._read[nfc(name)] = (file.stamp if settled else "", manual)
        return manual

    def warn(self, manual: ChapterManual, chapter: Chapter, stamp: str, fault: str) -> None:
        """Log a problem with a chapter's file, once for each state of the file."""
        self._log_once(
            _Subject(manual.name, chapter.file),
            stamp + fault,
            [f"file {fault}: {chapter.file[:_SHOWN]}"],
        )

    def usable(self) -> Iterator[ChapterManual]:
        """Log the names of the manuals, and yield those with a usable table of contents."""
        names = self.manuals()
        LOG.info("manuals: %s", ", ".join(names) or "none")
        twins = _twins(self._root)
        for name in names:
            hidden = [_HIDDEN] if name in twins else []
            with suppress(ToolError):  # logged by manual()
                manual = self.manual(name)
                hidden += _hidden_files(manual)
                yield manual
            self._log_once(_Subject(name, ""), "".join(hidden), hidden)

    def diagnostics(self) -> list[tuple[str, str]]:
        """Return the problems found so far, as pairs of manual and message."""
        with self._lock:
            logged = [*self._logged.items()]
        return [
            (subject.manual, warning) for subject, (_, warnings) in logged for warning in warnings
        ]

    def _log_once(self, subject: _Subject, state: str, warnings: Sequence[str]) -> None:
        printable = [*map(_printable, warnings)]
        with self._lock:
            if subject in self._logged and self._logged[subject][0] == state:
                return
            self._logged[subject] = (state, printable)
        for warning in printable:
            LOG.warning("[validate] manual=%s %s", _printable(subject.manual), warning)

    def _folders(self) -> list[str]:
        if not self._root.exists:
            return []
        entries = self._root.entries()
        return [entry.name for entry in entries if self._is_manual(entry)]

    def _is_manual(self, entry: FolderEntry) -> bool:
        if entry.kind != "dir" and not (entry.kind == "link" and self._locations.links):
            return False
        if entry.kind == "dir" and not entry.name.startswith("."):
            return True
        try:
            folder = self._inside(entry.name)
        except ToolError:
            return False
        hidden = entry.name.startswith(".")
        return not hidden or located(folder, self._locations.toc, self._locations).fault is None

    def _folder(self, name: str) -> Root:
        # Look the name up in the listing; never join it into a path.
        folder = nfc(name)
        if folder not in self._folders():
            raise no_manual(name)
        try:
            return self._inside(folder)
        except ToolError as error:
            raise no_manual(name) from error

    def _inside(self, name: str) -> Root:
        """Return a folder of the root as a root.

        Raises:
            NotFound: when it is not a folder.
            Forbidden: when it leads out of the allowed roots.
        """
        if not self._locations.links:
            return self._root.child(name)
        root, path = self._root.followed(name, self._locations.allowed)
        if not path and not root.exists:
            raise NotFound("not a folder", path=name)
        return root.child(path) if path else root


def located(root: Root, path: str, locations: LocationSettings) -> LocatedFile:
    """Return the location of a file, following links if they are allowed."""
    key = path
    try:
        try:
            entry = root.stat(path)
        except Forbidden:
            if not locations.links:
                raise
            root, path = root.followed(path, locations.allowed)
            key = f"/{locations.allowed.index(root.path)}/{path}"  # no path in a root begins so
            entry = root.stat(path)
    except NotFound:
        return LocatedFile(root, path, key, None, "missing")
    except ToolError:
        return LocatedFile(root, path, key, None, "refused")
    if entry.kind != "file":
        return LocatedFile(root, path, key, None, "refused")
    return LocatedFile(root, path, key, entry)


def fault_of(error: ToolError) -> str:
    """Return the reason why a file could not be read, as one word."""
    if isinstance(error, Unreadable) and error.reason == "too_large":
        return "too_large"
    return "missing" if isinstance(error, NotFound) else "unreadable"


def _twins(root: Root, path: str = "") -> set[str]:
    """Return the names that several entries of a folder have, in different normal forms."""
    with suppress(ToolError), root.opened(path) as folder:
        count = Counter(map(nfc, folder.names()))
        return {name for name, number in count.items() if number > 1}
    return set()


def _hidden_files(manual: ChapterManual) -> list[str]:
    """Return a sentence about each file of a chapter that hides another one of its name."""
    files = {nfc(item.path) for item in manual.by_id.values() if item.path}
    folders = {file.rpartition("/")[0] for file in files}
    twins = {folder: _twins(manual.root, folder) for folder in folders}
    parts = ((file, *file.rpartition("/")) for file in sorted(files))
    return [
        f"another file with this name in other characters (NFC or NFD) is hidden: {file[:_SHOWN]}"
        for file, folder, _, name in parts
        if name in twins[folder]
    ]


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "\ufffd" for c in text)
