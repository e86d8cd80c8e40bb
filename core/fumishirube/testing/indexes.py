"""The contract of indexes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from fumishirube import Budget, Root
from fumishirube.testing.answers import answers, assert_alike
from fumishirube.testing.corpora import passage
from fumishirube.testing.index_searches import Batch, IndexSearchContract, batched, sync
from fumishirube.testing.process_records import record
from fumishirube.testing.samples import PASSAGES


class IndexContract(IndexSearchContract):
    """Answers like a corpus in memory after any history, and survives failures."""

    def test_an_update_answers_like_a_rebuild(self, folder: Root) -> None:
        """Change, deletion, addition and renaming leave no trace of former pages."""
        old = [
            passage("規程/旅費.md", 1, "旧規程", "password を消した。"),
            passage("gone.md", 1, "Password", "absent link"),
            passage("old-name.md", 1, "Signing in", "Open the portal."),
        ]
        with self.opened(folder) as index:
            sync(index, batched(old))
            sync(index, batched(PASSAGES[:5]))
            sync(index, batched(PASSAGES), gone=["gone.md", "old-name.md", "never.md"])
            assert_alike(index.corpus("manual"), PASSAGES)

    def test_the_order_of_updates_does_not_matter(self, folder: Root, tmp_path: Path) -> None:
        """Pages added one by one and backwards, or at once, give the same answers."""
        (tmp_path / "other").mkdir()
        with self.opened(folder) as whole, self.opened(Root(tmp_path / "other")) as other:
            sync(whole, batched(PASSAGES))
            for batch in reversed(batched(PASSAGES)):
                sync(other, [batch])
            same = answers(whole.corpus("m")) == answers(other.corpus("m"))
            assert same, "the answers depend on the order of the updates"

    def test_frequencies_are_exact_after_deletions(self, folder: Root) -> None:
        """Deleted and replaced passages are not counted."""
        many = [passage(f"{n:02}.md", 1, f"休暇 {n}", "password") for n in range(20)]
        with self.opened(folder) as index:
            sync(index, batched(many))
            sync(index, batched([passage("05.md", 1, "replaced", "link")]), gone=["06.md"])
            corpus = index.corpus("manual")
            frequencies = corpus.frequencies(["password", "休", "link", "absent"])
            assert dict(frequencies) == {"password": 18, "休": 18, "link": 1, "absent": 0}
            assert corpus.size == len(many) - 1, f"size is {corpus.size}, not {len(many) - 1}"

    def test_it_is_the_same_after_closing_and_opening(self, folder: Root) -> None:
        """A commit is on disk."""
        with self.opened(folder) as index:
            sync(index, batched(PASSAGES))
            before, pages = answers(index.corpus("manual")), dict(index.pages())
        with self.opened(folder) as index:
            same = answers(index.corpus("manual")) == before
            assert same, "opened again, it answers otherwise than before it was closed"
            assert dict(index.pages()) == pages, "opened again, it has other pages"

    def test_a_failed_update_changes_nothing(self, folder: Root) -> None:
        """An update is all or nothing, and the next one works."""
        with self.opened(folder) as index:
            sync(index, batched(PASSAGES[:3]))
            with pytest.raises(_StopError):
                sync(index, _failing(batched(PASSAGES[3:])), gone=[PASSAGES[0].path])
            assert_alike(index.corpus("manual"), PASSAGES[:3])
            sync(index, batched(PASSAGES))
            assert_alike(index.corpus("manual"), PASSAGES)

    def test_a_corpus_stays_as_it_was(self, folder: Root) -> None:
        """A running search does not see later updates."""
        with self.opened(folder) as index:
            sync(index, batched(PASSAGES))
            before = index.corpus("manual")
            expected = answers(before)
            sync(index, batched([passage("new.md", body="password")]), gone=[PASSAGES[0].path])
            assert answers(before) == expected, "a corpus changed under a search"
            size = index.corpus("manual").size
            assert size == len(PASSAGES) - 1, f"after the update size is {size}"

    def test_another_reader_sees_an_update_when_it_refreshes(self, folder: Root) -> None:
        """Until then a reader answers from its former commit."""
        with self.opened(folder) as writer:
            sync(writer, batched(PASSAGES[:5]))
            with self.opened(folder) as reader:
                sync(writer, batched(PASSAGES))
                assert_alike(reader.corpus("manual"), PASSAGES[:5])
                reader.refresh()
                assert_alike(reader.corpus("manual"), PASSAGES)
                same = dict(reader.pages()) == dict(writer.pages())
                assert same, "after refresh() a reader has other pages than the writer"

    def test_there_is_one_writer_at_a_time(self, folder: Root) -> None:
        """A second writer waits for its budget, and gets ``False``; later it may write."""
        with self.opened(folder) as holder, self.opened(folder) as other:
            with holder.writing(Budget()) as first, other.writing(Budget.of(50)) as second:
                assert first, "the first writer may not write"
                assert not second, "two may write at once: writing() yielded True to a second one"
            with pytest.raises(_StopError), holder.writing(Budget()):
                raise _StopError
            sync(other, batched(PASSAGES[:1]))

    def test_an_unusable_folder_is_rebuilt(self, folder: Root) -> None:
        """Damaged files cost time, never an error: they are derived state."""
        with self.opened(folder) as index:
            sync(index, batched(PASSAGES))
        for file in folder.path.rglob("*"):
            if file.is_file():
                file.write_bytes(b"damaged")
        with self.opened(folder) as index:
            assert not index.pages(), "it trusts what is damaged"
            sync(index, batched(PASSAGES))
            assert_alike(index.corpus("manual"), PASSAGES)

    def test_the_batches_are_not_changed(self, folder: Root) -> None:
        """Pages and passages belong to the caller."""
        batches = batched(PASSAGES)
        before = record(batches)
        with self.opened(folder) as index:
            sync(index, batches)
            answers(index.corpus("manual"))
        assert record(batches) == before, "the index changed its arguments"


class _StopError(Exception):
    """Stands for any error in the middle of an update."""


def _failing(batches: Iterable[Batch]) -> Iterator[Batch]:
    yield from batches
    raise _StopError
