"""The embedded default: a tantivy index a manual, on disk, many readers and one writer."""

from __future__ import annotations

import json
import shutil
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Literal, NamedTuple

import tantivy
from pydantic import Field

from fumishirube import Budget, Corpus, Fields, IndexedFile, OpenIndex, Passage, Root, Stage
from fumishirube_stages.indexes.tantivy_corpus import TantivyCorpus
from fumishirube_stages.indexes.tantivy_documents import TERMS, Documents, document, schema

_TOGETHER = 1000
"""How many pages stand side by side: all are read at the start, and their sections are not."""
_RETRY_SECONDS = 0.02
_MERGE_SECONDS = 3.0
"""Who has less time than this leaves the merging of segments to the next writer."""


class Tantivy(Stage):
    """Keeps the index of a manual in a folder of its own; a damaged one is remade.

    ``writer_wait_ms`` bounds the wait for another process that is writing; ``verified`` is up to
    how many matches a text is looked up in the sections themselves, where terms alone cannot tell.
    """

    layout: Literal[4] = 4
    writer_memory: Annotated[int, Field(ge=15_000_000)] = 50_000_000
    writer_wait_ms: Annotated[int, Field(ge=0)] = 2000
    verified: Annotated[int, Field(ge=0)] = 500

    def open(self, folder: Root, fields: Fields) -> OpenIndex:
        """Open the index in this folder, or make it."""
        return TantivyIndex(self, folder, fields)


class _IndexedPage(NamedTuple):
    page: IndexedFile
    lengths: Mapping[str, int]


