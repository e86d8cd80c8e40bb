"""What is on disk: the manuals of a root, their files, and which loader speaks for each."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import RLock
from typing import NamedTuple

from shirube.errors import Forbidden, NotFound, ToolError, Unreadable
from shirube.folders import Entry
from shirube.model import Aside, Document, Passage, Section, Source
from shirube.paths import Root
from shirube.stages import Loader
from shirube.text import fold, nfc
from shirube.watching import Watch

FIELDS = ("title", "headings", "path", "body")
"""The searchable fields of a passage."""

RACY_NS = 2_000_000_000
"""How long after a change a file may change again without a new time stamp, in nanoseconds."""

SWEPT_FILES = 1_000
"""Up to how many files are looked at on every call, which is faster than asking what changed."""

_DIGEST_DIGITS = 12
_DOCUMENTS_KEPT = 32


class Spoken(NamedTuple):
    """A file, the loader that speaks for it, and a stamp that changes whenever it may read anew."""

    source: Source
    loader: Loader
    stamp: str
    modified_ns: int


class Manual:
    """One manual: a folder whose files are loaders' sources."""

    def __init__(self, manual_id: str, root: Root, loaders: Sequence[Loader]) -> None:
        self.id = manual_id
        self._root = root
        self._loaders = loaders
        self._listing: list[Entry] | None = None
        self._entries: dict[str, Entry] = {}
        self._spoken: dict[str, Spoken] = {}
        self._aside = Aside()
        self._documents: OrderedDict[tuple[str, str], Document] = OrderedDict()
        self._lock = RLock()
        self._followed = False
        self._watch: Watch | None = None

    def follow(self, *, on: bool) -> None:
        """Keep a watch on the folder if it is large, or end that; what serves does so."""
        with self._lock:
            self._followed = on
            if self._watch is not None and not on:
                self._watch.close()
                self._watch = None

    def sweep(self) -> Mapping[str, Spoken]:
        """Look at the folder now, and return every file that a loader speaks for, by path.

        A large folder is not looked at while a watch says that nothing has changed. The first
        loader in order that speaks for a path keeps it.
        """
        with self._lock:
            if self._watch is not None and self._watch.quiet():
                return self._spoken
            listing = self._root.files(links=True)
            if listing != self._listing:
                self._spoken = self._ask_loaders(listing)
                self._aside = _aside(listing, self._spoken)
                self._listing = listing
            if self._watch is not None:
                self._watch.looked()
            elif self._followed and len(listing) > SWEPT_FILES:
                self._watch = Watch(self._root.path)
            return self._spoken

    def entries(self, path: str = "") -> Sequence[Entry]:
        """Return the folders and the loaders' files of one folder, sorted by name."""
        spoken = self.sweep()
        return [
            entry
            for entry in self._root.entries(path)
            if not entry.name.startswith(".")
            and (entry.kind == "dir" or (entry.kind == "file" and entry.path in spoken))
        ]

    def paths(self) -> Sequence[str]:
        """Return every file that a loader speaks for, sorted."""
        return sorted(self.sweep())

    def document(self, path: str) -> Document:
        """Read one of those files.

        Raises:
            NotFound: when it is absent, or no loader speaks for it.
            Unreadable: when its text cannot be had.
        """
        spoken = self.sweep().get(path)
        if spoken is None:
            entry = self._root.stat(path)
            reason = (
                "it is a folder" if entry.kind == "dir" else "no loader reads this kind of file"
            )
            raise NotFound(f"the manual lists no such file: {reason}", path=path)
        key = (path, spoken.stamp)
        with self._lock:
            if key in self._documents:
                self._documents.move_to_end(key)
                return self._documents[key]
        try:
            document = self.load(spoken)
        except Unreadable as error:
            raise Unreadable(str(error), error.reason, path=path) from error
        if time.time_ns() - spoken.modified_ns <= RACY_NS:
            return document
        with self._lock:
            self._documents[key] = document
            while len(self._documents) > _DOCUMENTS_KEPT:
                self._documents.popitem(last=False)
        return document

    def aside(self) -> Aside:
        """Count what the last look at the folder met that no loader speaks for."""
        with self._lock:
            return self._aside

    def load(self, spoken: Spoken) -> Document:
        """Read a file anew, whatever is remembered of it."""
        return spoken.loader.load(self._root, spoken.source)

    def content_hash(self, spoken: Spoken) -> str:
        """Return a hash of the bytes that decide what a file says; empty if it cannot be read."""
        content = hashlib.sha256()
        try:
            for path in (spoken.source.path, *spoken.source.governed_by):
                content.update(self._root.read_bytes(path))
        except ToolError:
            return ""
        return content.hexdigest()[:16]

    def _ask_loaders(self, listing: Sequence[Entry]) -> dict[str, Spoken]:
        before, self._entries = self._entries, {e.path: e for e in listing if e.kind == "file"}
        entries = self._entries
        listed = _Listed(self._root.top, self._root.limits, self._root.below, (*entries.values(),))
        spoken: dict[str, Spoken] = {}
        for loader in self._loaders:
            for source in loader.sources(listed):
                path = source.path
                if path in spoken or path not in entries:
                    continue
                known = self._spoken.get(path)
                deciding = (path, *source.governed_by)
                same = known and known.loader is loader and known.source == source
                if known and same and all(entries.get(p) == before.get(p) for p in deciding):
                    spoken[path] = known
                else:
                    present = [entries[p] for p in deciding if p in entries]
                    stamp = " ".join(f"{entry.size}:{entry.modified_ns}" for entry in present)
                    newest = max(entry.modified_ns for entry in present)
                    spoken[path] = Spoken(source, loader, stamp, newest)
        return spoken


