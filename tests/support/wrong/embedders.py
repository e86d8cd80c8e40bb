"""Embedders, each wrong in one way that their contract names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from fumishirube import Stage, Vectors
from fumishirube.testing import EmbedderContract

Role = Literal["query", "passage"]


class Circle(Stage):
    """Puts each text on the circle, by the sum of its letters."""

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        return [_at(sum(map(ord, text))) for text in texts]


def _at(angle: float) -> list[float]:
    return [math.cos(angle), math.sin(angle)]


class TestCircle(EmbedderContract):
    breaks = ()
    stage = Circle()


class _Padded(Circle):
    """Gives a vector for no text."""

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        return super().embed(texts, role) or [_at(0)]


class TestPadded(EmbedderContract):
    breaks = ("test_no_texts_have_no_vectors",)
    stage = _Padded()


class _Doubled(Circle):
    """Gives two vectors for a query by itself."""

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        vectors = list(super().embed(texts, role))
        return vectors * 2 if role == "query" and len(texts) == 1 else vectors


class TestDoubled(EmbedderContract):
    breaks = ("test_one_text_has_one_vector",)
    stage = _Doubled()


class _Deeper(Circle):
    """Gives queries a dimension more."""

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        more = [0.0] if role == "query" else []
        return [[*vector, *more] for vector in super().embed(texts, role)]


class TestDeeper(EmbedderContract):
    breaks = ("test_every_text_has_a_vector_of_the_same_dimension",)
    stage = _Deeper()


class _Flat(Circle):
    """Gives vectors without dimensions."""

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        return [() for _ in texts]


class TestFlat(EmbedderContract):
    breaks = ("test_vectors_have_dimensions",)
    stage = _Flat()


class _Longer(Circle):
    """Gives vectors twice as long."""

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        return [[2 * number for number in vector] for vector in super().embed(texts, role)]


class TestLonger(EmbedderContract):
    breaks = ("test_vectors_are_finite_and_of_unit_length",)
    stage = _Longer()


class _Silent(Circle):
    """Gives queries vectors of zeros."""

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        vectors = super().embed(texts, role)
        return [[0.0, 0.0] for _ in texts] if role == "query" else vectors


class TestSilent(EmbedderContract):
    breaks = ("test_vectors_are_finite_and_of_unit_length",)
    stage = _Silent()


class _Lonely(Circle):
    """Sees a passage by itself in another light."""

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        return [_at(0)] if len(texts) == 1 and role == "passage" else super().embed(texts, role)


class TestLonely(EmbedderContract):
    breaks = ("test_the_batch_does_not_matter",)
    stage = _Lonely()


class _Blind(Circle):
    """Sees no difference."""

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        return [_at(0) for _ in texts]


class TestBlind(EmbedderContract):
    breaks = ("test_equal_texts_have_equal_vectors",)
    stage = _Blind()


class _Emptying(Circle):
    """Takes the texts out of the batch."""

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        vectors = super().embed(texts, role)
        if isinstance(texts, list):
            texts.clear()
        return vectors


class TestEmptying(EmbedderContract):
    breaks = ("test_the_texts_are_not_changed",)
    stage = _Emptying()


class _Small(Circle):
    """Takes a small batch only."""

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        if len(texts) > 100:
            raise ValueError("too many")
        return super().embed(texts, role)


class TestSmall(EmbedderContract):
    breaks = ("test_many_texts_are_embedded",)
    stage = _Small()


class _Boundless(Circle):
    """Puts queries infinitely far away."""

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        vectors = super().embed(texts, role)
        return [[math.inf, 0.0] for _ in texts] if role == "query" else vectors


class TestBoundless(EmbedderContract):
    breaks = ("test_numbers_are_plain", "test_vectors_are_finite_and_of_unit_length")
    stage = _Boundless()


class _Shortsighted(Circle):
    """Refuses long texts."""

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        if any(len(text) > 10_000 for text in texts):
            raise ValueError("too long")
        return super().embed(texts, role)


class TestShortsighted(EmbedderContract):
    breaks = ("test_a_long_text_has_a_vector",)
    stage = _Shortsighted()