class TantivyIndex:
    """The running form: a schema, the open files, and what the last commit holds."""

    def __init__(self, settings: Tantivy, folder: Root, fields: Fields) -> None:
        self._settings = settings
        self._fields = fields
        self._documents = Documents(fields)
        self._schema = schema(fields)
        try:
            self._open(folder)
        except (ValueError, OSError):
            # Derived state that cannot be read is made anew.
            shutil.rmtree(folder.path, ignore_errors=True)
            folder.make()
            self._open(folder)

    def _open(self, folder: Root) -> None:
        self._index = tantivy.Index(self._schema, path=str(folder.path))
        analyzer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        self._index.register_tokenizer(TERMS, analyzer)
        self._index.config_reader("manual")
        self._writer: tantivy.IndexWriter | None = None
        self._generation = -1
        self._commit = folder.path / "meta.json"
        self._committed: tuple[int, ...] = (-1,)
        self._indexed: dict[str, _IndexedPage] = {}
        self._lengths: Counter[str] = Counter()
        self._view: TantivyCorpus | None = None
        self.refresh()

    def pages(self) -> Mapping[str, IndexedFile]:
        """Return what the last commit holds, by path."""
        return self._pages

    def refresh(self) -> None:
        """Take in what other processes have committed."""
        committed = self._commit_mark()
        if committed == self._committed:
            return
        self._index.reload()
        searcher = self._index.searcher()
        seals = self._stored(searcher, "seal")
        generation = seals[0] if seals else 0
        if generation != self._generation:
            self._indexed, self._lengths = {}, Counter()
            for *row, lengths in self._stored(searcher, "page"):
                page = IndexedFile(*row)
                self._indexed[page.path] = _IndexedPage(page, lengths)
                self._lengths.update(lengths)
            self._see(searcher, generation)
        self._committed = committed

    def _commit_mark(self) -> tuple[int, ...]:
        """Return what changes with every commit, which puts another file into this place."""
        try:
            status = self._commit.stat()
        except OSError:
            return ()
        return status.st_ino, status.st_size, status.st_mtime_ns

    @contextmanager
    def writing(self, budget: Budget) -> Iterator[bool]:
        """Become the writer, or give ``False`` when another one stays busy."""
        self._writer = self._wait_for_writer(budget)
        if self._writer is None:
            yield False
            return
        try:
            # A writer that was killed leaves files under names that the next commit would use.
            self._writer.garbage_collect_files()
            self.refresh()
            yield True
        finally:
            if budget.left is None or budget.left > _MERGE_SECONDS:
                self._writer.wait_merging_threads()
            self._writer = None

    def sync(
        self, gone: Collection[str], pages: Iterable[tuple[IndexedFile, Sequence[Passage]]]
    ) -> None:
        """Replace the named pages and commit; on any error nothing of it stays."""
        writer = self._writer
        if writer is None:
            raise RuntimeError("sync() is only for the writer; use it inside writing()")
        indexed, lengths = dict(self._indexed), Counter(self._lengths)
        try:
            for path in gone:
                _forget(path, indexed, lengths)
                writer.delete_documents_by_term("of", path)
            waiting: list[tantivy.Document] = []
            for page, passages in pages:
                _forget(page.path, indexed, lengths)
                writer.delete_documents_by_term("of", page.path)
                indexed[page.path] = self._add(writer, page, passages)
                lengths.update(indexed[page.path].lengths)
                waiting.append(document("page", [*page, indexed[page.path].lengths], page.path))
                if len(waiting) == _TOGETHER:
                    _add_all(writer, waiting)
            _add_all(writer, waiting)
            writer.delete_documents_by_term("kind", "seal")
            writer.add_document(document("seal", self._generation + 1))
            writer.commit()
        except BaseException:
            writer.rollback()
            raise
        self._index.reload()
        self._indexed, self._lengths = indexed, lengths
        self._see(self._index.searcher(), self._generation + 1)

    def corpus(self, manual_id: str) -> Corpus:
        """Return a view of the last commit."""
        if self._view is None or self._view.manual_id != manual_id:
            self._view = TantivyCorpus(
                manual_id,
                self._searcher,
                self._schema,
                self._fields,
                self._lengths,
                self._settings.verified,
            )
        return self._view

    def close(self) -> None:
        """Let go of the files."""
        self._view = None
        del self._searcher, self._index

    def _see(self, searcher: tantivy.Searcher, generation: int) -> None:
        self._searcher, self._generation, self._view = searcher, generation, None
        self._pages = {path: entry.page for path, entry in self._indexed.items()}

    def _stored(self, searcher: tantivy.Searcher, kind: str) -> list[Any]:
        query = tantivy.Query.term_query(self._schema, "kind", kind)
        hits = searcher.search(query, max(1, searcher.num_docs), count=False).hits
        return [json.loads(bytes(searcher.doc(address)["data"][0])) for _, address in hits]

    def _wait_for_writer(self, budget: Budget) -> tantivy.IndexWriter | None:
        patience = self._settings.writer_wait_ms / 1000
        if budget.left is not None:
            patience = min(patience, budget.left)
        deadline = time.monotonic() + patience
        while True:
            try:
                return self._index.writer(self._settings.writer_memory, num_threads=1)
            except ValueError as error:
                if "LockBusy" not in str(error):
                    raise
            if time.monotonic() >= deadline:
                return None
            budget.check()
            time.sleep(_RETRY_SECONDS)

    def _add(
        self, writer: tantivy.IndexWriter, page: IndexedFile, passages: Sequence[Passage]
    ) -> _IndexedPage:
        lengths: Counter[str] = Counter()
        for passage in passages:
            writer.add_document(self._documents.section(passage))
            if passage.fields["body"]:
                lengths.update({name: len(passage.fields[name]) for name in self._fields.names})
        return _IndexedPage(page, lengths)


def _add_all(writer: tantivy.IndexWriter, documents: list[tantivy.Document]) -> None:
    for item in documents:
        writer.add_document(item)
    documents.clear()


def _forget(path: str, indexed: dict[str, _IndexedPage], lengths: Counter[str]) -> None:
    if path in indexed:
        lengths.subtract(indexed.pop(path).lengths)
