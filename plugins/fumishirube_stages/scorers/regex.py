"""Regex: finds the matches of a regular expression, with limits of time and memory."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from time import monotonic
from typing import Annotated, Any, ClassVar

from pydantic import Field

from fumishirube import Corpus, Hit, LeftOut, Passage, PassageText, Query, Ranking, Stage, texts_of
from fumishirube.text import NORMAL, Projection, TextForm
from fumishirube_stages.pattern_worker import first_of_lines
from fumishirube_stages.scorers import Candidates
from fumishirube_stages.scorers.pattern_search.patterns import Pattern, parse_pattern
from fumishirube_stages.scorers.pattern_search.worker_pool import Worker, WorkerLost, WorkerPool
from fumishirube_stages.text_hits import first_text_hits, hit_at, passes_filter

_RE2_MEMORY = 1024 * 1024
_CACHED_PATTERNS = 128
_LATE = "deadline"
_DAY_MS = 86_400_000
"""The longest deadline; timers of the system refuse far longer ones."""
_BATCH_CHARS = 20_000
"""The most characters of texts that a process searches at once."""

_parsed = lru_cache(maxsize=_CACHED_PATTERNS)(parse_pattern)


class Regex(Stage):
    """Finds a regular expression, in Python's dialect, in the NFKC form of every text.

    Patterns that RE2 supports run there, in linear time; others in one of ``workers`` processes,
    with ``chapter_deadline_ms`` for each text. Texts that are left after ``deadline_ms`` of
    searching, for which the time to read and normalise texts does not count, are reported as left
    out; so are all texts when a pattern takes too long to compile. An invalid pattern is searched
    verbatim. A hit has the place of the first match in its text; with ``every_place``,
    those of all matches. With ``by_line``, each line of a text is searched as a text: a match never
    continues in the next line, and there may be a first one in each.
    """

    generates: ClassVar[bool] = True
    as_written: ClassVar[bool] = True

    deadline_ms: Annotated[int, Field(ge=1, le=_DAY_MS)] = 1000
    chapter_deadline_ms: Annotated[int, Field(ge=1, le=_DAY_MS)] = 250
    workers: Annotated[int, Field(ge=1, le=64)] = 2
    every_place: bool = False
    by_line: bool = False

    @contextmanager
    def open(self) -> Iterator["RunningRegex"]:
        """Yield the running form, which reuses its processes between searches."""
        workers = WorkerPool(self.workers)
        try:
            yield RunningRegex(self, workers)
        finally:
            workers.close()

    def score(self, query: Query, corpus: Corpus, candidates: Candidates) -> Ranking:
        """Score 1 for each passage with a match, in the order of the manual."""
        with self.open() as running:
            return running.score(query, corpus, candidates)


class RunningRegex:
    """The scorer with its worker processes."""

    generates: ClassVar[bool] = True

    def __init__(self, settings: Regex, workers: WorkerPool) -> None:
        self._settings = settings
        self._workers = workers
        self._most = None if settings.every_place else 1
        """The most matches located in a text, or, with ``by_line``, in a line."""

    def score(self, query: Query, corpus: Corpus, candidates: Candidates) -> Ranking:
        """Score 1 for each passage with a match, in the order of the manual."""
        del candidates
        case, by_line = query.case_sensitive, self._settings.by_line
        pattern = _parsed(query.text, ignore_case=not case, by_line=by_line)
        if pattern is None:
            return _word_for_word(query, corpus)
        matches = _in_re2(pattern, self._most)
        texts = _possible_texts(corpus, query, pattern)
        if matches is not None:
            return _in_thread(matches, query, texts, self._settings.deadline_ms / 1000)
        hits = self._in_worker(pattern, query, [*texts])
        return _word_for_word(query, corpus) if hits is None else hits

    def _in_worker(
        self, pattern: Pattern, query: Query, texts: Sequence[PassageText]
    ) -> Ranking | None:
        """Search in a process; return ``None`` when the pattern is invalid there."""
        patience = self._settings.chapter_deadline_ms / 1000
        searches = _Searches(texts, query, self._most, patience)
        until = monotonic() + self._settings.deadline_ms / 1000
        if query.budget.deadline is not None:
            until = min(until, query.budget.deadline)
        while searches.waiting and monotonic() < until:
            with self._workers.borrow(until) as worker:
                if worker is None:
                    break
                try:
                    if not worker.takes(pattern, patience, until):
                        return None
                except WorkerLost:
                    break  # the pattern exceeded its time or memory
                searches.run(worker, until)
        return searches.ranking()


def _possible_texts(corpus: Corpus, query: Query, pattern: Pattern) -> Iterator[PassageText]:
    """Yield the texts that contain all literals which every match contains."""
    for text in texts_of(corpus):
        query.budget.check()
        if passes_filter(text.passage, query):
            whole = text.form(NORMAL).text
            if all(literal in whole for literal in pattern.needed):
                yield text


class _Searches:
    """The searches of one pattern in processes: several short texts at once, else one by one."""

    def __init__(
        self, texts: Sequence[PassageText], query: Query, most: int | None, patience: float
    ) -> None:
        self.waiting = deque((text, text.form(NORMAL)) for text in texts)
        self._query = query
        self._most = most
        self._patience = patience
        self._singles = 0
        self._hits: list[Hit] = []
        self._late: list[Passage] = []

    def run(self, worker: Worker, until: float) -> None:
        """Search the waiting texts, until the worker ends or time is up.

        Texts that take too long together are searched again one by one, each in its own time.
        """
        while self.waiting and worker.usable and monotonic() < until:
            self._query.budget.check()
            batch = self._batch()
            try:
                answers = worker.search(
                    [form.text for _, form in batch],
                    self._most,
                    min(until, monotonic() + self._patience),
                )
            except WorkerLost:
                if len(batch) > 1:
                    self.waiting.extendleft(reversed(batch))
                    self._singles = len(batch)
                else:
                    self._late.append(batch[0][0].passage)
                continue
            for (text, form), spans in zip(batch, answers, strict=True):
                if spans == "late":
                    self._late.append(text.passage)
                elif spans:
                    self._hits.append(hit_at(text.passage, form, spans))

    def ranking(self) -> Ranking:
        """Return the hits so far; the texts that were not searched are left out."""
        return _ranking(self._hits, [*self._late, *(text.passage for text, _ in self.waiting)])

    def _batch(self) -> Sequence[tuple[PassageText, Projection]]:
        batch = [self.waiting.popleft()]
        if self._singles:
            self._singles -= 1
            return batch
        left = _BATCH_CHARS - len(batch[0][1].text)
        while self.waiting and (left := left - len(self.waiting[0][1].text)) > 0:
            batch.append(self.waiting.popleft())
        return batch


def _in_re2(pattern: Pattern, most: int | None) -> Callable[[bytes], Iterable[Any]] | None:
    """Return the search by RE2; ``None`` when it does not support the pattern.

    Its first match is that of Python, but after an empty match its binding goes on otherwise.
    """
    compiled = _compiled(pattern.re2) if pattern.re2 is not None else None
    if compiled is None or (most is None and compiled.search(b"")):
        return None
    if pattern.by_line and most == 1:
        return lambda data: first_of_lines(compiled.search, data, b"\n")
    return lambda data: islice(compiled.finditer(data), most)


def _in_thread(
    matches: Callable[[bytes], Iterable[Any]],
    query: Query,
    texts: Iterable[PassageText],
    seconds: float,
) -> Ranking:
    """Search text by text, for some seconds besides those in which the texts are made."""
    hits: list[Hit] = []
    late: list[Passage] = []
    for text in texts:
        if seconds <= 0 or query.budget.spent:
            late.append(text.passage)
            continue
        projection = text.form(NORMAL)
        began = monotonic()
        data = projection.text.encode("utf-8", "replace")
        if spans := [*_decoded(data, [match.span() for match in matches(data)])]:
            hits.append(hit_at(text.passage, projection, spans))
        seconds -= monotonic() - began
    return _ranking(hits, late)


def _decoded(data: bytes, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield spans of bytes, in order, as spans of characters."""
    chars = last = 0
    for start, end in spans:
        begin = chars + len(data[last:start].decode())
        chars, last = begin + len(data[start:end].decode()), end
        yield begin, chars


def _ranking(hits: list[Hit], late: list[Passage]) -> Ranking:
    left_out = (LeftOut(passage.path, passage.start_line, _LATE) for passage in late)
    return Ranking(tuple(hits), tuple(left_out))


def _word_for_word(query: Query, corpus: Corpus) -> Ranking:
    return Ranking(tuple(first_text_hits(query, corpus, TextForm(fold=not query.case_sensitive))))


@lru_cache(maxsize=_CACHED_PATTERNS)
def _compiled(pattern: str) -> Any:
    """Return a pattern compiled by RE2; ``None`` when RE2 is not installed or refuses it."""
    try:
        import re2  # noqa: PLC0415 - an extra, and only some searches need it
    except ImportError:
        return None
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _RE2_MEMORY
    try:
        return re2.compile(pattern.encode(), options)
    except (re2.error, UnicodeEncodeError):
        return None
