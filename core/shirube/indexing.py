"""Bringing a manual's index up to date with its files."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from threading import Lock
from typing import NamedTuple

from shirube.budget import Budget
from shirube.errors import ToolError, Unreadable
from shirube.library import RACY_NS, Manual, Spoken, passages
from shirube.model import Aside, LeftOut, Passage, Progress
from shirube.stages import Corpus, OpenIndex, Page

_log = logging.getLogger("shirube")

_BATCH_FILES = 256
_UNSURE = "?"


class State(NamedTuple):
    """A manual's corpus, how many files it covers, what they lack, and why it may be stale.

    ``fingerprint`` changes with every path, size and time of change in the corpus.
    """

    corpus: Corpus
    files: int
    skipped: tuple[LeftOut, ...]
    degraded: str | None
    fingerprint: str
    aside: Aside = Aside()


class Indexed:
    """A manual and its index. Calls from several threads take turns at updating."""

    def __init__(self, manual: Manual, index: OpenIndex) -> None:
        self._manual = manual
        self._index = index
        self._lock = Lock()
        self._sure: dict[str, str] = {}
        self._clean: tuple[Mapping[str, Spoken], Mapping[str, Page]] | None = None
        self._marked: tuple[Mapping[str, Page], str] | None = None

    def bring_up_to_date(self, budget: Budget, progress: Progress | None = None) -> State:
        """Index what has changed on disk, and return the corpus that results.

        Only changed files are read. When another process is writing, or the deadline passes, the
        last committed state is returned, and ``degraded`` says so.
        """
        with self._lock:
            spoken = self._manual.sweep()
            self._index.refresh()
            degraded = None
            if not self._is_clean(spoken):
                degraded = self._take_turn(spoken, budget, progress)
            pages = self._index.pages()
            skipped = [LeftOut(p.path, None, p.skipped) for p in pages.values() if p.skipped]
            waiting = [path for path in spoken if path not in pages] if degraded else []
            corpus = self._index.corpus(self._manual.id)
            mark = self._fingerprint(pages)
            skipped += [LeftOut(path, None, "time_budget") for path in waiting]
            aside = self._manual.aside()._replace(headings=sum(p.blank for p in pages.values()))
            files = len(pages) + len(waiting)
            return State(corpus, files, tuple(sorted(skipped)), degraded, mark, aside)

    def _take_turn(
        self, spoken: Mapping[str, Spoken], budget: Budget, progress: Progress | None
    ) -> str | None:
        """Update as the writer, or wait for another one as long as it gets on with new files."""
        known = -1
        while True:
            with self._index.writing(budget) as mine:
                if mine:
                    return self._update(spoken, budget, progress)
            self._index.refresh()
            pages = self._index.pages()
            if budget.spent or len(pages) == known or spoken.keys() <= pages.keys():
                return "another process is updating the index; this is the state before"
            known = len(pages)

    def close(self) -> None:
        """Let go of the index."""
        self._index.close()

    def _is_clean(self, spoken: Mapping[str, Spoken]) -> bool:
        """Tell whether index and folder agree; what agreed once does until one of them changes."""
        pages = self._index.pages()
        if self._clean and self._clean[0] is spoken and self._clean[1] is pages:
            return True
        if any(self._changes(spoken)):
            return False
        if all(_UNSURE not in p.stamp or self._sure.get(p.path) == p.stamp for p in pages.values()):
            self._clean = (spoken, pages)
        return True

    def _fingerprint(self, pages: Mapping[str, Page]) -> str:
        if self._marked is None or self._marked[0] is not pages:
            stamps = sorted((page.path, page.stamp) for page in pages.values())
            self._marked = (pages, hashlib.sha256(repr(stamps).encode()).hexdigest()[:16])
        return self._marked[1]

    def _changes(self, spoken: Mapping[str, Spoken]) -> tuple[list[str], list[Spoken]]:
        pages = self._index.pages()
        gone = [path for path in pages if path not in spoken]
        changed = [
            spoken[path]
            for path in sorted(spoken)
            if path not in pages or not self._same(pages[path], spoken[path])
        ]
        return gone, changed

    def _same(self, page: Page, spoken: Spoken) -> bool:
        """Compare stamps; a file indexed within two seconds of its change is read once more.

        The clock of a file system may be too coarse to tell two quick changes apart.
        """
        stamp, unsure, known = page.stamp.partition(_UNSURE)
        if stamp != spoken.stamp:
            return False
        if not unsure or self._sure.get(page.path) == page.stamp:
            return True
        if self._manual.content_hash(spoken) != known:
            return False
        if time.time_ns() - spoken.modified_ns > RACY_NS:
            self._sure[page.path] = page.stamp
        return True

    def _update(
        self, spoken: Mapping[str, Spoken], budget: Budget, progress: Progress | None
    ) -> str | None:
        gone, changed = self._changes(spoken)
        total = len(changed)
        waiting = iter(changed)
        done = 0

        def tell(number: int) -> None:
            if progress:
                progress(number, total, f"indexing {self._manual.id}")

        while gone or done < total:
            batch = list(islice(waiting, _BATCH_FILES))
            self._index.sync(gone, self._pages(batch, budget, tell, done))
            gone = []
            done += len(batch)
            if budget.spent and done < total:
                return f"time ran out while indexing: {total - done} changed files are not in yet"
        return None

    def _pages(
        self, batch: Sequence[Spoken], budget: Budget, tell: Callable[[int], None], done: int
    ) -> Iterator[tuple[Page, Sequence[Passage]]]:
        for number, spoken in enumerate(batch, start=done + 1):
            budget.check()
            yield _read(self._manual, spoken)
            tell(number)


def _read(manual: Manual, spoken: Spoken) -> tuple[Page, Sequence[Passage]]:
    path = spoken.source.path
    stamp = spoken.stamp
    if time.time_ns() - spoken.modified_ns <= RACY_NS:
        stamp += _UNSURE + manual.content_hash(spoken)
    try:
        document = manual.load(spoken)
    except Unreadable as error:
        return Page(path, stamp, error.reason), ()
    except ToolError as error:
        return Page(path, stamp, error.code), ()
    except Exception:
        _log.exception("a loader failed on a file; it is skipped")
        return Page(path, stamp, "loader_failed"), ()
    if document.navigation:
        return Page(path, stamp, "navigation_file"), ()
    found = passages(document)
    blank = sum(not passage.fields["body"] for passage in found)
    return Page(path, stamp, None, len(found), blank), found
