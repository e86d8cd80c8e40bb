"""A SurfaceContext in memory, for the tests of surfaces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import JsonValue

from fumishirube import (
    Bool,
    Budget,
    Contents,
    Corpus,
    Document,
    Hit,
    Loader,
    Manual,
    NotFound,
    Passage,
    Query,
    Ranking,
    Root,
    Scorer,
    SearchAssessment,
    Source,
    Span,
    SurfaceContext,
    SurfaceIndex,
    Term,
    Tokenizer,
    Trace,
)
from fumishirube.corpus_kinds import SectionVectors
from fumishirube.disk import is_below
from fumishirube.engine.indexed_files import passages
from fumishirube.engine.manual_texts import file_text
from fumishirube.engine.stage_calls import trace_row
from fumishirube.model import UnreadFiles
from fumishirube.stages import ClaimedFile, IndexChanges, IndexedFile
from fumishirube.surfaces import SearchResult, SurfaceFiles
from fumishirube.testing.corpora import MemoryCorpus
from fumishirube.testing.memory_manuals import MemoryManual
from fumishirube.text.file_texts import ManualTexts
from fumishirube.text.readings import Reading
from fumishirube.tools.definitions import Progress
from fumishirube.traces.records import Origin

T = TypeVar("T")


class _NoClaimedFiles:
    """The claimed files of a context in memory: none."""

    def sweep(self) -> Mapping[str, ClaimedFile]:
        """Return no files."""
        return {}

    def changes(
        self, pages: Mapping[str, IndexedFile], claimed: Mapping[str, ClaimedFile]
    ) -> IndexChanges:
        """Return every page as removed."""
        return [path for path in pages if path not in claimed], []

    def stamp(self, file: ClaimedFile) -> str:
        """Return the stamp of a file."""
        return file.stamp

    def load(self, file: ClaimedFile, *, links: bool = False) -> Document:
        """Raise NotFound: there is no file to read."""
        raise NotFound("a context in memory has no files")


class MemoryContext:
    """Manuals of documents in memory, searched by the terms of the query, with traces.

    Pass a ``folder`` for a surface that writes.
    """

    def __init__(self, manuals: Mapping[str, Iterable[Document]], folder: Path = Path()) -> None:
        self.root = Root(folder)
        self._manuals = {name: MemoryManual(name, own, self.root) for name, own in manuals.items()}
        self._traces: dict[str, Trace] = {}
        self._memos: dict[str, Any] = {}
        self.assessments: dict[str, SearchAssessment] = {}

    def loaders(self) -> Sequence[Loader]:
        """Return a loader that claims nothing: the manuals are in memory."""
        return (_EmptyLoader(),)

    def folder(self, name: str) -> Root:
        """Return the same folder for every name."""
        del name
        return self.root

    def scorer(self, name: str, settings: Mapping[str, JsonValue] | None = None) -> Scorer:
        """Return a scorer for any name, which scores passages with a term of the query."""
        del name, settings
        return _TermScorer()

    def manuals(self) -> Sequence[str]:
        """Return the ids of the manuals, sorted."""
        return sorted(self._manuals)

    def loose_files(self) -> Sequence[str]:
        """Return none."""
        return ()

    def unread_files(self, manual_id: str) -> Sequence[UnreadFiles]:
        """Return no files: every document has been read."""
        self.manual(manual_id)
        return ()

    def manual(self, manual_id: str) -> Manual:
        """Return one manual."""
        if manual_id not in self._manuals:
            raise NotFound("no such manual", manual_id=manual_id)
        return self._manuals[manual_id]

    def find(self, manual_id: str, query: Query, progress: Progress | None = None) -> SearchResult:
        """Find the sections with a term of the query, and store the trace."""
        del progress  # a search in memory is too short to report
        corpus = _corpus(self.manual(manual_id))
        ranking = Ranking(tuple(_TermScorer().score(query, corpus, {})))
        trace = Trace(
            id=f"trace-{len(self._traces) + 1}",
            manual_id=manual_id,
            created=0.0,
            search=Span("search", "search", 0.0, 0.0, tuple(map(trace_row, ranking.hits))),
            files=len(self.manual(manual_id).paths()),
            sections=corpus.size,
            origin=Origin(query=query.recorded()),
        )
        self._traces[trace.id] = trace
        return SearchResult(trace, lambda: ranking, corpus)

    def texts(
        self,
        manual_id: str,
        readings: Sequence[Reading],
        budget: Budget,
        progress: Progress | None = None,
        below: str = "",
    ) -> ManualTexts:
        """Return every file of a manual, or every one below a path."""
        manual = self.manual(manual_id)
        documents = [manual.document(path) for path in manual.paths() if is_below(path, below)]
        sections = sum(len(document.sections) for document in documents)
        return ManualTexts(len(documents), sections, map(file_text, documents), {}, None)

    def tokenizer(self) -> Tokenizer | None:
        """Return no tokenizer: searches in memory use plain words."""
        return None

    def vectors(self, embedder: str | None = None) -> SectionVectors:
        """Raise NotFound: vectors need a disk."""
        raise NotFound("a context in memory has no vectors", path=embedder or "")

    def claimed_files(self) -> SurfaceFiles:
        """Return no claimed files: there are neither a folder nor loaders."""
        return _NoClaimedFiles()

    def store(self, name: str) -> SurfaceIndex:
        """Raise NotFound: indexes need a disk."""
        raise NotFound("a context in memory has no index of a surface's own", path=name)

    def stored(self, name: str) -> bool:
        """Return ``False``: there is no index."""
        return False

    def keep(self, name: str, make: Callable[[], T]) -> T:
        """Return the surface's object of a name; make it on first use."""
        if name not in self._memos:
            self._memos[name] = make()
        memo: T = self._memos[name]
        return memo

    def search(
        self, corpus: Corpus, files: int, query: Query, *, written: bool = True
    ) -> SearchResult:
        """Raise NotFound: there is no pipeline."""
        raise NotFound("a context in memory has no pipeline", manual_id=corpus.manual_id)

    def conclude(self, trace_id: str, assessment: SearchAssessment) -> None:
        """Append an assessment to ``assessments``."""
        self.assessments[trace_id] = assessment

    def annotate(self, trace: Trace, name: str, value: JsonValue) -> Trace:
        """Store a trace with a value of the surface, and return the trace."""
        noted = replace(trace, annotations={**trace.annotations, name: value})
        self._traces[trace.id] = noted
        return noted

    def trace(self, trace_id: str) -> Trace:
        """Return a stored trace."""
        if trace_id not in self._traces:
            raise NotFound("no such trace", trace_id=trace_id)
        return self._traces[trace_id]


