"""Pairs of characters, in words of every script alike: any text is found, inside words too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from fumishirube import Clause, Everything, Part, Stage
from fumishirube_stages.tokenizers.ngram import phrase, windows

_SPACE = "\u2423"
"""What stands for a space, which no term may hold."""
_ENOUGH = 64


class Pairs(Stage):
    """Two characters that stand side by side are a term, whatever they are, spaces included.

    A line of one character is a term itself. Such an index is large; what it narrows to holds a
    text anywhere, not at the borders of words only, which ``inside`` says.
    """

    inside: ClassVar[bool] = True

    def terms(self, text: str) -> Sequence[str]:
        """Return the pairs of each line, in order."""
        terms: list[str] = []
        for line in text.replace(" ", _SPACE).split("\n"):
            terms += windows(line, 2) or ([line] if line else [])
        return terms

    def narrow(self, text: str) -> tuple[Clause, bool]:
        """Return what holds of every text in which this one stands, in words too."""
        if len(text) == 1:
            return Part(text.replace(" ", _SPACE)), False
        # So many pairs in a row are rare enough; the texts themselves are looked at anyway.
        terms = self.terms(text)[:_ENOUGH]
        return (phrase(terms) if terms else Everything()), False
