"""The contract of indexes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from shirube import (
    Bool,
    Budget,
    Corpus,
    Everything,
    Fields,
    Floor,
    Index,
    OpenIndex,
    Page,
    Passage,
    Phrase,
    Root,
    Term,
)
from shirube.library import FIELDS
from shirube.testing.answers import CLAUSES, answers, assert_alike, keys
from shirube.testing.contract import StageContract
from shirube.testing.corpora import MemoryCorpus, PlainTokenizer, passage
from shirube.testing.samples import BLANK, PASSAGES

Batch = tuple[Page, Sequence[Passage]]


class IndexContract(StageContract[Index]):
    """Answers like a corpus in memory, whatever the history, and survives what happens to it."""

    verbs = Index
    fields = Fields(FIELDS, PlainTokenizer())

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Root:
        """Return an empty folder of the index's own."""
        (tmp_path / "index").mkdir()
        return Root(tmp_path / "index")

    def exercise(self, stage: Index, folder: Path) -> object:
        """Fill an index and ask every clause."""
        with self.opened(Root(folder), stage) as index:
            _sync(index, _batches(PASSAGES))
            return answers(index.corpus("manual"))

    @contextmanager
    def opened(self, folder: Root, stage: Index | None = None) -> Iterator[OpenIndex]:
        """Open the index of a folder, and close it in the end."""
        index = (stage or self.make()).open(folder, self.fields)
        try:
            yield index
        finally:
            index.close()

    def test_a_new_index_is_empty(self, folder: Root) -> None:
        """Before the first update there is nothing, and asking is no error."""
        with self.opened(folder) as index:
            corpus = index.corpus("m1")
            assert isinstance(index, OpenIndex), "what open() gives is no OpenIndex"
            assert isinstance(corpus, Corpus), "what corpus() gives is no Corpus"
            assert corpus.manual_id == "m1"
            assert corpus.size == 0
            assert not index.pages()
            assert answers(corpus) == answers(MemoryCorpus())

    def test_it_answers_like_a_corpus_in_memory(self, folder: Root) -> None:
        """Every clause finds the same passages, counts and lengths included."""
        with self.opened(folder) as index:
            _sync(index, _batches(PASSAGES))
            assert_alike(index.corpus("manual"), PASSAGES)

    def test_a_single_passage_is_found(self, folder: Root) -> None:
        """The smallest manual works."""
        with self.opened(folder) as index:
            _sync(index, _batches(PASSAGES[:1]))
            assert_alike(index.corpus("manual"), PASSAGES[:1])

    def test_passages_come_back_as_they_went_in(self, folder: Root) -> None:
        """Titles, lines, digests and every field, by page and by search."""
        with self.opened(folder) as index:
            _sync(index, _batches(PASSAGES))
            corpus = index.corpus("manual")
            found = {f.passage.key: f.passage for f in corpus.search(Everything(), corpus.size)}
            assert found == {one.key: one for one in PASSAGES}
            for path in {one.path for one in PASSAGES}:
                assert list(corpus.page(path)) == [one for one in PASSAGES if one.path == path]
            assert list(corpus.page("absent.md")) == []

    def test_a_passage_without_a_body_is_kept_but_not_searched(self, folder: Root) -> None:
        """A bare heading is no hit: it stands on its page, and nothing finds it."""
        with self.opened(folder) as index:
            _sync(index, _batches([*PASSAGES, BLANK]))
            corpus = index.corpus("manual")
            assert BLANK in corpus.page(BLANK.path)
            assert corpus.size == len(PASSAGES)
            for clause in CLAUSES:
                assert BLANK.key not in keys(corpus, clause), f"{clause} finds a bare heading"

    def test_pages_come_back_as_they_went_in(self, folder: Root) -> None:
        """Stamps and reasons are kept as given, for files without passages too."""
        skipped = Page("broken.md", "stamp 1", "undecodable", 0, 2)
        with self.opened(folder) as index:
            _sync(index, [(skipped, ()), *_batches(PASSAGES)])
            expected = {page.path: page for page, _ in (*_batches(PASSAGES), (skipped, ()))}
            assert dict(index.pages()) == expected
            assert index.corpus("manual").size == len(PASSAGES)

    def test_an_update_answers_like_a_rebuild(self, folder: Root) -> None:
        """Change, deletion, addition and renaming leave no trace of what was before."""
        old = [
            passage("規程/旅費.md", 1, "旧規程", "password を消した。"),
            passage("gone.md", 1, "Password", "absent link"),
            passage("old-name.md", 1, "Signing in", "Open the portal."),
        ]
        with self.opened(folder) as index:
            _sync(index, _batches(old))
            _sync(index, _batches(PASSAGES[:5]))
            _sync(index, _batches(PASSAGES), gone=["gone.md", "old-name.md", "never.md"])
            assert_alike(index.corpus("manual"), PASSAGES)

    def test_the_order_of_updates_does_not_matter(self, folder: Root, tmp_path: Path) -> None:
        """One page at a time and backwards, or all at once: the same answers in the same order."""
        (tmp_path / "other").mkdir()
        with self.opened(folder) as one, self.opened(Root(tmp_path / "other")) as other:
            _sync(one, _batches(PASSAGES))
            for batch in reversed(_batches(PASSAGES)):
                _sync(other, [batch])
            assert answers(one.corpus("m")) == answers(other.corpus("m"))

    def test_frequencies_are_exact_after_deletions(self, folder: Root) -> None:
        """Deleted and replaced passages no longer count."""
        many = [passage(f"{n:02}.md", 1, f"休暇 {n}", "password") for n in range(20)]
        with self.opened(folder) as index:
            _sync(index, _batches(many))
            _sync(index, _batches([passage("05.md", 1, "replaced", "link")]), gone=["06.md"])
            corpus = index.corpus("manual")
            asked = corpus.frequencies(["password", "休", "link", "absent"])
            assert dict(asked) == {"password": 18, "休": 18, "link": 1, "absent": 0}
            assert corpus.size == len(many) - 1

    def test_ties_are_broken_by_path_and_line(self, folder: Root) -> None:
        """Also at the limit: of equals, the first by path and line are returned."""
        many = [passage(f"{n % 6}.md", 1 + n, "同じ", "equal words") for n in range(30)]
        with self.opened(folder) as index:
            for batch in reversed(_batches(many)):
                _sync(index, [batch])
            corpus = index.corpus("manual")
            for clause in (Term("equal"), Bool(should=(Term("equal"), Term("同"))), Everything()):
                for limit in (1, 7, 30, 100):
                    ordered = [found.passage.key for found in corpus.search(clause, limit)]
                    assert ordered == sorted(one.key for one in many)[:limit], f"{clause}, {limit}"

    def test_a_floor_leaves_out_what_is_worth_little(self, folder: Root) -> None:
        """Whatever is sure, it is the first of what there is without a floor; ties included."""
        many = [passage(f"{n}.md", 1, "x" * (n % 3), "word " * (1 + n % 7)) for n in range(60)]
        many.append(passage("blank.md", title="word word word"))
        with self.opened(folder) as index:
            _sync(index, _batches(many))
            corpus = index.corpus("manual")
            whole = corpus.search(Term("word"), 100)
            assert len(whole) == len(many) - 1, "a section without text was returned"
            for floor in (Floor(sure, share) for sure in (0, 1, 7, 90) for share in (0, 0.5, 1)):
                found = corpus.search(Term("word"), 100, floor)
                assert list(found) == list(floor.hold(whole)), f"{floor}"

    def test_a_phrase_of_one_term_is_that_term(self, folder: Root) -> None:
        """Whoever builds a phrase from a text need not count its terms."""
        with self.opened(folder) as index:
            _sync(index, _batches(PASSAGES))
            corpus = index.corpus("manual")
            assert keys(corpus, Phrase(("link",))) == keys(corpus, Term("link"))

    def test_the_best_come_first(self, folder: Root) -> None:
        """Estimates never rise, and a boost lifts what it is on."""
        with self.opened(folder) as index:
            _sync(index, _batches([passage("a.md", body="left"), passage("b.md", body="right")]))
            corpus = index.corpus("manual")
            for boosts, first in (((1.0, 9.0), "b.md"), ((9.0, 1.0), "a.md")):
                parts = (Term("left", boost=boosts[0]), Term("right", boost=boosts[1]))
                found = corpus.search(Bool(should=parts), 10)
                estimates = [one.estimate for one in found]
                assert found[0].passage.path == first, f"boosts {boosts} do not count"
                assert estimates == sorted(estimates, reverse=True)

    def test_a_capped_count_says_at_least(self, folder: Root) -> None:
        """A count is exact, or at the cap and says so."""
        with self.opened(folder) as index:
            _sync(index, _batches(PASSAGES))
            corpus = index.corpus("manual")
            assert corpus.count(Everything()) == (len(PASSAGES), False)
            assert corpus.count(Everything(), len(PASSAGES) + 1) == (len(PASSAGES), False)
            cap = len(PASSAGES) - 2
            capped = corpus.count(Everything(), cap)
            assert capped.at_least, f"{capped} is not all, and does not say so"
            assert capped.number >= cap, f"{capped} stopped before the cap"

    def test_it_is_the_same_after_closing_and_opening(self, folder: Root) -> None:
        """What was committed is on disk."""
        with self.opened(folder) as index:
            _sync(index, _batches(PASSAGES))
            before, pages = answers(index.corpus("manual")), dict(index.pages())
        with self.opened(folder) as index:
            assert answers(index.corpus("manual")) == before
            assert dict(index.pages()) == pages

    def test_a_failed_update_changes_nothing(self, folder: Root) -> None:
        """All or nothing; and the next update works."""
        with self.opened(folder) as index:
            _sync(index, _batches(PASSAGES[:3]))
            with pytest.raises(_StopError):
                _sync(index, _failing(_batches(PASSAGES[3:])), gone=[PASSAGES[0].path])
            assert_alike(index.corpus("manual"), PASSAGES[:3])
            _sync(index, _batches(PASSAGES))
            assert_alike(index.corpus("manual"), PASSAGES)

    def test_a_corpus_stays_as_it_was(self, folder: Root) -> None:
        """A search that has begun does not see the update that follows."""
        with self.opened(folder) as index:
            _sync(index, _batches(PASSAGES))
            before = index.corpus("manual")
            expected = answers(before)
            _sync(index, _batches([passage("new.md", body="password")]), gone=[PASSAGES[0].path])
            assert answers(before) == expected, "a corpus changed under a search"
            assert index.corpus("manual").size == len(PASSAGES) - 1

    def test_another_reader_sees_an_update_when_it_refreshes(self, folder: Root) -> None:
        """Until then it answers from the generation it has, whole and sound."""
        with self.opened(folder) as writer:
            _sync(writer, _batches(PASSAGES[:5]))
            with self.opened(folder) as reader:
                _sync(writer, _batches(PASSAGES))
                assert_alike(reader.corpus("manual"), PASSAGES[:5])
                reader.refresh()
                assert_alike(reader.corpus("manual"), PASSAGES)
                assert dict(reader.pages()) == dict(writer.pages())

    def test_there_is_one_writer_at_a_time(self, folder: Root) -> None:
        """Who finds the writer busy waits for its budget and is told so; later it may write."""
        with self.opened(folder) as one, self.opened(folder) as other:
            with one.writing(Budget()) as first, other.writing(Budget.of(50)) as second:
                assert (first, second) == (True, False)
            with pytest.raises(_StopError), one.writing(Budget()):
                raise _StopError
            _sync(other, _batches(PASSAGES[:1]))

    def test_an_unusable_folder_is_made_anew(self, folder: Root) -> None:
        """Derived state that is damaged costs time, never an error."""
        with self.opened(folder) as index:
            _sync(index, _batches(PASSAGES))
        for file in folder.path.rglob("*"):
            if file.is_file():
                file.write_bytes(b"damaged")
        with self.opened(folder) as index:
            assert not index.pages(), "it trusts what is damaged"
            _sync(index, _batches(PASSAGES))
            assert_alike(index.corpus("manual"), PASSAGES)

    def test_long_texts_and_words_are_no_trouble(self, folder: Root) -> None:
        """A term that is too long for the engine is not found, but its passage is."""
        long = passage("long.md", 1, "長い", "あ" * 50_000 + " " + "x" * 100_000 + " 終わり")
        with self.opened(folder) as index:
            _sync(index, _batches([long, *PASSAGES]))
            corpus = index.corpus("manual")
            assert [f.passage for f in corpus.search(Phrase(("終", "わ", "り")), 9)] == [long]

    def test_no_limit_means_no_hits(self, folder: Root) -> None:
        """Zero is a limit like any other."""
        with self.opened(folder) as index:
            _sync(index, _batches(PASSAGES))
            assert list(index.corpus("manual").search(Everything(), 0)) == []


class _StopError(Exception):
    """Stands for whatever may happen in the middle of an update."""


def _sync(index: OpenIndex, batches: Iterable[Batch], gone: Sequence[str] = ()) -> None:
    with index.writing(Budget()) as mine:
        assert mine, "nobody else writes, but it is not the writer"
        index.sync(gone, batches)


def _batches(passages: Iterable[Passage]) -> list[Batch]:
    by_path: dict[str, list[Passage]] = {}
    for one in passages:
        by_path.setdefault(one.path, []).append(one)
    return [(Page(p, f"stamp of {p}", None, len(each)), each) for p, each in by_path.items()]


def _failing(batches: Iterable[Batch]) -> Iterator[Batch]:
    yield from batches
    raise _StopError
