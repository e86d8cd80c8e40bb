"""Pairs of characters in all scripts: finds any text, also inside words."""

from collections.abc import Sequence
from typing import ClassVar

from fumishirube import Clause, Everything, Part, Stage
from fumishirube_stages.tokenizers.ngram import phrase, windows

_SPACE = "\u2423"
"""Replaces a space, which a term must not contain."""


class Pairs(Stage):
    """Makes a term of each pair of adjacent characters, spaces included.

    A line of one character is a term itself. The index is large, but narrows a search for texts
    anywhere, not only at word boundaries; ``inside`` declares that.
    """

    inside: ClassVar[bool] = True

    def terms(self, text: str) -> Sequence[str]:
        """Return the pairs of each line, in order."""
        terms: list[str] = []
        for line in text.replace(" ", _SPACE).split("\n"):
            terms += windows(line, 2) or ([line] if line else [])
        return terms

    def narrow(self, text: str) -> tuple[Clause, bool]:
        """Return a clause that matches every text that contains this one, also inside words."""
        if len(text) == 1:
            return Part(text.replace(" ", _SPACE)), False
        terms = self.terms(text)
        return (phrase(terms) if terms else Everything()), False
