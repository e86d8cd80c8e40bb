"""Caches the texts and projections of chapters in memory while their files do not change."""

from __future__ import annotations

import sys
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from fumishirube import ContentsLoader, Document, Passage, ToolError
from fumishirube.text import Projection, TextForm, fold, project
from fumishirube_chapters.library import LocatedFile, fault_of
from fumishirube_chapters.projection_store import ProjectionStore, StoredProjection

MOST = 128 * 1024 * 1024
"""The most bytes of texts and projections in memory, besides those in use by a call."""
_STEPS = 16
"""Weights are summed again after this part of the limit: for each chapter it would be a square."""


class UnreadableChapter(Exception):
    """A chapter's file cannot be read."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class FoldedFields(Mapping[str, str]):
    """The folded texts of a chapter, computed when a stage reads them."""

    def __init__(self, title: str, path: str, text: str) -> None:
        self._texts = {"title": title, "headings": "", "path": path, "body": text}

    def __getitem__(self, name: str) -> str:
        return fold(self._texts[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


class OpenChapter:
    """A chapter in memory: its text, and its projections, each computed once, on demand."""

    def __init__(self, manual: str, stamp: str, document: Document, store: ProjectionStore) -> None:
        self.document = document
        self.stamp = stamp
        self.born = time.monotonic()
        section = document.sections[0]
        fields = FoldedFields(section.title, document.path, document.text)
        path, last = document.path, section.end_line
        self.passage = Passage(path, 1, last, section.title, (), 1, stamp, fields)
        self._manual = manual
        self._store = store
        self._forms: dict[TextForm, Projection] = {}
        self._unsaved: list[StoredProjection] = []
        self._lock = Lock()
        self.weight = sys.getsizeof(document.text)

    @property
    def own(self) -> str:
        """The original text."""
        return self.document.text

    def form(self, form: TextForm) -> Projection:
        """Return a form of the text: from memory, from disk, or computed now."""
        projection = self._forms.get(form)
        if projection is None:
            with self._lock:  # other searches wait for the one that computes it
                projection = self._forms.get(form)
                if projection is None:
                    projection = self._forms[form] = self._made(form)
                    self.weight += projection.weight
        return projection

    def taken(self) -> list[StoredProjection]:
        """Return the projections that are to be saved, once."""
        with self._lock:
            unsaved, self._unsaved = self._unsaved, []
        return unsaved

    def _made(self, form: TextForm) -> Projection:
        path, settled = self.document.path, bool(self.stamp)
        projection = self._store.get(self._manual, path, self.stamp, form) if settled else None
        if projection is None:
            projection = project(self.own, form)
            if settled:
                self._unsaved.append(
                    StoredProjection(self._manual, path, self.stamp, form, projection)
                )
        return projection


class _Slot(NamedTuple):
    top: Path
    below: str
    path: str


class ChapterCache:
    """The most recently read chapters, so many at most, each for some seconds."""

    def __init__(
        self, loader: ContentsLoader, store: ProjectionStore, chapters: int, seconds: int
    ) -> None:
        self._loader = loader
        self._store = store
        self._chapters = chapters
        self._seconds = seconds
        self._open: OrderedDict[_Slot, OpenChapter] = OrderedDict()
        self._unweighed = 0
        self._lock = Lock()

    def read(self, manual: str, file: LocatedFile) -> OpenChapter:
        """Return a chapter in its present state.

        Raises:
            UnreadableChapter: when its file cannot be read.
        """
        if file.fault is not None:
            raise UnreadableChapter(file.fault)
        slot = _Slot(file.root.top, file.root.below, file.path)
        stamp = file.stamp if file.settled else ""
        with self._lock:
            cached = self._cached(slot, stamp)
        if cached is not None:
            return cached
        try:
            document = self._loader.chapter(file.root, file.path)._replace(path=file.key)
        except ToolError as error:
            raise UnreadableChapter(fault_of(error)) from error
        opened = OpenChapter(manual, stamp, document, self._store)
        if self._seconds > 0:
            with self._lock:
                cached = self._cached(slot, stamp)
                if cached is not None:  # another search has read it meanwhile
                    return cached
                self._open[slot] = opened
                self._open.move_to_end(slot)
                while len(self._open) > self._chapters:
                    self._open.popitem(last=False)
                self._unweighed += opened.weight
                due = self._unweighed > MOST // _STEPS
            if due:
                self._relieve()
        return opened

    def save(self, manual: str, chapters: Sequence[OpenChapter], *, whole: bool) -> None:
        """Save the new projections of these chapters on disk.

        With ``whole``, they are all of the manual: drop stored projections of its other files.
        """
        unsaved = [projection for chapter in chapters for projection in chapter.taken()]
        files = {chapter.document.path for chapter in chapters}
        self._store.put(unsaved, (manual, files) if whole else None)
        self._relieve()

    def close(self) -> None:
        """Close the file of projections."""
        self._store.close()

    def _relieve(self) -> None:
        """Drop the least recently read chapters until the limit is met."""
        with self._lock:
            self._unweighed = 0
            weight = sum(chapter.weight for chapter in self._open.values())
            while weight > MOST:
                weight -= self._open.popitem(last=False)[1].weight

    def _cached(self, slot: _Slot, stamp: str) -> OpenChapter | None:
        """Return a chapter that is in memory in this state, as the one read most recently."""
        cached = self._open.get(slot)
        if cached is None or not stamp or cached.stamp != stamp:
            return None
        if time.monotonic() - cached.born >= self._seconds:
            return None
        self._open.move_to_end(slot)
        return cached
