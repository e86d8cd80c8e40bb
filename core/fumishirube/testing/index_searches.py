"""Searches of an index: the first half of its contract."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from fumishirube import (
    Bool,
    Budget,
    Corpus,
    Everything,
    Fields,
    Index,
    IndexedFile,
    OpenIndex,
    Passage,
    Phrase,
    Root,
    ScoreCutoff,
    Term,
)
from fumishirube.engine.indexed_files import FIELDS
from fumishirube.host.guarded_indexes import (
    VALUE_CHECKS,
    check_frequencies,
    check_matches,
    check_pages,
    check_passages,
)
from fumishirube.testing.answers import CLAUSES, answers, assert_alike, keys
from fumishirube.testing.contract import StageContract
from fumishirube.testing.corpora import PlainTokenizer, passage
from fumishirube.testing.corpus_contract import CorpusContract
from fumishirube.testing.samples import BLANK, PASSAGES, TEXTS

_LARGE = 1_000
_AWKWARD = [(number, text) for number, text in enumerate(TEXTS) if text.strip()]

Batch = tuple[IndexedFile, Sequence[Passage]]


class IndexSearchContract(StageContract[Index], CorpusContract):
    """Answers like a corpus in memory."""

    protocol = Index
    fields = Fields(FIELDS, PlainTokenizer())

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Root:
        """Return an empty folder for the index."""
        (tmp_path / "index").mkdir()
        return Root(tmp_path / "index")

    def exercise(self, stage: Index, folder: Path) -> object:
        """Fill an index, and search every clause."""
        with self.opened(Root(folder), stage) as index:
            sync(index, batched(PASSAGES))
            return answers(index.corpus("manual"))

    def opened(self, folder: Root, stage: Index | None = None) -> AbstractContextManager[OpenIndex]:
        """Open the index of a folder, and close it in the end."""
        return closing((stage or self.make()).open(folder, self.fields))

    @contextmanager
    def filled(self, passages: Sequence[Passage]) -> Iterator[Corpus]:
        """Return the corpus of a new index with these passages."""
        with TemporaryDirectory() as folder, self.opened(Root(Path(folder))) as index:
            sync(index, batched(passages))
            yield index.corpus("manual")

    def test_a_new_index_is_empty(self, folder: Root) -> None:
        """An index without updates is empty, and can be searched."""
        with self.opened(folder) as index:
            corpus = index.corpus("m1")
            assert isinstance(index, OpenIndex), "what open() gives is no OpenIndex"
            assert isinstance(corpus, Corpus), "what corpus() gives is no Corpus"
            assert corpus.manual_id == "m1", f"manual_id is {corpus.manual_id!r}"
            assert corpus.size == 0, f"a new index has {corpus.size} sections"
            assert not index.pages(), "a new index has pages"
            assert_alike(corpus, ())

    def test_it_answers_like_a_corpus_in_memory(self) -> None:
        """Every clause has the same matches, counts and lengths."""
        with self.filled(PASSAGES) as corpus:
            assert_alike(corpus, PASSAGES)

    def test_a_single_passage_can_be_searched(self) -> None:
        """The smallest manual works."""
        with self.filled(PASSAGES[:1]) as corpus:
            assert_alike(corpus, PASSAGES[:1])

    def test_passages_come_back_as_they_went_in(self) -> None:
        """Titles, lines, digests and every field are returned as stored, by page and by search."""
        with self.filled(PASSAGES) as corpus:
            by_key = {f.passage.key: f.passage for f in corpus.search(Everything(), corpus.size)}
            stored = {item.key: item for item in PASSAGES}
            assert by_key == stored, "search() returns other passages than were stored"
            for path in {item.path for item in PASSAGES}:
                stored_page = [item for item in PASSAGES if item.path == path]
                assert list(corpus.page(path)) == stored_page, f"page({path!r}) has others"
            assert list(corpus.page("absent.md")) == [], "page() of an absent path has passages"

    def test_a_passage_without_a_body_is_stored_but_not_searched(self) -> None:
        """A bare heading is on its page, but no clause returns it."""
        with self.filled([*PASSAGES, BLANK]) as corpus:
            assert BLANK in corpus.page(BLANK.path), "a bare heading is not on its page"
            assert corpus.size == len(PASSAGES), "size counts other than searched sections"
            for clause in CLAUSES:
                assert BLANK.key not in keys(corpus, clause), f"{clause} finds a bare heading"

    def test_values_have_the_types_of_an_index(self, folder: Root) -> None:
        """A host refuses what only equals a passage, a file or a number."""
        terms = ("password", "absent")
        with self.opened(folder) as index:
            sync(index, batched(PASSAGES))
            files, corpus = check_pages(index.pages()), index.corpus("manual")
            check_matches(corpus.search(Everything(), len(PASSAGES)), files)
            for path in files:
                check_passages("page", corpus.page(path), files)
            check_frequencies(corpus.frequencies(terms), terms)
            values = {
                "manual_id": corpus.manual_id,
                "size": corpus.size,
                "terms": corpus.terms("password"),
                "count": corpus.count(Term("password")),
                "average_length": corpus.average_length("body"),
            }
            for name, check in VALUE_CHECKS.items():
                check(name, values[name])

    def test_pages_come_back_as_they_went_in(self, folder: Root) -> None:
        """Stamps and reasons are stored as given, for files without passages too."""
        skipped = IndexedFile("broken.md", "stamp 1", "undecodable", 0, 2)
        with self.opened(folder) as index:
            sync(index, [(skipped, ()), *batched(PASSAGES)])
            expected = {page.path: page for page, _ in (*batched(PASSAGES), (skipped, ()))}
            assert dict(index.pages()) == expected, "pages() has others than were stored"
            size = index.corpus("manual").size
            assert size == len(PASSAGES), f"size is {size}, not {len(PASSAGES)}"

    def test_ties_are_broken_by_path_and_line(self, folder: Root) -> None:
        """Also at the limit: of equals, the first by path and line are returned."""
        many = [passage(f"{n % 6}.md", 1 + n, "同じ", "equal words") for n in range(30)]
        with self.opened(folder) as index:
            for batch in reversed(batched(many)):
                sync(index, [batch])
            corpus = index.corpus("manual")
            for clause in (Term("equal"), Bool(should=(Term("equal"), Term("同"))), Everything()):
                for limit in (1, 7, 30, 100):
                    ordered = [match.passage.key for match in corpus.search(clause, limit)]
                    assert ordered == sorted(item.key for item in many)[:limit], (
                        f"{clause}, {limit}"
                    )

    def test_a_score_cutoff_drops_low_estimates(self) -> None:
        """The result is the beginning of that without a cut-off, ties included."""
        many = [passage(f"{n}.md", 1, "x" * (n % 3), "word " * (1 + n % 7)) for n in range(60)]
        many.append(passage("blank.md", title="word word word"))
        with self.filled(many) as corpus:
            whole = corpus.search(Term("word"), 100)
            assert len(whole) == len(many) - 1, "a section without text was returned"
            for cutoff in (
                ScoreCutoff(sure, share) for sure in (0, 1, 7, 90) for share in (0, 0.5, 1)
            ):
                matches = corpus.search(Term("word"), 100, cutoff)
                assert list(matches) == list(cutoff.apply(whole)), f"{cutoff}"

    def test_a_phrase_of_one_term_is_that_term(self) -> None:
        """Callers need not count the terms of a phrase."""
        with self.filled(PASSAGES) as corpus:
            assert keys(corpus, Phrase(("link",))) == keys(corpus, Term("link"))

    def test_the_best_come_first(self) -> None:
        """Estimates never rise, and a boost raises the estimate of its clause."""
        with self.filled([passage("a.md", body="left"), passage("b.md", body="right")]) as corpus:
            for boosts, first in (((1.0, 9.0), "b.md"), ((9.0, 1.0), "a.md")):
                parts = (Term("left", boost=boosts[0]), Term("right", boost=boosts[1]))
                matches = corpus.search(Bool(should=parts), 10)
                estimates = [match.estimate for match in matches]
                assert matches[0].passage.path == first, f"boosts {boosts} do not count"
                assert estimates == sorted(estimates, reverse=True)

    def test_a_capped_count_is_marked_at_least(self) -> None:
        """A count is exact, or at the cap and marked as such."""
        with self.filled(PASSAGES) as corpus:
            assert corpus.count(Everything()) == (len(PASSAGES), False)
            assert corpus.count(Everything(), len(PASSAGES) + 1) == (len(PASSAGES), False)
            cap = len(PASSAGES) - 2
            capped = corpus.count(Everything(), cap)
            assert capped.at_least, f"{capped} is below the number, but not marked at_least"
            assert capped.number >= cap, f"{capped} stopped before the cap"

    def test_long_texts_and_words_are_stored(self) -> None:
        """A term that is too long for the engine is not found, but its passage is."""
        long = passage("long.md", 1, "長い", "あ" * 50_000 + " " + "x" * 100_000 + " 終わり")
        with self.filled([long, *PASSAGES]) as corpus:
            assert [f.passage for f in corpus.search(Phrase(("終", "わ", "り")), 9)] == [long]

    def test_awkward_texts_and_paths_come_back(self, folder: Root) -> None:
        """Every script, control characters and long names are stored letter for letter."""
        awkward = [passage(f"{n} #?&　{'長' * n}/é🎌.md", 1, text, text) for n, text in _AWKWARD]
        with self.opened(folder) as index:
            sync(index, batched(awkward))
            corpus = index.corpus("manual")
            stored = {page: list(corpus.page(page)) for page in index.pages()}
            expected = {item.path: [item] for item in awkward}
            assert stored == expected, "awkward texts or paths come back changed"
            assert_alike(corpus, awkward)

    def test_a_smaller_limit_gives_the_beginning(self) -> None:
        """The limit does not change which matches are best."""
        with self.filled(PASSAGES) as corpus:
            for clause in CLAUSES:
                whole = [match.passage.key for match in corpus.search(clause, len(PASSAGES))]
                for limit in range(len(whole)):
                    part = [match.passage.key for match in corpus.search(clause, limit)]
                    assert part == whole[:limit], f"{clause}: the best {limit} are others"

    def test_many_passages_are_found(self) -> None:
        """A thousand sections are stored, counted and found."""
        many = [passage(f"{n % 50}.md", n + 1, f"第{n}条", "有給休暇 link") for n in range(_LARGE)]
        with self.filled(many) as corpus:
            assert corpus.size == _LARGE, f"size is {corpus.size}, not {_LARGE}"
            assert corpus.count(Term("link")) == (_LARGE, False)
            assert len(corpus.search(Term("link"), _LARGE)) == _LARGE

    def test_no_limit_means_no_hits(self) -> None:
        """Zero is a limit like any other."""
        with self.filled(PASSAGES) as corpus:
            assert list(corpus.search(Everything(), 0)) == []


def sync(index: OpenIndex, batches: Iterable[Batch], gone: Sequence[str] = ()) -> None:
    """Update an index, as its only writer."""
    with index.writing(Budget()) as is_writer:
        assert is_writer, "there is no other writer, but it did not become the writer"
        index.sync(gone, batches)


def batched(passages: Iterable[Passage]) -> list[Batch]:
    """Return passages by page, as an update receives them."""
    by_path: dict[str, list[Passage]] = {}
    for item in passages:
        by_path.setdefault(item.path, []).append(item)
    return [(IndexedFile(p, f"stamp of {p}", None, len(each)), each) for p, each in by_path.items()]
