"""The texts of a manual's files, except those that the index excludes, so that few are read."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial

from fumishirube.budget import Budget
from fumishirube.corpus import Bool, Clause, Corpus, Part, Term
from fumishirube.disk.names import is_below
from fumishirube.documents import Document, Section
from fumishirube.engine.indexed_files import digest, passages, text_digest, words_beside
from fumishirube.engine.manual_folder import UNSURE, ManualFolder
from fumishirube.engine.recoverable_index import IndexState
from fumishirube.errors import IndexDamaged, ToolError, Unreadable
from fumishirube.model import Passage
from fumishirube.optional_attributes import INSIDE
from fumishirube.stages import ClaimedFile, IndexedFile, Tokenizer
from fumishirube.text.encoding import decode
from fumishirube.text.file_texts import FileText, ManualTexts, UnreadFile
from fumishirube.text.folding import fold, is_cjk
from fumishirube.text.readings import Reading

_LATE = "time_budget"
_NAVIGATION = "navigation_file"
"""The reason of files that are not indexed, but whose text is read."""
_SHORTEST = 3
"""Shorter parts of words are in too many terms for the index to search."""
_SECTIONS = 500
_SHARE = 0.05
"""If more sections, and more than this share of all, match, reading every file costs less."""


def manual_texts(
    manual: ManualFolder,
    state: IndexState,
    readings: Sequence[Reading],
    tokenizer: Tokenizer | None,
    budget: Budget,
    below: str = "",
) -> ManualTexts:
    """Return the texts at a path, or below it, in which a reading may match, in order of paths."""
    claimed = manual.sweep()
    if below:
        claimed = {path: file for path, file in claimed.items() if is_below(path, below)}
    unlisted = Counter[str](e.reason for e in manual.unlisted() if is_below(e.path, below))
    current = {
        path: page
        for path, file in claimed.items()
        if (page := state.pages.get(path)) and _is_current(page, file, state)
    }
    maybe = candidates(readings, state.corpus, tokenizer, current)
    unknown = claimed.keys() - current.keys()
    paths = sorted(unknown | (maybe.keys() & current.keys()))
    return ManualTexts(
        files=len(claimed),
        sections=sum(page.sections for page in current.values()),
        texts=_texts(manual, [claimed[path] for path in paths], current, maybe, state, budget),
        unlisted=unlisted,
        degraded=state.degraded,
    )


def _is_current(page: IndexedFile, file: ClaimedFile, state: IndexState) -> bool:
    """Tell whether a page is of the current file; a complete update has checked young files."""
    if page.stamp == file.stamp:
        return True
    stamp, young, _ = page.stamp.partition(UNSURE)
    return stamp == file.stamp and not (young and state.degraded)


def _texts(
    manual: ManualFolder,
    wanted: Sequence[ClaimedFile],
    current: Mapping[str, IndexedFile],
    matching: Mapping[str, Sequence[Passage]],
    state: IndexState,
    budget: Budget,
) -> Iterator[FileText | UnreadFile]:
    slow = {load.path for load in state.slow}
    for file in wanted:
        budget.check()
        path = file.source.path
        if budget.late or path in slow:
            yield UnreadFile(path, _LATE)
            continue
        try:
            yield _text(manual, file, current.get(path), matching.get(path, ()), state.corpus)
        except Unreadable as error:
            yield UnreadFile(path, error.reason)
        except ToolError as error:
            yield UnreadFile(path, error.code)


def _text(
    manual: ManualFolder,
    file: ClaimedFile,
    page: IndexedFile | None,
    matching: Sequence[Passage],
    corpus: Corpus,
) -> FileText | UnreadFile:
    """Return a file's text, without its loader if the index knows that it is plain text."""
    path = file.source.path
    if page is not None and page.skipped not in (None, _NAVIGATION):
        return UnreadFile(path, str(page.skipped))
    if page is not None and page.about is not None:
        text = _as_written(manual, path)
        if text is not None and text_digest(page) == digest(text):
            every = cache(lambda: _page(corpus, manual, file))
            return FileText(path, text, partial(_indexed_headings, matching, every))
    return file_text(manual.load(file))


