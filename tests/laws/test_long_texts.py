"""A long text is searched by few terms, and counted exactly all the same."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fumishirube import Bool, Budget, Clause, Fields, Holds, IndexedFile, Phrase, Root, Tokenizer
from fumishirube.engine.indexed_files import FIELDS
from fumishirube.testing import MemoryCorpus, passage
from fumishirube.text import fold
from fumishirube_stages.indexes.tantivy import Tantivy
from fumishirube_stages.tokenizers.bigram import Bigram
from fumishirube_stages.tokenizers.ngram import NGram
from fumishirube_stages.tokenizers.pairs import Pairs

MOST = 16
TOKENIZERS: list[Tokenizer] = [Bigram(), NGram(), NGram(n=1), Pairs()]
PIECES = st.sampled_from(["あ", "あい", "休暇", "a", "ab ", " ", "e104", "。", "給付"])
RUN = "給付金支給申請書類提出期限延長承認通知番号一覧表"
"""A run of 23 characters."""


def parts(clause: Clause) -> Iterable[Clause]:
    """Yield a clause, or those inside it."""
    if isinstance(clause, Bool):
        for part in (*clause.should, *clause.must, *clause.must_not):
            yield from parts(part)
    else:
        yield clause


@pytest.mark.parametrize("tokenizer", TOKENIZERS, ids=repr)
@given(st.lists(PIECES, min_size=1, max_size=60).map("".join), st.integers(1, 300))
def test_a_text_is_searched_by_few_terms(tokenizer: Tokenizer, text: str, times: int) -> None:
    """For each term of a phrase an index reads all of its places, of which one line has millions.

    The number of clauses of a text is limited too, as each may be a phrase.
    """
    needle = fold(text * times)
    clause = tokenizer.narrow(needle)[0]
    clauses = [*parts(clause)]
    assert len(clauses) <= 2 * MOST
    assert all(len(part.terms) <= MOST for part in clauses if isinstance(part, Phrase))
    corpus = MemoryCorpus([passage("a.md", body=f"序。{needle}\n結"), passage("b.md")], tokenizer)
    assert corpus.search(clause, 1), "the index loses no section with the text"


@pytest.mark.parametrize("tokenizer", TOKENIZERS, ids=repr)
@pytest.mark.parametrize(
    ("text", "other"),
    [
        (RUN, RUN.replace("提出", "送付")),
        (" ".join(RUN), " ".join(RUN.replace("提出", "送付"))),
        ("あ" * 1000, f"{'あ' * 500}い{'あ' * 500}"),
        (" ".join("abcdefghijklmnopqrstuvwxyz"), " ".join("abcdefghijkl_nopqrstuvwxyz")),
    ],
    ids=["run", "characters", "equal", "words"],
)
def test_texts_that_differ_in_the_middle_are_told_apart(
    tmp_path: Path, tokenizer: Tokenizer, text: str, other: str
) -> None:
    passages = [passage("a.md", body=f"前 {text} 後"), passage("b.md", body=f"前 {other} 後")]
    index = Tantivy().open(Root(tmp_path), Fields(FIELDS, tokenizer))
    with index.writing(Budget()):
        index.sync((), [(IndexedFile(one.path, "stamp", None, 1), [one]) for one in passages])
    assert index.corpus("m").count(Holds(text)).number == 1
    assert index.corpus("m").count(Holds(other)).number == 1
    index.close()
