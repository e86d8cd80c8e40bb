"""Character n-grams of Japanese and the like, whole words of everything else."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated

from pydantic import Field

from fumishirube import (
    Bool,
    Clause,
    Everything,
    Part,
    Phrase,
    Stage,
    Term,
)
from fumishirube.text import words
from fumishirube_stages.tokenizers.english import form_finder, is_stem, stem, stems

_PARTS = re.compile(r"[^\W\d]+|\d+")
_END = "\n"
_BORDER = "|"
"""A term between two runs of which one goes on where the other ends: no word is like it."""
_WIDE = "utf-32-le"


class NGram(Stage):
    """Splits Japanese into overlapping n-grams; a run shorter than ``n`` is one term.

    So it splits Chinese, Korean, Thai and other scripts without spaces.

    A term that is no word separates runs where one begins with the characters that end the last.
    Other words stay whole. The parts of words with letters and digits, such as ``e104``, and the
    stems of English words (unless ``stems`` is false) are added after the last term of the text, so
    that adjacent terms stay adjacent in the index. Queries are scored by stems.
    """

    n: Annotated[int, Field(ge=1, le=8)] = 3
    stems: bool = True

    def terms(self, text: str) -> Sequence[str]:
        """Return the grams and words in order, then the parts of mixed words, then stems."""
        terms, parts, latin = self._divided(text)
        return terms + parts + stems(latin) if self.stems else terms + parts

    def query_terms(self, text: str) -> Sequence[str]:
        """Return the terms that score a text: stems replace their words."""
        terms, parts, _ = self._divided(text)
        scored = [term for term in terms if term != _BORDER] + parts
        return [*map(stem, scored)] if self.stems else scored

    def form_finder(self, term: str) -> Callable[[str], Sequence[str]] | None:
        """Return a function that finds the words in a folded text that match a query's term.

        It is ``None`` for a term that matches only itself.
        """
        return form_finder(term) if is_stem(term) else None

    def _divided(self, text: str) -> tuple[list[str], list[str], list[str]]:
        """Return the grams and words in order, the parts of mixed words, and the words."""
        terms: list[str] = []
        parts: list[str] = []
        latin: list[str] = []
        lines = [list(words(line)) for line in text.split("\n")]
        slid = windows("".join(run for line in lines for run, japanese in line if japanese), self.n)
        start = 0
        for line in lines:
            end_of_last = None
            for run, japanese in line:
                if japanese:
                    if end_of_last == run[: self.n - 1]:
                        terms.append(_BORDER)
                    end = start + len(run)
                    terms += slid[start : end - self.n + 1] if len(run) > self.n else [run]
                    start, end_of_last = end, run[len(run) - self.n + 1 :]
                else:
                    end_of_last = None
                    terms.append(run)
                    latin.append(run)
                    if run.isalnum() and not run.isalpha() and not run.isdecimal():
                        parts += _PARTS.findall(run)
        return terms, parts, latin

    def narrow(self, text: str) -> tuple[Clause, bool]:
        """Return a clause that matches every text that contains this one, and whether it is exact.

        It is exact for one Japanese run, in texts of one line, as folded texts are: a separator
        keeps the last gram of a run from the first of the next.
        """
        pieces = list(words(text))
        if not pieces:
            return Everything(), False
        if all(not japanese for _, japanese in pieces):
            return phrase(run for run, _ in pieces), False
        last = len(pieces) - 1
        clauses = tuple(
            self._piece(run, japanese=japanese, edge=place in (0, last))
            for place, (run, japanese) in enumerate(pieces)
        )
        if len(clauses) == 1:
            return clauses[0], text == pieces[0][0]
        return Bool(must=clauses), False

    def _piece(self, run: str, *, japanese: bool, edge: bool) -> Clause:
        if japanese and edge and len(run) < self.n:
            return Part(run)
        return phrase(grams(run, self.n)) if japanese else Term(run)


def grams(run: str, n: int) -> list[str]:
    """Return the overlapping n-grams of a run, or a shorter run itself."""
    if len(run) <= n:
        return [run]
    return [run[start : start + n] for start in range(len(run) - n + 1)]


def windows(text: str, n: int) -> list[str]:
    """Return all windows of ``n`` characters on each line.

    Most time of indexing is spent here: the windows are built a column of characters at a time, and
    then split in one call.
    """
    characters = array("I", text.encode(_WIDE, "surrogatepass"))
    number = len(characters) - n + 1
    if number < 1:
        return []
    woven = array("I", _END.encode(_WIDE) * (number * (n + 1)))
    for place in range(n):
        woven[place :: n + 1] = characters[place : place + number]
    result = woven.tobytes().decode(_WIDE, "surrogatepass").split(_END)
    result.pop()  # the text ends in a separator
    return result


def phrase(terms: Iterable[str]) -> Clause:
    """Return a phrase, or a single term."""
    sequence = tuple(terms)
    return Term(sequence[0]) if len(sequence) == 1 else Phrase(sequence)
