"""Sudachi in Fumishirube: words as terms of an index, and other spellings of a query's words."""

from __future__ import annotations

from fumishirube import Register, Scorer, Tokenizer, hook
from fumishirube_sudachi.spellings import OtherSpellings
from fumishirube_sudachi.words import Sudachi

__all__ = ["OtherSpellings", "Sudachi"]


@hook
def register_tokenizers(register: Register[Tokenizer]) -> None:
    """Offer words as terms."""
    register("sudachi", Sudachi)


@hook
def register_scorers(register: Register[Scorer]) -> None:
    """Offer what finds a word in another spelling."""
    register("other-spellings", OtherSpellings)
