"""An embedder with a model in its package, and a fuser for questions in other words."""

from __future__ import annotations

from fumishirube import Embedder, Fuser, Register, hook
from fumishirube_meaning.encoder import UniversalSentenceEncoder
from fumishirube_meaning.meaning import Meaning

__all__ = ["Meaning", "UniversalSentenceEncoder"]


@hook
def register_embedders(register: Register[Embedder]) -> None:
    """Register the embedder."""
    register("universal-sentence-encoder", UniversalSentenceEncoder)


@hook
def register_fusers(register: Register[Fuser]) -> None:
    """Register the fuser."""
    register("meaning", Meaning)
