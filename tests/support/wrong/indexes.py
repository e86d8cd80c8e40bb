"""Indexes, each wrong in one way that their contract names; the sound one is a JSON file."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from fumishirube import (
    Bool,
    Budget,
    Clause,
    Corpus,
    Count,
    Everything,
    Fields,
    Index,
    IndexedFile,
    IndexMatch,
    OpenIndex,
    Passage,
    Phrase,
    Root,
    ScoreCutoff,
    Stage,
    Term,
)
from fumishirube.disk import take_lock
from fumishirube.testing import IndexContract, MemoryCorpus
from fumishirube.testing.samples import PASSAGES

Stored = dict[str, tuple[IndexedFile, list[Passage]]]


class Shelf:
    """A JSON file, read whole and written whole."""

    corpus_class: type[MemoryCorpus] = MemoryCorpus

    def __init__(self, folder: Root, fields: Fields) -> None:
        self._folder = folder
        self._fields = fields
        self._stored: Stored = {}
        self._pages: Mapping[str, IndexedFile] = {}
        self.refresh()

    def pages(self) -> Mapping[str, IndexedFile]:
        return self._pages

    def refresh(self) -> None:
        try:
            rows = json.loads((self._folder.path / "index.json").read_text(encoding="utf-8"))
            self._take({page[0]: _read(page, found) for page, found in rows})
        except (OSError, ValueError, TypeError):
            self._take({})

    @contextmanager
    def writing(self, budget: Budget) -> Iterator[bool]:
        handle = os.open(self._folder.path / "lock", os.O_RDWR | os.O_CREAT)
        try:
            yield take_lock(handle, budget.left or 0.0)
        finally:
            os.close(handle)

    def sync(
        self, gone: Collection[str], pages: Iterable[tuple[IndexedFile, Sequence[Passage]]]
    ) -> None:
        self.refresh()
        changed = {page.path: (page, list(found)) for page, found in pages}
        stored = {path: one for path, one in self._stored.items() if path not in gone}
        self._save({**stored, **changed})

    def corpus(self, manual_id: str) -> Corpus:
        passages = [one for _, found in self._stored.values() for one in found]
        return self.corpus_class(passages, self._fields.tokenizer, manual_id)

    def close(self) -> None:
        pass

    def _save(self, stored: Stored) -> None:
        rows = [[page, [list(one) for one in found]] for page, found in stored.values()]
        new = self._folder.path / "index.new"
        new.write_text(json.dumps(rows), encoding="utf-8")
        new.replace(self._folder.path / "index.json")
        self._take(stored)

    def _take(self, stored: Stored) -> None:
        self._stored = stored
        self._pages = {path: page for path, (page, _) in stored.items()}


def _read(page: list[Any], found: list[list[Any]]) -> tuple[IndexedFile, list[Passage]]:
    passages = [Passage(*one)._replace(ancestors=tuple(one[4])) for one in found]
    return IndexedFile(*page), passages


class Json(Stage):
    """Keeps everything in a JSON file."""

    def open(self, folder: Root, fields: Fields) -> OpenIndex:
        return Shelf(folder, fields)


class _Contract(IndexContract):
    """Opens the shelf that the heir names."""

    examples = 4
    shelf: type[Shelf] = Shelf

    def make(self) -> Index:
        return _any(self.shelf)


def _any(shelf: type[Shelf]) -> Index:
    class Some(Json):
        """Keeps everything in a JSON file."""

        def open(self, folder: Root, fields: Fields) -> OpenIndex:
            return shelf(folder, fields)

    return Some()


class TestJson(IndexContract):
    breaks = ()
    stage = Json()


class _Full(Shelf):
    """Holds something from the beginning."""

    def pages(self) -> Mapping[str, IndexedFile]:
        return self._pages or {"first.md": IndexedFile("first.md", "")}


class TestFull(_Contract):
    # Something is there after damage, too.
    breaks = ("test_a_new_index_is_empty", "test_an_unusable_folder_is_rebuilt")
    shelf = _Full


class _Partial(MemoryCorpus):
    """Does not find what begins a file, in a large corpus."""

    def search(
        self, clause: Clause, limit: int, cutoff: ScoreCutoff | None = None
    ) -> Sequence[IndexMatch]:
        found = super().search(clause, limit, cutoff)
        return [one for one in found if clause != Term("休", "path") or one.passage.start_line > 1]


class _PartialShelf(Shelf):
    corpus_class = _Partial


class TestPartial(_Contract):
    # Whatever compares with memory finds it out.
    breaks = (
        "test_it_answers_like_a_corpus_in_memory",
        "test_an_update_answers_like_a_rebuild",
        "test_a_failed_update_changes_nothing",
        "test_another_reader_sees_an_update_when_it_refreshes",
        "test_an_unusable_folder_is_rebuilt",
    )
    shelf = _PartialShelf


def corpus_shelf(corpus: type[MemoryCorpus]) -> type[Shelf]:
    return type("Some", (Shelf,), {"corpus_class": corpus})


class _Single(MemoryCorpus):
    """Divides by the number of other passages."""

    def average_length(self, field: str) -> float:
        return 0.0 if self.size == 1 else super().average_length(field)


class TestSingle(_Contract):
    breaks = ("test_a_single_passage_can_be_searched",)
    shelf = corpus_shelf(_Single)


class _Trimming(MemoryCorpus):
    """Gives pages without their last passage."""

    def page(self, path: str) -> Sequence[Passage]:
        return [one for one in super().page(path) if one.path != "guide/api.md"]


class TestTrimming(_Contract):
    breaks = ("test_passages_come_back_as_they_went_in",)
    shelf = corpus_shelf(_Trimming)


class _Unnamed(MemoryCorpus):
    """Gives pages of plain tuples."""

    def page(self, path: str) -> Any:
        return [(*one,) for one in super().page(path)]


class TestUnnamed(_Contract):
    breaks = ("test_values_have_the_types_of_an_index",)
    says = "'page' of its index gave a tuple and no Passage"
    shelf = corpus_shelf(_Unnamed)


class _Uncounted(MemoryCorpus):
    """Gives fractions for numbers."""

    def frequencies(self, terms: Collection[str]) -> Any:
        return {term: Fraction(number) for term, number in super().frequencies(terms).items()}


class TestUncounted(_Contract):
    breaks = ("test_values_have_the_types_of_an_index",)
    says = "'frequencies' of its index gave a Fraction and no int"
    shelf = corpus_shelf(_Uncounted)


class _Blank(MemoryCorpus):
    """Counts bare headings among what is searched."""

    @property
    def size(self) -> int:
        return len(self.passages) if len(self.passages) == 11 else super().size


class TestBlank(_Contract):
    breaks = ("test_a_passage_without_a_body_is_stored_but_not_searched",)
    shelf = corpus_shelf(_Blank)


class _Reasonless(Shelf):
    """Forgets why a file was skipped."""

    def _take(self, stored: Stored) -> None:
        super()._take({p: (page._replace(skipped=None), f) for p, (page, f) in stored.items()})


class TestReasonless(_Contract):
    breaks = ("test_pages_come_back_as_they_went_in",)
    shelf = _Reasonless


class _Hoarding(Shelf):
    """Keeps what is gone, if it was called so."""

    def sync(
        self, gone: Collection[str], pages: Iterable[tuple[IndexedFile, Sequence[Passage]]]
    ) -> None:
        super().sync([path for path in gone if path != "gone.md"], pages)


class TestHoarding(_Contract):
    breaks = ("test_an_update_answers_like_a_rebuild",)
    shelf = _Hoarding


class _Historic(MemoryCorpus):
    """Says where sections stand in the order in which they came."""

    def __init__(self, passages: Iterable[Passage] = (), *rest: Any) -> None:
        given = list(passages)
        self._turned = given[:1] == [PASSAGES[-1]]
        super().__init__(given, *rest)

    def average_length(self, field: str) -> float:
        return super().average_length(field) + self._turned


class TestHistoric(_Contract):
    breaks = ("test_the_order_of_updates_does_not_matter",)
    shelf = corpus_shelf(_Historic)


class _Estimating(MemoryCorpus):
    """Rounds frequencies of many sections."""

    def frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        return {t: 20 if n == 18 else n for t, n in super().frequencies(terms).items()}


class TestEstimating(_Contract):
    breaks = ("test_frequencies_are_exact_after_deletions",)
    shelf = corpus_shelf(_Estimating)


class _Reversing(MemoryCorpus):
    """Gives equals the other way round."""

    def search(
        self, clause: Clause, limit: int, cutoff: ScoreCutoff | None = None
    ) -> Sequence[IndexMatch]:
        found = super().search(clause, limit, cutoff)
        return found[::-1] if clause == Term("equal") else found


class TestReversing(_Contract):
    breaks = ("test_ties_are_broken_by_path_and_line",)
    shelf = corpus_shelf(_Reversing)


class _Groundless(MemoryCorpus):
    """Does not mind a floor."""

    def search(
        self, clause: Clause, limit: int, cutoff: ScoreCutoff | None = None
    ) -> Sequence[IndexMatch]:
        return super().search(clause, limit)


class TestGroundless(_Contract):
    breaks = (
        "test_a_score_cutoff_drops_low_estimates",
        "test_every_clause_matches_the_same_sections_everywhere",
    )
    shelf = corpus_shelf(_Groundless)


class _Literal(MemoryCorpus):
    """Knows no phrase of one term."""

    def search(
        self, clause: Clause, limit: int, cutoff: ScoreCutoff | None = None
    ) -> Sequence[IndexMatch]:
        single = isinstance(clause, Phrase) and len(clause.terms) == 1
        return [] if single else super().search(clause, limit, cutoff)


class TestLiteral(_Contract):
    breaks = ("test_a_phrase_of_one_term_is_that_term",)
    shelf = corpus_shelf(_Literal)


class _Equalizing(MemoryCorpus):
    """Does not mind boosts."""

    def search(
        self, clause: Clause, limit: int, cutoff: ScoreCutoff | None = None
    ) -> Sequence[IndexMatch]:
        if isinstance(clause, Bool) and any(getattr(c, "boost", 1) != 1 for c in clause.should):
            clause = Bool(should=tuple(Term(c.term) for c in clause.should if isinstance(c, Term)))
        return super().search(clause, limit, cutoff)


class TestEqualizing(_Contract):
    breaks = (
        "test_the_best_come_first",
        "test_every_clause_matches_the_same_sections_everywhere",
    )
    shelf = corpus_shelf(_Equalizing)


class _Silent(MemoryCorpus):
    """Does not say that it stopped counting."""

    def count(self, clause: Clause, cap: int | None = None, *, searched: bool = False) -> Count:
        return Count(super().count(clause, cap, searched=searched).number)


class TestSilent(_Contract):
    breaks = (
        "test_a_capped_count_is_marked_at_least",
        "test_every_clause_matches_the_same_sections_everywhere",
    )
    shelf = corpus_shelf(_Silent)


class _Fleeting(Shelf):
    """Takes its file away when it is closed."""

    def close(self) -> None:
        (self._folder.path / "index.json").unlink(missing_ok=True)


class TestFleeting(_Contract):
    breaks = ("test_it_is_the_same_after_closing_and_opening",)
    shelf = _Fleeting


class _Hasty(Shelf):
    """Lets go of what is gone before it knows what comes."""

    def sync(
        self, gone: Collection[str], pages: Iterable[tuple[IndexedFile, Sequence[Passage]]]
    ) -> None:
        if gone:
            super().sync(gone, ())
        super().sync((), pages)


class TestHasty(_Contract):
    breaks = ("test_a_failed_update_changes_nothing",)
    shelf = _Hasty


class _Living(Shelf):
    """Gives a corpus that follows later updates."""

    def corpus(self, manual_id: str) -> Corpus:
        made: Any = super().corpus(manual_id)
        shelf = self

        class Following(MemoryCorpus):
            def average_length(self, field: str) -> float:
                one: Any = shelf
                extra = 1.0 if "new.md" in one.pages() else 0.0
                return super().average_length(field) + extra

        return Following(made.passages, self._fields.tokenizer, manual_id)


class TestLiving(_Contract):
    breaks = ("test_a_corpus_stays_as_it_was",)
    shelf = _Living


class _Isolated(Shelf):
    """Reads its file once."""

    def refresh(self) -> None:
        if not self._stored:
            super().refresh()


class TestIsolated(_Contract):
    breaks = ("test_another_reader_sees_an_update_when_it_refreshes",)
    shelf = _Isolated


class _Crowded(Shelf):
    """Lets anybody write."""

    @contextmanager
    def writing(self, budget: Budget) -> Iterator[bool]:
        yield True


class TestCrowded(_Contract):
    breaks = ("test_there_is_one_writer_at_a_time",)
    shelf = _Crowded


class _Trusting(Shelf):
    """Wants a sound file."""

    def refresh(self) -> None:
        file = self._folder.path / "index.json"
        if file.exists():
            json.loads(file.read_bytes())
        super().refresh()


class TestTrusting(_Contract):
    breaks = ("test_an_unusable_folder_is_rebuilt",)
    shelf = _Trusting


class _Squeamish(MemoryCorpus):
    """Does not search long texts."""

    def search(
        self, clause: Clause, limit: int, cutoff: ScoreCutoff | None = None
    ) -> Sequence[IndexMatch]:
        found = super().search(clause, limit, cutoff)
        return [one for one in found if len(one.passage.fields["body"]) < 100_000]


class TestSqueamish(_Contract):
    breaks = ("test_long_texts_and_words_are_stored",)
    shelf = corpus_shelf(_Squeamish)


class _Ascii(Shelf):
    """Replaces what it cannot spell."""

    def _take(self, stored: Stored) -> None:
        for page, found in stored.values():
            found[:] = [one._replace(title=one.title.replace("\x00", "?")) for one in found]
            stored[page.path] = (page, found)
        super()._take(stored)


class TestAscii(_Contract):
    breaks = ("test_awkward_texts_and_paths_come_back",)
    shelf = _Ascii


class _Wavering(MemoryCorpus):
    """Gives another first when asked for one only."""

    def search(
        self, clause: Clause, limit: int, cutoff: ScoreCutoff | None = None
    ) -> Sequence[IndexMatch]:
        found = super().search(clause, limit, cutoff)
        if limit != 1 or self.size == 1 or clause != Term("password"):
            return found
        return super().search(clause, 2, cutoff)[1:]


class TestWavering(_Contract):
    breaks = ("test_a_smaller_limit_gives_the_beginning",)
    shelf = corpus_shelf(_Wavering)


class _Signing(Shelf):
    """Writes into the passages that it is given."""

    def sync(
        self, gone: Collection[str], pages: Iterable[tuple[IndexedFile, Sequence[Passage]]]
    ) -> None:
        given = list(pages)
        super().sync(gone, given)
        for _, found in given:
            if isinstance(found, list):
                found.clear()


class TestSigning(_Contract):
    breaks = ("test_the_batches_are_not_changed",)
    shelf = _Signing


class _Overwhelmed(MemoryCorpus):
    """Finds no more than so many."""

    def search(
        self, clause: Clause, limit: int, cutoff: ScoreCutoff | None = None
    ) -> Sequence[IndexMatch]:
        return super().search(clause, min(limit, 500), cutoff)


class TestOverwhelmed(_Contract):
    breaks = ("test_many_passages_are_found",)
    shelf = corpus_shelf(_Overwhelmed)


class _Generous(MemoryCorpus):
    """Finds one, even when none is asked for."""

    def search(
        self, clause: Clause, limit: int, cutoff: ScoreCutoff | None = None
    ) -> Sequence[IndexMatch]:
        one = clause == Everything() and self.size == 10
        return super().search(clause, max(1, limit) if one else limit, cutoff)


class TestGenerous(_Contract):
    # Everything is among the clauses that are asked with every limit.
    breaks = ("test_no_limit_means_no_hits", "test_a_smaller_limit_gives_the_beginning")
    shelf = corpus_shelf(_Generous)


class _Positive(MemoryCorpus):
    """Finds nothing where only something is left out."""

    def search(
        self, clause: Clause, limit: int, cutoff: ScoreCutoff | None = None
    ) -> Sequence[IndexMatch]:
        if isinstance(clause, Bool) and not clause.should and not clause.must:
            return []
        return super().search(clause, limit, cutoff)


class TestPositive(_Contract):
    breaks = ("test_every_clause_matches_the_same_sections_everywhere",)
    examples = 25
    shelf = corpus_shelf(_Positive)