class _TermScorer:
    """Scores the passages with a term of the query."""

    generates = True

    def score(
        self, query: Query, corpus: Corpus, candidates: Mapping[tuple[str, int], Passage]
    ) -> Iterable[Hit]:
        del candidates
        clause = Bool(should=tuple(Term(term) for term in corpus.terms(query.text)))
        limit = query.limit or corpus.size
        return [Hit(match.passage, match.estimate) for match in corpus.search(clause, limit)]


class _EmptyLoader:
    """Claims nothing."""

    def sources(self, root: Root) -> Iterable[Source]:
        del root
        return ()

    def load(self, root: Root, source: Source) -> Document:
        return self.chapter(root, source.path)

    def contents(self, root: Root, path: str) -> Contents:
        del root
        raise NotFound("no such file", path=path)

    def chapter(self, root: Root, path: str) -> Document:
        del root
        raise NotFound("no such file", path=path)


def _corpus(manual: Manual) -> MemoryCorpus:
    documents = map(manual.document, manual.paths())
    searched = (document for document in documents if not document.navigation)
    sections = [section for document in searched for section in passages(document)]
    return MemoryCorpus(sections, manual_id=manual.id)


def _is_a_context(context: MemoryContext) -> SurfaceContext:
    """Let the type checker compare this module with the protocol."""
    return context
