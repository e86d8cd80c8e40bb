"""The default index: one tantivy index per manual, on disk, with many readers and one writer."""

import logging
import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Annotated, Any, Literal

import tantivy
from pydantic import Field

from fumishirube import (
    Budget,
    Corpus,
    Fields,
    Forbidden,
    IndexDamaged,
    IndexedFile,
    OpenIndex,
    Root,
    Stage,
)
from fumishirube.disk import ScratchFolder
from fumishirube_stages.indexes.tantivy_index.corpus import TantivyCorpus
from fumishirube_stages.indexes.tantivy_index.documents import (
    TERMS,
    Documents,
    add_all,
    document,
    schema,
)
from fumishirube_stages.indexes.tantivy_index.files import (
    CommittedFiles,
    is_damage,
    is_starved,
    linked_copy,
    open_problem,
    write_problem,
)
from fumishirube_stages.indexes.tantivy_index.queries import CheckedSearcher
from fumishirube_stages.indexes.tantivy_index.records import (
    Generation,
    IndexedPage,
    add_lengths,
    cache_records,
    cached_records,
    forget,
    new_seal,
)
from fumishirube_stages.indexes.tantivy_index.writers import Writers

_log = logging.getLogger("fumishirube")

_TOGETHER = 1000
"""Page records are written in groups of this size: opening an index reads them, but no sections."""


class Tantivy(Stage):
    """Stores the index of a manual in a folder of its own; a damaged index is rebuilt.

    ``writer_wait_ms`` limits the wait for another process that is writing. If terms alone cannot
    tell which sections contain a text, the candidates are read and checked, except if there are
    more than ``verified``.
    """

    layout: Literal[8] = 8
    writer_memory: Annotated[int, Field(ge=15_000_000, le=4_293_967_295)] = 50_000_000
    writer_wait_ms: Annotated[int, Field(ge=0)] = 2000
    verified: Annotated[int, Field(ge=0)] = 500

    def open(self, folder: Root, fields: Fields) -> OpenIndex:
        """Open the index in this folder, or create it.

        If the folder is not writable, the index is opened in a temporary folder instead.
        """
        try:
            return TantivyIndex(self, folder, fields)
        except Forbidden as error:
            if is_starved(error.__cause__):
                raise  # a copy takes as much
            with suppress(OSError):
                copy = linked_copy(folder.path)
                _log.warning("what is indexed from now on is not kept: %s", error)
                return TantivyIndex(self, Root(copy.path), fields, copy)
            raise


