"""The chapters in scope as a corpus, in the order of the table of contents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fumishirube import SequenceCorpus
from fumishirube_chapters.cache import OpenChapter


class Chapters(SequenceCorpus):
    """A manual has few chapters, so that most scorers read all of them."""

    def __init__(self, manual_id: str, chapters: Sequence[OpenChapter]) -> None:
        super().__init__([chapter.passage for chapter in chapters], manual_id=manual_id)
        self._chapters = chapters

    def texts(self) -> Iterable[OpenChapter]:
        """Return every chapter, in the order of the table of contents."""
        return iter(self._chapters)
