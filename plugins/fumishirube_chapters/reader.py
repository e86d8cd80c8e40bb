"""Opens the chapters in scope for a search, and reports those that cannot be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from fumishirube import Budget, Chapter, Hit, Query, Ranking, Scorer, SequenceCorpus
from fumishirube_chapters.arguments import Unsearched
from fumishirube_chapters.cache import ChapterCache, OpenChapter, UnreadableChapter
from fumishirube_chapters.failures import no_file
from fumishirube_chapters.library import ChapterLibrary, ChapterManual, LocatedFile

_SKIPPED_SHOWN = 20


class Chapters(SequenceCorpus):
    """A manual has few chapters, so that most scorers read all of them."""

    def __init__(self, manual_id: str, chapters: Sequence[OpenChapter]) -> None:
        super().__init__([chapter.passage for chapter in chapters], manual_id=manual_id)
        self._chapters = chapters

    def texts(self) -> Iterable[OpenChapter]:
        """Return every chapter, in the order of the table of contents."""
        return iter(self._chapters)


class ScanResult(NamedTuple):
    """The hits of a scorer, in the order of the table of contents, and what was not searched."""

    hits: Sequence[tuple[Chapter, OpenChapter, Hit]]
    skipped: Sequence[Unsearched]

    def omissions(self, total: int, limit: int) -> Mapping[str, Any]:
        """Return the keys of an answer for what it omits; empty when it is complete."""
        omissions: dict[str, Any] = {"total": total} if total > limit else {}
        if self.skipped:
            omissions["skipped"] = tuple(self.skipped[:_SKIPPED_SHOWN])
        if len(self.skipped) > _SKIPPED_SHOWN:
            omissions["skipped_total"] = len(self.skipped)
        return omissions


class ChapterReader:
    """Reads the chapters of manuals, and runs scorers on them."""

    def __init__(self, library: ChapterLibrary, cache: ChapterCache) -> None:
        self.library = library
        self._cache = cache

    def close(self) -> None:
        """Close the file of projections."""
        self._cache.close()

    def validate(self) -> None:
        """Read all chapters of all manuals once, and log every problem."""
        for manual in self.library.usable():
            self._opened_all(manual, manual.in_scope(None), Budget())

    def open(self, manual: ChapterManual, chapter: Chapter) -> OpenChapter:
        """Return one chapter.

        Raises:
            NotFound: when its file cannot be read.
        """
        try:
            return self._opened(manual, chapter, manual.locate(chapter.path))
        except UnreadableChapter as fault:
            raise no_file(chapter.id, manual.name, chapter.file, fault.reason) from fault

    def save(self, manual: ChapterManual, chapters: Sequence[OpenChapter]) -> None:
        """Save the new projections of some chapters on disk."""
        self._cache.save(manual.name, chapters, whole=False)

    def scan(
        self, manual: ChapterManual, section_id: str | None, query: Query, scorer: Scorer
    ) -> ScanResult:
        """Run a scorer on one chapter, or on all.

        Raises:
            NotFound: when the one chapter does not exist or cannot be read.
        """
        chapters = manual.in_scope(section_id)
        opened, faults = self._opened_all(manual, chapters, query.budget)
        if section_id is not None and faults:
            ((_, reason),) = faults.items()
            raise no_file(section_id, manual.name, chapters[0].file, reason)
        unique = {item.passage.key: item for item in opened.values()}
        corpus = Chapters(manual.name, [*unique.values()])
        scored = scorer.score(query, corpus, {})
        ranking = scored if isinstance(scored, Ranking) else Ranking(tuple(scored))
        self._cache.save(manual.name, [*unique.values()], whole=section_id is None)
        hits = {hit.passage.key: hit for hit in ranking.hits}
        late = {(out.path, out.start_line): out.reason for out in ranking.left_out}
        matches = []
        for chapter in chapters:
            item = opened.get(chapter.id)
            if item is None:
                continue
            if item.passage.key in late:
                faults[chapter.id] = late[item.passage.key]
            elif item.passage.key in hits:
                matches.append((chapter, item, hits[item.passage.key]))
        skipped = [
            Unsearched.model_validate({"section_id": item.id, "reason": faults[item.id]})
            for item in chapters
            if item.id in faults
        ]
        return ScanResult(matches, skipped)

    def _opened_all(
        self, manual: ChapterManual, chapters: Sequence[Chapter], budget: Budget
    ) -> tuple[dict[str, OpenChapter], dict[str, str]]:
        """Return the readable chapters, and the reason for each other one, by id."""
        files = manual.locate_all({item.path: None for item in chapters if item.path})
        opened: dict[str, OpenChapter] = {}
        by_path: dict[str, OpenChapter] = {}
        faults: dict[str, str] = {}
        for chapter in chapters:
            budget.check()
            path = chapter.path or ""
            try:
                file = files[path] if path else manual.locate(None)
                # Several chapters may name one file; read it once.
                read = by_path.get(path) or self._opened(manual, chapter, file)
            except UnreadableChapter as fault:
                faults[chapter.id] = fault.reason
            else:
                opened[chapter.id] = by_path[path] = read
        return opened, faults

    def _opened(self, manual: ChapterManual, chapter: Chapter, file: LocatedFile) -> OpenChapter:
        try:
            opened = self._cache.read(manual.name, file)
        except UnreadableChapter as fault:
            if chapter.path is not None:  # else a warning of the table of contents says so
                self.library.warn(manual, chapter, file.stamp, fault.reason)
            raise
        if opened.document.damaged:
            encoding = opened.document.encoding
            self.library.warn(manual, chapter, file.stamp, f"holds bytes that are no {encoding}")
        return opened
