"""The contract of embedders."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from fumishirube import Embedder
from fumishirube.testing.contract import StageContract
from fumishirube.testing.samples import TEXTS

_NEAR = 1e-3
_MANY = 500


class EmbedderContract(StageContract[Embedder]):
    """One finite vector of unit length for each text, whatever the batch."""

    protocol = Embedder

    def exercise(self, stage: Embedder, folder: Path) -> object:
        """Embed every text in both roles."""
        return [[list(v) for v in stage.embed(TEXTS, role)] for role in ("query", "passage")]

    def test_no_texts_have_no_vectors(self) -> None:
        """An empty batch has no vectors."""
        assert len(self.make().embed([], "passage")) == 0, "vectors without texts"

    def test_one_text_has_one_vector(self) -> None:
        """A batch of one text has one vector."""
        assert len(self.make().embed(["休暇"], "query")) == 1, "not one vector a text"

    def test_every_text_has_a_vector_of_the_same_dimension(self) -> None:
        """Queries and passages share one space, and empty texts have vectors too."""
        stage = self.make()
        vectors = [*stage.embed(TEXTS, "query"), *stage.embed(TEXTS, "passage")]
        assert len(vectors) == 2 * len(TEXTS), "not one vector a text"
        assert len({len(vector) for vector in vectors}) == 1, "the dimensions differ"

    def test_vectors_have_dimensions(self) -> None:
        """A host refuses vectors without numbers, of any text and in either role."""
        stage = self.make()
        for text, *vectors in zip(
            TEXTS, stage.embed(TEXTS, "query"), stage.embed(TEXTS, "passage"), strict=True
        ):
            assert all(map(len, vectors)), f"the vector of {text!r} has no dimensions"

    def test_vectors_are_finite_and_of_unit_length(self) -> None:
        """The dot product of two vectors is their cosine; vectors may have no dimensions."""
        stage = self.make()
        vectors = [*stage.embed(TEXTS, "passage"), *stage.embed(TEXTS, "query")]
        for text, vector in zip(TEXTS * 2, vectors, strict=True):
            length = math.sqrt(sum(number * number for number in vector))
            assert not len(vector) or length == pytest.approx(1, abs=_NEAR), (
                f"the vector of {text!r} is {length} long"
            )

    def test_the_batch_does_not_matter(self) -> None:
        """A text embedded alone has the same vector as in a batch, in any order."""
        stage = self.make()
        together = stage.embed(TEXTS, "passage")
        backwards = list(stage.embed(TEXTS[::-1], "passage"))[::-1]
        for text, vector, other in zip(TEXTS, together, backwards, strict=True):
            alone = stage.embed([text], "passage")[0]
            assert list(alone) == pytest.approx(list(vector), abs=_NEAR), f"{text!r} differs alone"
            assert list(other) == pytest.approx(list(vector), abs=_NEAR), f"{text!r} differs"

    def test_equal_texts_have_equal_vectors(self) -> None:
        """A repeated text has the same vector each time."""
        first, other, again = self.make().embed(["休暇", "password", "休暇"], "passage")
        assert list(first) == pytest.approx(list(again), abs=_NEAR), "equal texts, unequal vectors"
        assert not len(first) or list(first) != list(other), "unequal texts, equal vectors"

    def test_the_texts_are_not_changed(self) -> None:
        """The batch belongs to the caller."""
        batch = list(TEXTS)
        self.make().embed(batch, "passage")
        assert batch == list(TEXTS), "the batch was changed"

    def test_many_texts_are_embedded(self) -> None:
        """A whole manual is one batch; the stage divides what is too large for its model."""
        texts = [f"第{number}条 password" for number in range(_MANY)]
        assert len(self.make().embed(texts, "passage")) == _MANY, "not one vector a text"

    def test_numbers_are_plain(self) -> None:
        """Every number is as good as a ``float``."""
        for vector in self.make().embed(TEXTS, "query"):
            assert all(math.isfinite(float(number)) for number in vector), "not a finite number"

    def test_a_long_text_has_a_vector(self) -> None:
        """A text longer than a model's window is cut or split, not refused."""
        assert len(self.make().embed(["年次有給休暇 password " * 2_000], "passage")) == 1