class TantivyIndex:
    """An open index: its schema, its files, and the pages of the last commit."""

    def __init__(
        self,
        settings: Tantivy,
        folder: Root,
        fields: Fields,
        temporary: ScratchFolder | None = None,
    ) -> None:
        self._settings = settings
        self._fields = fields
        self._documents = Documents(fields)
        self.preparation = self._documents.prepare
        self._schema = schema(fields)
        self._files = CommittedFiles(folder.path)
        self._folder, self._temporary, self._killed = folder.path, temporary, False
        self.rebuilt = False
        try:
            self._open(folder)
        except BaseException as error:
            if not is_damage(error):
                raise
            problem = open_problem(error.__cause__ or error, folder.path)
            if problem is not None:
                raise Forbidden(problem) from error
            # The index is derived from the manual, so it is deleted and created again.
            shutil.rmtree(folder.path, ignore_errors=True)
            folder.make()
            self._open(folder)
            self.rebuilt = True

    def _open(self, folder: Root) -> None:
        self._index = tantivy.Index(self._schema, path=str(folder.path))
        analyzer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        self._index.register_tokenizer(TERMS, analyzer)
        self._index.config_reader("manual")
        memory = self._settings.writer_memory
        self._writers = Writers(
            partial(self._index.writer, memory, num_threads=1), self._files, folder.path
        )
        self._writer: tantivy.IndexWriter | None = None
        self._generation = Generation()
        self._indexed: dict[str, IndexedPage] = {}
        self._lengths: Counter[str] = Counter()
        self._view: TantivyCorpus | None = None
        self.refresh()

    def pages(self) -> Mapping[str, IndexedFile]:
        """Return the files of the last commit, by path."""
        return self._pages

    def refresh(self) -> None:
        """Read what other processes have committed.

        Raises:
            IndexDamaged: when files of the last commit are missing or changed, or it lacks all.
        """
        self._files.check()
        commit = self._files.newest_commit()
        if commit is None:
            raise IndexDamaged("the index is gone")
        if commit == self._files.commit:
            return
        try:
            self._reload()
        except BaseException as error:
            if not is_damage(error):
                raise
            raise IndexDamaged("the last commit of the index cannot be opened") from error
        self._files.take(commit)

    def _reload(self) -> None:
        opstamp = self._files.reloaded(self._index.reload)
        searcher = CheckedSearcher(self._index.searcher(), self._files)
        seals = self._stored(searcher, "seal")
        generation = Generation(seals[0] if seals else 0, opstamp)
        if not seals and self._generation.seal:  # every commit after a sealed one has a seal
            raise IndexDamaged("the last commit of the index was removed")
        if generation != self._generation:
            cached = cached_records(self._folder, generation) if seals else None
            stored, total = cached or (self._stored(searcher, "page"), {})
            self._indexed = {row[0]: IndexedPage(IndexedFile(*row), own) for *row, own in stored}
            self._lengths = Counter(total)
            if cached is None:
                for page in self._indexed.values():
                    add_lengths(self._lengths, page.lengths.items())
                cache_records(self._folder, generation, stored, self._lengths)
            self._see(searcher, generation)
        else:  # merged segments count and find the same sections in less time
            self._searcher, self._view = searcher, None

    @contextmanager
    def writing(self, budget: Budget) -> Iterator[bool]:
        """Become the writer; yield ``False`` if another one stays busy too long."""
        self._writer, is_new = self._writers.wait(budget, self._settings.writer_wait_ms)
        if self._writer is None:
            yield False
            return
        try:
            if is_new:  # a killed writer leaves files with names that the next commit would use
                with self._files.judging():
                    self._writer.garbage_collect_files()
            self.refresh()
            yield True
        finally:
            writer, self._writer = self._writer, None
            killed, self._killed = self._killed, False
            if killed:
                del writer  # its threads have ended; the next writer removes its files
            else:
                self._writers.leave(writer, budget)

    @contextmanager
    def rebuilding(self, budget: Budget) -> Iterator[bool]:
        """Become the writer of an empty index; yield ``False`` if another one stays busy."""
        with self.writing(budget) as mine:
            if mine:
                self.sync([*self._indexed], ())
            yield mine

    def sync(
        self, gone: Collection[str], pages: Iterable[tuple[IndexedFile, Sequence[Any]]]
    ) -> None:
        """Replace the named pages and commit, all or nothing. Only inside :meth:`writing`."""
        writer = self._writer
        if writer is None:
            raise RuntimeError("sync() is only for the writer; use it inside writing()")
        indexed, lengths = dict(self._indexed), Counter(self._lengths)
        try:
            for path in gone:
                forget(path, indexed, lengths)
                writer.delete_documents_by_term("of", path)
            seal = self._generation.seal
            if not indexed:  # with a seal that stays, all deleted sections would count in scores
                seal = new_seal()
                writer.delete_documents_by_term("kind", "seal")
                writer.add_document(document("seal", seal))
            waiting: list[tantivy.Document] = []
            for page, passages in pages:
                forget(page.path, indexed, lengths)
                writer.delete_documents_by_term("of", page.path)
                indexed[page.path] = self._add(writer, page, passages)
                add_lengths(lengths, indexed[page.path].lengths.items())
                waiting.append(document("page", [*page, indexed[page.path].lengths], page.path))
                if len(waiting) == _TOGETHER:
                    add_all(writer, waiting)
            add_all(writer, waiting)
            generation = Generation(seal, writer.commit())
        except BaseException as error:
            problem = write_problem(error, self._folder)
            if problem is not None:
                # No frame may hold this error: it holds the writer, and with it the lock.
                self._killed = True
                raise Forbidden(problem) from error
            with self._files.judging():
                writer.rollback()
            self._files.judge(error)
            raise
        with self._files.judging():
            self._index.reload()
        self._indexed, self._lengths = indexed, lengths
        self._see(CheckedSearcher(self._index.searcher(), self._files), generation)
        self._files.take(self._files.newest_commit())

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
        """Close the files, and remove the temporary folder if there is one."""
        self._view = None
        self._writers.close()
        del self._searcher, self._index
        if self._temporary is not None:
            self._temporary.remove()

    def _see(self, searcher: CheckedSearcher, generation: Generation) -> None:
        self._searcher, self._generation, self._view = searcher, generation, None
        self._pages = {path: entry.page for path, entry in self._indexed.items()}

    def _stored(self, searcher: CheckedSearcher, kind: str) -> list[Any]:
        query = tantivy.Query.term_query(self._schema, "kind", kind)
        hits = searcher.search(query, searcher.num_docs, count=False).hits
        return searcher.all_data([address for _, address in hits])

    def _add(
        self, writer: tantivy.IndexWriter, page: IndexedFile, sections: Sequence[Any]
    ) -> IndexedPage:
        lengths: Counter[str] = Counter()
        for section in sections:
            prepared = self._documents.prepared(section)
            writer.add_document(prepared.document())
            if prepared.lengths:
                add_lengths(lengths, zip(self._fields.names, prepared.lengths, strict=True))
        return IndexedPage(page, lengths)
