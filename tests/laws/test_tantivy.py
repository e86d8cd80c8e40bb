"""What the embedded index does for speed changes no answer."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fumishirube import Budget, Fields, Holds, IndexedFile, Root
from fumishirube.engine.passages import FIELDS
from fumishirube.testing import passage
from fumishirube.text import occurs
from fumishirube_stages.indexes.tantivy import Tantivy
from fumishirube_stages.indexes.tantivy_corpus import TantivyCorpus
from fumishirube_stages.tokenizers.bigram import Bigram

WORDS = ("e104", "104", "e", "abc", "abc1", "設定", "a-b", "ab", "104設定")


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


def test_no_section_is_read_to_count_a_word_that_is_never_a_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passages = [passage(f"{n}.md", 1, "Title", f"password e104 {n}") for n in range(9)]
    index = Tantivy().open(Root(tmp_path), Fields(FIELDS, Bigram()))
    with index.writing(Budget()):
        index.sync((), [(IndexedFile(one.path, "stamp", None, 1), [one]) for one in passages])
    read: list[object] = []
    whole = TantivyCorpus._all
    monkeypatch.setattr(TantivyCorpus, "_all", lambda *given: read.append(given) or whole(*given))
    assert index.corpus("m").count(Holds("password")).number == 9
    assert read == []
    assert index.corpus("m").count(Holds("104")).number == 0
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
