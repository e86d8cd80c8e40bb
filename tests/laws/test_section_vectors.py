"""Vectors of sections: every one is compared, with numpy and without it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Literal

import pytest
import torture
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fumishirube import Root
from fumishirube.corpus_kinds import EmbeddingCounts
from fumishirube.engine.vectors import section_vectors, vector_rows
from fumishirube.engine.vectors.embedding import NamedEmbedder, pieces
from fumishirube.engine.vectors.section_vectors import StoredVectors

WORDS = ("red", "blue", "green", "house", "door")
TEXTS = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
FILES = st.dictionaries(st.sampled_from(("a.md", "b.md", "c.md")), st.lists(TEXTS, max_size=4))


class WordCounts:
    """One axis a word, and one for none of them."""

    def __init__(self) -> None:
        self.embedded = 0

    def embed(
        self, texts: Sequence[str], role: Literal["query", "passage"]
    ) -> Sequence[Sequence[float]]:
        self.embedded += len(texts) * (role == "passage")
        return [self.vector(text) for text in texts]

    @staticmethod
    def vector(text: str) -> list[float]:
        counts = [float(text.count(word)) for word in WORDS]
        counts.append(0.0 if any(counts) else 1.0)
        length = math.sqrt(sum(count * count for count in counts))
        return [count / length for count in counts]


def absent(name: str) -> ModuleType:
    """Hide a library from one module alone: hypothesis looks for numpy too."""
    raise ModuleNotFoundError(name)


@pytest.fixture(params=["numpy", "plain"])
def arithmetic(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if request.param == "numpy":
        pytest.importorskip("numpy")
    else:
        monkeypatch.setattr(vector_rows, "import_module", absent)
    vector_rows._numpy.cache_clear()
    yield
    vector_rows._numpy.cache_clear()


def stored(folder: Path, embedder: WordCounts) -> StoredVectors:
    return StoredVectors(NamedEmbedder("words", "w", embedder), Root(folder))


@pytest.mark.property
@pytest.mark.usefixtures("arithmetic")
@settings(
    max_examples=torture.examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(files=FILES, later=FILES, query=TEXTS)
def test_the_nearest_sections_are_those_of_a_comparison_with_all(
    tmp_path_factory: pytest.TempPathFactory,
    files: dict[str, list[str]],
    later: dict[str, list[str]],
    query: str,
) -> None:
    embedder = WordCounts()
    vectors = stored(tmp_path_factory.mktemp("v"), embedder)
    other = stored(vectors._file._path.parent, WordCounts())  # another process reads along
    for state in (files, later):
        stamps = {path: repr(texts) for path, texts in state.items()}
        vectors.update(stamps, lambda path, state=state: [("", text) for text in state[path]])
        expected = {
            (path, number): similarity
            for path, texts in state.items()
            for number, text in enumerate(texts)
            if (similarity := _cosine(query, text)) > 0
        }
        for reader in (vectors, other):
            found = reader.nearest(query, stamps, 100)
            assert {(path, number): near for path, number, near in found} == pytest.approx(
                expected, abs=2e-6
            )
            assert found == sorted(found, key=lambda row: (-row.similarity, row.path, row.number))
            assert reader.files_left(stamps) == 0


def _cosine(query: str, text: str) -> float:
    first, second = WordCounts.vector(query), WordCounts.vector(text)
    return sum(a * b for a, b in zip(first, second, strict=True))


def test_equal_texts_are_embedded_once_and_unused_vectors_dropped(tmp_path: Path) -> None:
    embedder = WordCounts()
    vectors = stored(tmp_path, embedder)
    texts = {"a.md": ["red door", "blue"], "b.md": ["red door"]}

    def read(path: str) -> list[tuple[str, str]]:
        return [("Title", text) for text in texts[path]]

    made = vectors.update({"a.md": "1", "b.md": "1"}, read)
    assert (made.embedded, made.reused, made.dropped, embedder.embedded) == (2, 0, 0, 2)
    made = vectors.update({"b.md": "1"}, read)
    assert (made.embedded, made.reused, made.dropped) == (0, 1, 1)
    assert stored(tmp_path, embedder).progress({"b.md": "1"}, read) == (1, 1)


def test_above_the_limit_no_file_is_read_twice_until_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(section_vectors, "MOST_VECTORS", 3)
    embedder, reads = WordCounts(), list[str]()
    vectors = stored(tmp_path, embedder)
    stamps = {f"{number}.md": "1" for number in range(5)}

    def read(path: str) -> list[tuple[str, str]]:
        reads.append(path)
        return [(path, "red")]

    for _ in range(3):
        vectors.update(stamps, read)
    assert (sorted(reads), embedder.embedded) == (sorted(stamps), 3)
    assert vectors.files_left(stamps) == 2
    for _ in range(2):  # the first makes room
        vectors.update({path: "1" for path in stamps if path != "0.md"}, read)
    assert embedder.embedded == 4
    changed = {**stamps, "4.md": "2"}
    reads.clear()
    for _ in range(3):
        vectors.update(changed, read)
    assert "4.md" in reads
    assert len(reads) == len(set(reads))


@pytest.mark.usefixtures("arithmetic")
@given(files=FILES)
@settings(
    max_examples=torture.examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_the_most_similar_sections_are_those_of_a_comparison_of_all_pairs(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, list[str]]
) -> None:
    vectors = stored(tmp_path_factory.mktemp("v"), WordCounts())
    vectors.update(dict.fromkeys(files, "1"), lambda path: [("", text) for text in files[path]])
    others = sorted(files)
    for first, texts in files.items():
        similar = vectors.most_similar(first, others)
        for second, (similarity, mine, theirs) in zip(others, similar, strict=True):
            pairs = [_cosine(one, other) for one in texts for other in files[second]]
            assert similarity == pytest.approx(max(pairs, default=0.0), abs=1e-6)
            if similarity:
                pair = texts[mine], files[second][theirs]
                assert similarity == pytest.approx(_cosine(*pair), abs=1e-6)


def test_an_update_that_is_cut_goes_on_where_it_ended(tmp_path: Path) -> None:
    embedder = WordCounts()
    stamps = {f"{n:03}.md": "1" for n in range(200)}

    def read(path: str) -> list[tuple[str, str]]:
        return [(path, "red")]

    turns, done = 0, False
    while not done:
        turns += 1
        times = iter(range(80))
        made = stored(tmp_path, embedder).update(
            stamps, read, lambda times=times: next(times, None) is not None
        )
        done = not made.cut
    assert turns > 2
    assert embedder.embedded == 200


def test_wrong_vectors_are_refused_and_named(tmp_path: Path) -> None:
    class Short(WordCounts):
        def embed(
            self, texts: Sequence[str], role: Literal["query", "passage"]
        ) -> Sequence[Sequence[float]]:
            return super().embed(texts[:1], role)

    vectors = stored(tmp_path, Short())
    made = vectors.update({"a.md": "1"}, lambda _: [("A", "red"), ("B", "blue")])
    assert made.embedded == 0
    assert vectors.failure == ("the embedder 'words' made 1 vectors of [6] dimensions for 2 texts")


def test_a_model_of_other_dimensions_needs_another_name(tmp_path: Path) -> None:
    class Longer(WordCounts):
        @staticmethod
        def vector(text: str) -> list[float]:
            return [*WordCounts.vector(text), 0.0]

    assert stored(tmp_path, WordCounts()).update({"a.md": "1"}, lambda _: [("A", "red")]).embedded
    vectors = stored(tmp_path, Longer())
    assert not vectors.update({"a.md": "2"}, lambda _: [("A", "blue")]).embedded
    assert vectors.failure == (
        "the embedder 'words' made vectors of 7 dimensions, and before of 6; "
        "give another model another name, or another folder"
    )


def test_what_cannot_be_stored_is_said_until_it_can(tmp_path: Path) -> None:
    (tmp_path / "no folder").write_text("")
    vectors = stored(tmp_path / "no folder", WordCounts())
    assert vectors.update({"a.md": "1"}, lambda _: [("A", "red")]) == EmbeddingCounts()
    assert str(vectors.failure).startswith("the vectors cannot be stored: ")
    (tmp_path / "no folder").unlink()
    assert vectors.update({"a.md": "1"}, lambda _: [("A", "red")]).embedded == 1
    assert vectors.failure is None


def test_an_error_of_the_embedder_is_not_one_of_the_store(tmp_path: Path) -> None:
    class WithoutModel(WordCounts):
        def embed(
            self, texts: Sequence[str], role: Literal["query", "passage"]
        ) -> Sequence[Sequence[float]]:
            if role == "passage":
                raise OSError("its model is gone")
            return super().embed(texts, role)

    vectors = stored(tmp_path, WithoutModel())
    assert vectors.update({"a.md": "1"}, lambda _: [("A", "red")]) == EmbeddingCounts()
    assert vectors.failure == "the embedder failed; the log has the details"


def test_a_section_is_divided_at_blank_lines_but_not_inside_a_fence() -> None:
    long = "word " * 200
    assert pieces("T", "") == ["T"]
    assert pieces("T", "a\n\nb") == ["T\na\n\nb"]
    assert pieces("T", f"{long}\n\n{long}") == [f"T\n{long}", f"T\n{long}"]
    fenced = f"```\n{long}\n\n{long}\n```"
    assert pieces("T", fenced) == [f"T\n{fenced}"]


FENCED = st.lists(st.sampled_from(["a", "", " ", "```", "~~~", "x ```", "   ```py"])).map("\n".join)


@given(FENCED)
def test_the_pieces_of_a_section_are_its_text_without_blank_lines(text: str) -> None:
    lines = [line for piece in pieces("T", text) for line in piece.split("\n")[1:]]
    assert [line for line in lines if line.strip()] == [n for n in text.split("\n") if n.strip()]


def test_a_fence_that_nothing_closes_is_divided_in_linear_time() -> None:
    text = "```\n" + "line\n\n" * 100_000
    before = time.process_time()
    assert pieces("T", text) == [f"T\n{text}"]
    # A square took minutes.
    assert time.process_time() - before < 5
