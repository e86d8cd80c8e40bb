"""Character n-grams of Japanese, whole words of everything else."""

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
_WIDE = "utf-32-le"


class NGram(Stage):
    """Japanese runs become overlapping n-grams; a run shorter than ``n`` is one term.

    Other words stay whole. A word of letters and digits, such as ``e104``, adds its parts after
    the text's last term, so that terms that follow each other in the text do so in the index; so
    do English words their stems, unless ``stems`` is off. A query is scored by stems.
    """

    n: Annotated[int, Field(ge=1, le=8)] = 3
    stems: bool = True

    def terms(self, text: str) -> Sequence[str]:
        """Return the grams and words in order, then the parts of mixed words."""
        terms, parts, latin = self._divided(text)
        return terms + parts + stems(latin) if self.stems else terms + parts

    def query_terms(self, text: str) -> Sequence[str]:
        """Return the terms by which a text is scored: stems take the places of their words."""
        terms, parts, _ = self._divided(text)
        return [*map(stem, terms), *map(stem, parts)] if self.stems else terms + parts

    def form_finder(self, term: str) -> Callable[[str], Sequence[str]] | None:
        """Return what finds the words of a folded text that stand for a term of a query.

        It is ``None`` where the term stands for itself, and is found by its letters.
        """
        return form_finder(term) if is_stem(term) else None

    def _divided(self, text: str) -> tuple[list[str], list[str], list[str]]:
        """Return the grams and words in order, the parts of mixed words, and the words."""
        terms: list[str] = []
        parts: list[str] = []
        latin: list[str] = []
        runs = list(words(text))
        slid = windows("".join(run for run, japanese in runs if japanese), self.n)
        start = 0
        for run, japanese in runs:
            if japanese:
                end = start + len(run)
                terms += slid[start : end - self.n + 1] if len(run) > self.n else [run]
                start = end
            else:
                terms.append(run)
                latin.append(run)
                if not run.isalpha() and not run.isdecimal():
                    parts += _PARTS.findall(run)
        return terms, parts, latin

    def narrow(self, text: str) -> tuple[Clause, bool]:
        """Return what holds of every text in which this one occurs.

        Exact for a Japanese run that makes one term; the last gram of one run and the first gram of
        the next may follow each other as the grams of a longer run do.
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
            return clauses[0], text == pieces[0][0] and len(text) <= self.n
        return Bool(must=clauses), False

    def _piece(self, run: str, *, japanese: bool, edge: bool) -> Clause:
        if japanese and edge and len(run) < self.n:
            return Part(run)
        return phrase(grams(run, self.n)) if japanese else Term(run)


def grams(run: str, n: int) -> list[str]:
    """Return the overlapping n-grams of a run, or the run itself when it is shorter."""
    if len(run) <= n:
        return [run]
    return [run[start : start + n] for start in range(len(run) - n + 1)]


def windows(text: str, n: int) -> list[str]:
    """Return what stands in every window of ``n`` characters that slides over a single line.

    Most of an index is made here: the windows are written side by side, a column of characters at
    a time, and taken apart in one go.
    """
    characters = array("I", text.encode(_WIDE, "surrogatepass"))
    number = len(characters) - n + 1
    if number < 1:
        return []
    woven = array("I", _END.encode(_WIDE) * (number * (n + 1)))
    for place in range(n):
        woven[place :: n + 1] = characters[place : place + number]
    result = woven.tobytes().decode(_WIDE, "surrogatepass").split(_END)
    result.pop()  # behind the last end there is nothing
    return result


def phrase(terms: Iterable[str]) -> Clause:
    """Return a phrase, or the plain term when there is only one."""
    sequence = tuple(terms)
    return Term(sequence[0]) if len(sequence) == 1 else Phrase(sequence)
