"""What the embedded index does for speed changes no answer."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fumishirube import (
    Bool,
    Budget,
    Clause,
    Corpus,
    Fields,
    Holds,
    IndexedFile,
    Part,
    Passage,
    Root,
    Term,
    Tokenizer,
)
from fumishirube.engine.indexed_files import FIELDS
from fumishirube.testing import TokenizerContract, passage
from fumishirube.text import occurs
from fumishirube_stages.indexes.tantivy import Tantivy
from fumishirube_stages.indexes.tantivy_index.corpus import TantivyCorpus
from fumishirube_stages.indexes.tantivy_index.queries import CheckedSearcher
from fumishirube_stages.tokenizers.bigram import Bigram
from fumishirube_stages.tokenizers.ngram import NGram
from fumishirube_stages.tokenizers.pairs import Pairs

BIGRAM = Bigram()


@contextmanager
def filled(
    folder: Path,
    passages: Sequence[Passage],
    commits: int = 1,
    tokenizer: Tokenizer = BIGRAM,
) -> Iterator[Corpus]:
    """Index passages in turns of whole files, some files twice, and merge what was written."""
    files: dict[str, list[Passage]] = {}
    for one in passages:
        files.setdefault(one.path, []).append(one)
    pages = [(IndexedFile(p, "s", None, len(each)), each) for p, each in files.items()]
    index = Tantivy().open(Root(folder), Fields(FIELDS, tokenizer))
    for turn in range(commits):
        with index.writing(Budget()):
            index.sync((), pages[turn::commits])
    if commits > 1:
        with index.writing(Budget()):
            index.sync((), pages[:1])
    yield index.corpus("m")
    index.close()


WORDS = ("e104", "104", "e", "abc", "abc1", "設定", "a-b", "ab", "104設定")
RUNS = ("利用", "用者", "利用者", "利用者名", "者名", "者", "利用者利用", "、", "url")


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join), min_size=1, max_size=6))
def test_a_word_is_counted_where_it_stands_and_not_where_it_is_a_part(bodies: list[str]) -> None:
    passages = [passage(f"{n}.md", 1, f"abc1 {n}", body) for n, body in enumerate(bodies)]
    with TemporaryDirectory() as folder:
        index = Tantivy().open(Root(Path(folder)), Fields(FIELDS, Bigram()))
        with index.writing(Budget()):
            index.sync((), [(IndexedFile(one.path, "stamp", None, 1), [one]) for one in passages])
        corpus = index.corpus("m")
        for word in WORDS:
            holding = sum(any(occurs(text, word) for text in p.fields.values()) for p in passages)
            assert corpus.count(Holds(word)).number == holding
        index.close()


MIXED = (
    st.text()
    | st.text("ab1_ -.é給付ひらカ。|𠮷")
    | st.lists(st.sampled_from(WORDS + RUNS)).map(" ".join)
)


@given(MIXED, st.sampled_from([1, 2, 3]), st.booleans())
def test_what_a_tokenizer_writes_for_an_index_are_its_terms(text: str, n: int, stems: bool) -> None:
    class Sample(TokenizerContract):
        stage = NGram(n=n, stems=stems)
        texts = (text,)

    Sample().test_written_terms_are_the_terms()


@given(st.lists(st.lists(st.sampled_from(RUNS), max_size=5).map("".join), min_size=1, max_size=6))
def test_japanese_runs_are_counted_where_they_stand_and_not_across_what_parts_runs(
    bodies: list[str],
) -> None:
    passages = [passage(f"{n}.md", 1, "", body or "-") for n, body in enumerate(bodies)]
    with TemporaryDirectory() as folder, filled(Path(folder), passages) as corpus:
        for run in ("利用者", "利用者名", "用者名", "利用者利用", "者利"):
            holding = sum(run in body for body in bodies)
            assert corpus.count(Holds(run)).number == holding


def test_merged_segments_are_searched_though_nothing_else_has_changed(tmp_path: Path) -> None:
    """They count a term without a search, as no deleted section has it."""
    index = Tantivy().open(Root(tmp_path), Fields(FIELDS, Bigram()))
    for turn in range(8):
        pages = [passage(f"{name}.md", 1, "利用者", f"設定 {turn}") for name in (turn, "same")]
        with index.writing(Budget.of(2_900)):
            index.sync((), [(IndexedFile(one.path, f"{turn}", None, 1), [one]) for one in pages])
    before = index.corpus("m")
    until = time.monotonic() + 60
    while len(json.loads((tmp_path / "meta.json").read_bytes())["segments"]) > 1:
        assert time.monotonic() < until, "the segments were not merged"
        time.sleep(0.05)
    index.refresh()
    after = index.corpus("m")
    assert isinstance(before, TantivyCorpus)
    assert isinstance(after, TantivyCorpus)
    assert (before._has_deletions(), after._has_deletions()) == (True, False)
    terms = [*before.terms("利用者 設定 absent"), *map(str, range(8))]
    assert after.frequencies(terms) == before.frequencies(terms)
    assert (after.size, after.page("same.md")) == (9, before.page("same.md"))
    index.close()


# --- ties -----------------------------------------------------------------------------------


@settings(max_examples=10, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 90), st.sampled_from([0, 5, 40]))
@pytest.mark.slow
def test_of_many_ties_the_same_are_returned_whatever_came_before(
    chance: Random, limit: int, better: int
) -> None:
    """Whether in one commit, in several, after changes, or after the segments are merged."""
    same = [passage(f"{n % 11}.md", 1 + n, "関連項目", "link") for n in range(200)]
    best = [passage(f"{n}.md", 999, "関連項目 関連項目", "link") for n in range(better)]
    shuffled = chance.sample([*same, *best], len(same) + len(best))
    clause = Bool(should=(Term("関連", "title"), Term("項目", "title")))
    found = []
    for commits in (1, 3, 12):
        with TemporaryDirectory() as folder, filled(Path(folder), shuffled, commits) as corpus:
            matches = corpus.search(clause, limit)
            found.append([match.passage.key for match in matches])
            assert len({*found[-1]}) == limit
            assert [*matches] == sorted(matches, key=lambda m: (-m.estimate, m.passage.key))
    assert found[0] == found[1] == found[2]


def test_of_many_ties_no_more_are_read_than_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passages = [passage(f"{n}.md", 1, "関連項目", f"link {n}") for n in range(1000)]
    read: list[object] = []
    whole = TantivyCorpus._read
    monkeypatch.setattr(TantivyCorpus, "_read", lambda *given: read.append(given) or whole(*given))
    with filled(tmp_path, passages) as corpus:
        assert len(corpus.search(Term("関連", "title"), 80)) == 80
        assert len(read) <= 81
        every = corpus.search(Term("関連", "title"), 1000)
        assert len({match.passage.key for match in every}) == 1000


@pytest.mark.parametrize("limit", [3, 10**11, 2**64])
def test_a_limit_beyond_the_number_of_sections_is_all_of_them(tmp_path: Path, limit: int) -> None:
    """Memory for 10**11 hits would not be there, and the process would end."""
    passages = [passage("a.md", line, "関連", f"link {line}") for line in (1, 5, 9)]
    empty = [passage("b.md", line, "関連") for line in (1, 2)]
    with filled(tmp_path, [*passages, *empty]) as corpus:
        found = corpus.search(Term("関連", "title"), limit)
        assert sorted(match.passage.key[1] for match in found) == [1, 5, 9]
        assert [match.passage for match in corpus.search(Term("link"), limit)] == passages


def test_copies_at_the_end_of_a_search_take_no_second_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searches: list[object] = []
    whole = CheckedSearcher.search

    def counted(*arguments: Any, **named: Any) -> Any:
        searches.append(arguments)
        return whole(*arguments, **named)

    with filled(tmp_path, [passage(f"{n}.md", 1, "関連項目", "link") for n in range(70)]) as corpus:
        monkeypatch.setattr(CheckedSearcher, "search", counted)
        assert len(corpus.search(Term("関連", "title"), 20)) == 20
    assert len(searches) == 1


# --- parts of terms ---------------------------------------------------------------------------


PIECES = (
    "e10",
    "04",
    "bc1",
    "設",
    "用者",
    "者名",
    "。",
    "-",
    ".",
    "",
    "\n",
    "b\n",
    "é",
    "者" * 129,
)
pieces = st.sampled_from(PIECES) | st.text("ab14-設用者名", max_size=4)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(WORDS + RUNS), max_size=5).map(" ".join), max_size=6),
    st.lists(pieces, min_size=1, max_size=4),
    st.sampled_from([1, 3]),
    st.sampled_from([Bigram(), NGram(), Pairs()]),
)
def test_parts_are_found_in_a_list_of_terms_as_by_patterns(
    bodies: list[str], parts: list[str], commits: int, tokenizer: Tokenizer
) -> None:
    """With equal scores, in one commit or several, and after files have changed."""
    passages = [passage(f"{n}.md", 1, body[:9], body) for n, body in enumerate(bodies)]
    clauses: list[Clause] = [Part(part, name, 0.5) for part in parts for name in (None, "body")]
    clauses += [Bool(should=(Term("設"), *clauses)), Bool(must=tuple(clauses[:2]))]
    with (
        TemporaryDirectory() as folder,
        filled(Path(folder), passages, commits, tokenizer) as corpus,
        pytest.MonkeyPatch.context() as patch,
    ):
        assert isinstance(corpus, TantivyCorpus)
        listed = [found(corpus, clause) for clause in clauses]
        patch.setattr(CheckedSearcher, "terms_containing", lambda *_: None)
        for clause, expected in zip(clauses, listed, strict=True):
            corpus._translated.clear()
            assert found(corpus, clause) == expected, clause


def found(corpus: Corpus, clause: Clause) -> object:
    """Return what a corpus finds and counts for a clause."""
    matches = [(match.passage.key, match.estimate) for match in corpus.search(clause, 9)]
    return matches, corpus.count(clause), corpus.count(clause, searched=True)


def test_many_terms_and_those_of_large_indexes_are_not_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with filled(tmp_path, [passage("a.md", 1, "", "ba1 ba2 ba3 xy")]) as corpus:
        assert isinstance(corpus, TantivyCorpus)
        listed = corpus._searcher
        assert listed.terms_containing("a", "in_body") == ["ba", "ba1", "ba2", "ba3"]
        assert listed.terms_containing("1b", "in_body") == []
        monkeypatch.setattr("fumishirube_stages.indexes.tantivy_index.queries._MOST", 3)
        assert listed.terms_containing("a", "in_body") is None
        assert corpus.count(Part("a")).number == 1
        monkeypatch.setattr("fumishirube_stages.indexes.tantivy_index.queries._SECTIONS", 0)
        assert listed.terms_containing("xy", "in_body") is None
        assert corpus.count(Part("xy")).number == 1


# --- words ----------------------------------------------------------------------------------


def test_no_section_is_read_to_count_a_word_or_a_japanese_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passages = [passage(f"{n}.md", 1, "Title", f"password e104 a-b 利用者名 {n}") for n in range(9)]
    index = Tantivy().open(Root(tmp_path), Fields(FIELDS, Bigram()))
    with index.writing(Budget()):
        index.sync((), [(IndexedFile(one.path, "stamp", None, 1), [one]) for one in passages])
    read: list[object] = []
    whole = TantivyCorpus._passages_of
    monkeypatch.setattr(
        TantivyCorpus, "_passages_of", lambda *given: read.append(given) or whole(*given)
    )
    assert index.corpus("m").count(Holds("password")).number == 9
    assert index.corpus("m").count(Holds("104")).number == 0
    assert index.corpus("m").count(Holds("利用者")).number == 9
    assert read == []
    assert index.corpus("m").count(Holds("a-b")).number == 9
    assert len(read) == 1
    index.close()


def test_more_pages_than_are_written_side_by_side_are_all_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fumishirube_stages.indexes.tantivy._TOGETHER", 2)
    pages = {f"{n}.md": IndexedFile(f"{n}.md", "stamp", None, 1) for n in range(5)}
    for _ in range(2):
        index = Tantivy().open(Root(tmp_path), Fields(FIELDS, Bigram()))
        with index.writing(Budget()):
            index.sync((), [(page, [passage(path)]) for path, page in pages.items()])
        assert dict(index.pages()) == pages
        index.close()
        index = Tantivy().open(Root(tmp_path), Fields(FIELDS, Bigram()))
        assert dict(index.pages()) == pages
        index.close()


def test_many_records_that_are_read_from_their_own_file_are_those_of_the_index(
    tmp_path: Path,
) -> None:
    """The file may be missing, of another commit, cut or changed; then it is made again."""
    passages = [
        passage(f"{n}.md", 1, f"title {n}", f"設定 abc {n} " * (n % 7)) for n in range(1100)
    ]
    with filled(tmp_path, passages):
        pass
    record_file = tmp_path / "records.cache"
    assert not record_file.exists()  # the first process that opens the index afterwards makes it
    expected = state_of(tmp_path)
    written = record_file.read_bytes()
    assert state_of(tmp_path) == expected
    for damaged in (b"", written[:-1], written.replace(b"1.md", b"x.md", 1), written[4:], b"\xff"):
        record_file.write_bytes(damaged)
        assert state_of(tmp_path) == expected
        assert record_file.read_bytes() == written
    index = Tantivy().open(Root(tmp_path), Fields(FIELDS, Bigram()))
    with index.writing(Budget()):
        index.sync(["0.md"], [(IndexedFile("1.md", "t", None, 1), [passages[3]])])
    after = dict(index.pages()), lengths_of(index.corpus("m"))
    index.close()
    assert record_file.read_bytes() == written  # of the commit before
    assert state_of(tmp_path) == after != expected
    assert state_of(tmp_path) == after
    assert [file.name for file in tmp_path.glob("records*")] == ["records.cache"]


def state_of(folder: Path) -> tuple[dict[str, IndexedFile], object]:
    """Return the files of an index that is opened now, and the lengths of its fields."""
    index = Tantivy().open(Root(folder), Fields(FIELDS, Bigram()))
    state = dict(index.pages()), lengths_of(index.corpus("m"))
    index.close()
    return state


def lengths_of(corpus: Corpus) -> list[float]:
    return [corpus.average_length(name) for name in FIELDS]
