"""The tokenizer: divides Japanese into words with the analyser Sudachi."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property, lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Literal

from fumishirube import (
    Bool,
    Clause,
    ConfigError,
    Everything,
    Part,
    Phrase,
    Stage,
    Term,
)
from fumishirube.text import fold, words

if TYPE_CHECKING:
    from sudachipy import Tokenizer as Analyser

MARK = "≈"
"""The prefix of a normal form that is a term of its own."""

_PARTS = re.compile(r"[^\W\d]+|\d+")
_ENOUGH = 16
_MOST = 8_000
"""The most characters analysed at once: Sudachi accepts 49,149 bytes, and slows down before."""


class Sudachi(Stage):
    """Makes terms of the words in a text, and of their normal forms where those differ.

    Sudachi's ``mode`` A gives the shortest words, C the longest; ``dictionary`` names the installed
    one to use. With ``bigrams`` pairs of Japanese characters are terms too, so that it finds all
    that the built-in tokenizer finds.
    """

    dictionary: Literal["small", "core", "full"] = "small"
    mode: Literal["A", "B", "C"] = "A"
    bigrams: bool = False

    @cached_property
    def fingerprint(self) -> str:
        """A value that changes with the settings, and with the versions of the packages used."""
        packages = ("fumishirube-sudachi", "sudachipy", self._package)
        versions = " ".join([super().fingerprint, *map(_version, packages)])
        return hashlib.sha256(versions.encode()).hexdigest()[:8]

    @contextmanager
    def open(self) -> Iterator[RunningSudachi]:
        """Open the dictionary for as long as the tokenizer runs.

        Raises:
            ConfigError: when the dictionary is not installed.
        """
        if find_spec(self._package) is None:
            raise ConfigError(
                f"the tokenizer 'sudachi' needs the dictionary '{self.dictionary}': "
                f"pip install {self._package.replace('_', '-')}"
            )
        from sudachipy import Dictionary  # noqa: PLC0415 - 40 ms that other commands do not need

        dictionary = Dictionary(dict=self.dictionary)
        try:
            yield RunningSudachi(dictionary.tokenizer(mode=self.mode), bigrams=self.bigrams)
        finally:
            dictionary.close()

    def terms(self, text: str) -> Sequence[str]:
        """Return the terms of a folded text; without ``open()``, keep the dictionary open."""
        return _running(self)[1].terms(text)

    def narrow(self, text: str) -> tuple[Clause, bool]:
        """Return a clause for every text that contains this one; see :class:`RunningSudachi`."""
        return _pairs(text) if self.bigrams else _characters(text)

    @property
    def _package(self) -> str:
        return f"sudachidict_{self.dictionary}"


class RunningSudachi:
    """The running form, with its dictionary open."""

    def __init__(self, analyser: Analyser, *, bigrams: bool) -> None:
        self._analyser = analyser
        self._bigrams = bigrams
        self._lock = Lock()  # an analyser is not thread-safe

    def terms(self, text: str) -> Sequence[str]:
        """Return the words of a folded text in order, then further forms of some of them.

        With bigrams, these come in the order of the text, and all words after them.
        """
        terms: list[str] = []
        beside: list[str] = []
        for run, japanese in words(text):
            if not japanese:
                terms.append(run)
                if not run.isalpha() and not run.isdecimal():
                    beside += _PARTS.findall(run)
            elif self._bigrams:
                terms += _grams(run)
                present = {*_grams(run), *run}
                beside += [
                    form for each in self._words(run) for form in each if form not in present
                ]
            else:
                for surface, *others in self._words(run):
                    terms.append(surface)
                    beside += others
        return terms + beside

    def narrow(self, text: str) -> tuple[Clause, bool]:
        """Return a clause for every text that contains this one.

        Words cannot decide that: how a text is divided depends on the text around it. Its
        characters are always parts of words.
        """
        return _pairs(text) if self._bigrams else _characters(text)

    def _words(self, run: str) -> Iterator[tuple[str, ...]]:
        """Yield each word of a Japanese run, with its normal form where that differs."""
        for start in range(0, len(run), _MOST):
            with self._lock:
                forms = [
                    (morpheme.surface(), fold(morpheme.normalized_form()))
                    for morpheme in self._analyser.tokenize(run[start : start + _MOST])
                ]
            for surface, normal in forms:
                other = normal != surface and normal.split() == [normal]
                yield (surface, normal, MARK + normal) if other else (surface,)


@lru_cache(maxsize=2)
def _running(stage: Sudachi) -> tuple[ExitStack, RunningSudachi]:
    """Return a running form that stays open, for callers that use a stage without opening it."""
    stack = ExitStack()
    return stack, stack.enter_context(stage.open())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def _grams(run: str) -> list[str]:
    return ["".join(pair) for pair in pairwise(run)] or [run]


def _phrase(terms: Sequence[str]) -> Clause:
    """Return a term, or a phrase of the first terms, which are enough: the texts are searched."""
    terms = terms[:_ENOUGH]
    return Term(terms[0]) if len(terms) == 1 else Phrase(tuple(terms))


def _characters(text: str) -> tuple[Clause, bool]:
    """Return a clause for every text with these characters and these other words."""
    clauses: dict[Clause, None] = {}
    for run, japanese in words(text):
        clauses.update(dict.fromkeys(map(Part, run) if japanese else [Term(run)]))
    return (Bool(must=tuple(clauses)) if clauses else Everything()), False


def _pairs(text: str) -> tuple[Clause, bool]:
    pieces = [*words(text)]
    if not pieces:
        return Everything(), False
    if not any(japanese for _, japanese in pieces):
        return _phrase([run for run, _ in pieces]), False
    last = len(pieces) - 1
    clauses: list[Clause] = []
    for place, (run, japanese) in enumerate(pieces):
        cut = japanese and len(run) == 1 and place in (0, last)
        clauses.append(Part(run) if cut else _phrase(_grams(run) if japanese else [run]))
    return Bool(must=tuple(clauses)), False