def _as_written(manual: ManualFolder, path: str) -> str | None:
    """Return a file's own text, or ``None`` if only its loader can read it."""
    data = manual.root.read_bytes(path)
    try:
        return decode(data)
    except Unreadable:
        return None


def file_text(document: Document) -> FileText:
    """Return the text of a document, with its headings."""
    return FileText(document.path, document.text, partial(_headings, document.sections))


def _indexed_headings(
    matching: Sequence[Passage], every: Callable[[], Sequence[Passage]], line: int
) -> Sequence[str]:
    """Return the headings of a line: of a section that matched, or else of ``every`` section."""
    for passage in matching:
        if passage.start_line <= line <= passage.end_line:
            return (*passage.ancestors, passage.title)
    return _headings(every(), line)


def _headings(sections: Sequence[Section] | Sequence[Passage], line: int) -> Sequence[str]:
    """Return the headings of the last section that begins at a line, or before it."""
    place = bisect_right(sections, line, key=lambda section: section.start_line) - 1
    return (*sections[place].ancestors, sections[place].title) if place >= 0 else ()


def _page(corpus: Corpus, manual: ManualFolder, file: ClaimedFile) -> Sequence[Passage]:
    try:
        return corpus.page(file.source.path)
    except IndexDamaged:  # the next search rebuilds it
        return passages(manual.load(file))


def candidates(
    readings: Sequence[Reading],
    corpus: Corpus,
    tokenizer: Tokenizer | None,
    pages: Mapping[str, IndexedFile],
) -> Mapping[str, Sequence[Passage]]:
    """Return the indexed files in which a reading may match, each with its sections that do.

    No other file matches. If the index cannot decide, all files are returned, without sections.
    """
    if tokenizer is None or not readings:
        return dict.fromkeys(pages, ())
    clauses = [dict(_clauses(reading, tokenizer)) for reading in readings]
    matching = _matching(corpus, [tuple(by_stem.values()) for by_stem in clauses])
    if matching is None:
        return dict.fromkeys(pages, ())
    sections: defaultdict[str, list[Passage]] = defaultdict(list)
    for passage in matching:
        sections[passage.path].append(passage)
    stems = {stem for by_stem in clauses for stem in by_stem}
    for path, page in pages.items():
        beside = words_beside(page)  # ``None`` of an older record
        if beside is None or any(stem in beside for stem in stems):
            sections.setdefault(path, [])
    return sections


def _matching(corpus: Corpus, readings: Sequence[tuple[Clause, ...]]) -> list[Passage] | None:
    """Return the sections that match all clauses of a reading; ``None`` if there are many."""
    if not all(readings):
        return None
    most = max(_SECTIONS, int(corpus.size * _SHARE))
    clause = Bool(should=tuple(Bool(must=clauses) for clauses in readings))
    try:
        # Counting them first takes as long as the search.
        matches = corpus.search(clause, most + 1)
    except IndexDamaged:  # the next search rebuilds it; this one reads the files
        return None
    return None if len(matches) > most else [match.passage for match in matches]


def _clauses(reading: Reading, tokenizer: Tokenizer) -> Iterator[tuple[str, Clause]]:
    """Yield the stems that the index can search, each with a clause that is necessary for it."""
    for stem in map(fold, reading.stems):
        if all(map(is_cjk, stem)) or INSIDE.of(tokenizer):
            yield stem, tokenizer.narrow(stem)[0]
        elif stem.isdecimal() and not reading.exact:
            if stem in tokenizer.terms(f"ab{stem}cd"):
                yield stem, Term(stem)
        elif len(stem) >= _SHORTEST and f"ab{stem}cd" in tokenizer.terms(f"x ab{stem}cd y"):
            yield stem, Part(stem)