@dataclass(frozen=True)
class _Listed(Root):
    """A root whose files have just been listed: each loader asks, and once is enough."""

    listed: tuple[Entry, ...] = ()

    def files(self, path: str = "", *, hidden: bool = False, links: bool = False) -> list[Entry]:
        """Return every regular file below a folder, sorted by path."""
        if path or hidden or links:
            return super().files(path, hidden=hidden, links=links)
        return [*self.listed]


def _aside(listing: Sequence[Entry], spoken: Mapping[str, Spoken]) -> Aside:
    """Count the files that no loader speaks for, and that decide nothing about others."""
    known = {*spoken}.union(*(one.source.governed_by for one in spoken.values()))
    ignored = sum(entry.kind == "file" and entry.path not in known for entry in listing)
    return Aside(ignored=ignored, links=sum(entry.kind == "link" for entry in listing))


class Library:
    """The manuals of one root: its folders, one level deep."""

    def __init__(self, root: Root, loaders: Sequence[Loader], reserved: Sequence[str] = ()) -> None:
        self._root = root
        self._loaders = loaders
        self._reserved = frozenset(reserved)
        self._manuals: dict[str, Manual] = {}
        self._followed = False
        self._lock = RLock()

    def follow(self, *, on: bool) -> None:
        """Keep a watch on large manuals, or end that."""
        with self._lock:
            self._followed = on
            for manual in self._manuals.values():
                manual.follow(on=on)

    def manuals(self) -> Sequence[str]:
        """Return the ids of the manuals, sorted: folders that are no links and have no dot-name."""
        if not self._root.exists:
            return []
        found = self._root.entries()
        return [entry.name for entry in found if entry.kind == "dir" and self._offered(entry.name)]

    def manual(self, manual_id: str) -> Manual:
        """Return one manual.

        Raises:
            NotFound: when there is none of this id.
            Forbidden: when it is a symlink.
        """
        manual_id = nfc(manual_id)
        if not self._offered(manual_id):
            raise NotFound("manual not found", manual_id=manual_id)
        try:
            root = self._root.child(manual_id)
        except NotFound as error:
            raise NotFound("manual not found", manual_id=manual_id) from error
        except Forbidden as error:
            raise Forbidden(str(error), manual_id=manual_id) from error
        with self._lock:
            known = self._manuals.get(manual_id)
            if known is None:
                known = self._manuals[manual_id] = Manual(manual_id, root, self._loaders)
                known.follow(on=self._followed)
            return known

    def _offered(self, name: str) -> bool:
        return not name.startswith(".") and "::" not in name and name not in self._reserved


def digest(text: str) -> str:
    """Return the start of the SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_DIGITS]


def passages(document: Document) -> list[Passage]:
    """Return the sections of a document as an index keeps them."""
    stem = document.path.rpartition(".")[0] or document.path
    path = fold(stem)
    return [_passage(document, section, path) for section in document.sections]


def _passage(document: Document, section: Section, path: str) -> Passage:
    own = document.text[section.start : section.end]
    body = document.text[section.body : section.end]
    return Passage(
        path=document.path,
        start_line=section.start_line,
        end_line=section.end_line,
        title=section.title,
        ancestors=section.ancestors,
        level=section.level,
        digest=digest(own),
        fields={
            "title": fold(section.title),
            "headings": fold("\n".join(section.ancestors)),
            "path": path,
            "body": fold(body if section.searched is None else section.searched),
        },
    )
