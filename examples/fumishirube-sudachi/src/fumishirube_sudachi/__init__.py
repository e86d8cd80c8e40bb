"""A tokenizer with words of Sudachi, and a scorer for other spellings of a query's words."""

from __future__ import annotations

from fumishirube import Register, Scorer, Tokenizer, hook
from fumishirube_sudachi.spellings import OtherSpellings
from fumishirube_sudachi.words import Sudachi

__all__ = ["OtherSpellings", "Sudachi"]


@hook
def register_tokenizers(register: Register[Tokenizer]) -> None:
    """Register the tokenizer."""
    register("sudachi", Sudachi)


@hook
def register_scorers(register: Register[Scorer]) -> None:
    """Register the scorer."""
    register("other-spellings", OtherSpellings)
