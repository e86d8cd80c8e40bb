"""Character n-grams of Japanese and the like; whole words of everything else, and their stems."""

import re
from array import array
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import Annotated, NamedTuple

from pydantic import Field
from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

from fumishirube import Bool, Clause, Everything, Part, Phrase, Stage, Term
from fumishirube.text import is_function, letter_named, letter_names, runs_and_words, words

_PARTS = re.compile(r"[^\W\d]+|\d+")
_BORDER = "|"
"""A term between two runs of which one goes on where the other ends: no word is like it."""
_WIDE = "utf-32-le"
_PHRASE = 16
"""The most terms of a phrase, and the most phrases, by which a text narrows a search.

For each term of a phrase an index reads all places of the term, also when it is repeated.
"""


class WrittenTerms(NamedTuple):
    """The terms of a text as an index stores them.

    ``terms`` are joined by spaces. ``characters`` are the non-ASCII ones of the text that are also
    in its terms, some repeatedly. ``parts`` are the terms of ASCII letters and digits that occur in
    the text only as parts of words.
    """

    terms: str
    characters: str
    parts: Collection[str]


class _Divided(NamedTuple):
    """The grams and words joined by spaces, parts of mixed words, words, and Japanese runs."""

    written: str
    parts: list[str]
    latin: list[str]
    runs: list[str]


class NGram(Stage):
    """Splits Japanese into overlapping n-grams; a run shorter than ``n`` is one term.

    So it splits Chinese, Korean, Thai and other scripts without spaces.

    A term that is no word separates runs where one begins with the characters that end the last.
    Other words stay whole. The parts of words with letters and digits, such as ``e104``, and the
    stems of English words and Greek letters (unless ``stems`` is false) are added after the last
    term of the text, so that adjacent terms stay adjacent in the index. Queries are scored by
    stems.
    """

    n: Annotated[int, Field(ge=1, le=8)] = 3
    stems: bool = True

    def terms(self, text: str) -> Sequence[str]:
        """Return the grams and words in order, then the parts of mixed words, then stems."""
        return self.written_terms(text).terms.split()

    def written_terms(self, text: str) -> WrittenTerms:
        """Return the terms of a text joined by spaces, without making each of them."""
        divided = self._divided(text)
        return self._written(divided, self._behind(divided))

    def written_beside(
        self, text: str, others: Iterable[str]
    ) -> tuple[WrittenTerms, Collection[str]]:
        """Return the terms of a text, and which of other terms are not among them."""
        divided = self._divided(text)
        n, behind = self.n, self._behind(divided)
        lacking = set(others).difference(divided.latin, behind)
        runs = "\n".join(["", *divided.runs, ""])
        inside = [t for t in lacking if len(t) <= n and (t if len(t) == n else f"\n{t}\n") in runs]
        lacking.difference_update(inside)
        if _BORDER in lacking and f" {_BORDER} " in divided.written:
            lacking.remove(_BORDER)
        return self._written(divided, behind), lacking

    def _behind(self, divided: _Divided) -> list[str]:
        """Return what is added behind the last word of a text: parts of words, and stems."""
        if not self.stems:
            return divided.parts
        letters = [part for part in divided.parts if letter_names(part)]
        stems = map(stem, divided.latin + letters)
        return divided.parts + [stemmed for stemmed in stems if stemmed.endswith(_MARK)]

    def _written(self, divided: _Divided, behind: Sequence[str]) -> WrittenTerms:
        written, parts, latin, runs = divided
        foreign = "".join(latin)
        characters = "".join(runs)
        if not foreign.isascii():
            characters += "".join(c for c in foreign if not c.isascii())
        mere_parts = {part for part in parts if part.isascii()}.difference(latin) if parts else ()
        return WrittenTerms(" ".join([written, *behind]), characters, mere_parts)

    def query_terms(self, text: str) -> Sequence[str]:
        """Return the terms by which a text of a query is scored: stems replace their words."""
        divided = self._divided(text)
        scored = [term for term in divided.written.split() if term != _BORDER] + divided.parts
        return [*map(stem, scored)] if self.stems else scored

    def form_finder(self, term: str) -> Callable[[str], Sequence[str]] | None:
        """Return a function that finds the words in a folded text that match a query's term.

        It is ``None`` for a term that matches only itself.
        """
        return form_finder(term) if term.endswith(_MARK) else None

    def _divided(self, text: str) -> _Divided:
        lines = [runs_and_words(line) for line in text.split("\n")]
        runs = [run for line in lines for run, _ in line if run]
        latin = [word for line in lines for _, word in line if word]
        # Most words are letters alone, and each check is a call.
        mixed = [w for w in latin if not w.isalpha() and not w.isdecimal() and w.isalnum()]
        parts = [part for word in mixed for part in _PARTS.findall(word)]
        written = " ".join(self._pieces(lines, runs) if runs else latin)
        return _Divided(written, parts, latin, runs)

    def _pieces(self, lines: Sequence[Sequence[tuple[str, str]]], runs: Sequence[str]) -> list[str]:
        """Return the words of all lines, and the grams of each Japanese run joined by spaces."""
        n, width, shared = self.n, self.n + 1, self.n - 1
        beyond = shared * width + 1
        woven = _woven("".join(runs), n, " ")
        pieces: list[str] = []
        start = 0
        for line in lines:
            end_of_last = None
            for run, word in line:
                if word:
                    end_of_last = None
                    pieces.append(word)
                    continue
                if end_of_last == run[:shared]:
                    pieces.append(_BORDER)
                end = start + len(run) * width
                pieces.append(woven[start : end - beyond] if len(run) > n else run)
                start = end
                end_of_last = run[len(run) - shared :]
        return pieces

    def narrow(self, text: str) -> tuple[Clause, bool]:
        """Return a clause that matches every text that contains this one, and whether it is exact.

        It is exact for one Japanese run, in texts of one line, as folded texts are: a separator
        keeps the last gram of a run from the first of the next. Long runs are searched by their
        ends, and only the first of many, which is not exact.
        """
        pieces = words(text)
        if not pieces:
            return Everything(), False
        if all(not japanese for _, japanese in pieces):
            return phrase(run for run, _ in pieces), False
        last = len(pieces) - 1
        clauses = dict.fromkeys(
            self._piece(run, japanese=japanese, edge=place in (0, last))
            for place, (run, japanese) in enumerate(pieces)
        )
        if last == 0:
            return next(iter(clauses)), text == pieces[0][0] and len(text) < _PHRASE + self.n
        return Bool(must=tuple(islice(clauses, _PHRASE))), False

    def _piece(self, run: str, *, japanese: bool, edge: bool) -> Clause:
        if japanese and edge and len(run) < self.n:
            return Part(run)
        return phrase(windows(run, self.n) or [run]) if japanese else Term(run)


def windows(text: str, n: int) -> list[str]:
    """Return all windows of ``n`` characters of one line."""
    woven = _woven(text, n, "\n")
    return woven.split("\n")[:-1]


def _woven(text: str, n: int, end: str) -> str:
    """Return all windows of ``n`` characters, each followed by an end.

    They are written a column of characters at a time; a string for each would take ten times as
    long.
    """
    characters = array("I", text.encode(_WIDE, "surrogatepass"))
    number = len(characters) - n + 1
    if number < 1:
        return ""
    woven = array("I", end.encode(_WIDE) * (number * (n + 1)))
    for place in range(n):
        woven[place :: n + 1] = characters[place : place + number]
    return woven.tobytes().decode(_WIDE, "surrogatepass")


def phrase(terms: Iterable[str]) -> Clause:
    """Return a phrase, or a single term; for many terms the phrases at both ends of them."""
    sequence, half = tuple(terms), _PHRASE // 2
    if len(sequence) > _PHRASE:
        ends = (Phrase(sequence[:half]), Phrase(sequence[-half:]))
        return Bool(must=tuple(dict.fromkeys(ends)))
    return Term(sequence[0]) if len(sequence) == 1 else Phrase(sequence)


# --- stems ------------------------------------------------------------------------------------

_STEMMER = TextAnalyzerBuilder(Tokenizer.whitespace()).filter(Filter.stemmer("english")).build()
_PLAIN = re.compile(r"[a-z]{3,32}")
_MARK = "~"
"""The end of every stem, which distinguishes it from a word."""
_CHANGING = re.compile(r"(?<=.)(?:ie|(?<=b)l|[ie])$")
"""Endings of stems that their words lack: studi is the stem of study, code of coding."""
_MOST_FORMS = 1024
_GREEK = "\u0370-\u03ff"


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the stem of a folded word, by Porter's second algorithm ("Snowball English", 2001).

    It ends in ``~``. Greek letters and their names have the letter itself as their stem. Function
    words, and all other words but those of 3 to 32 ASCII letters, are returned as they are.
    """
    if letter := letter_named(word):
        return f"{letter}{_MARK}"
    if not _PLAIN.fullmatch(word) or is_function(word):
        return word
    stemmed = _STEMMER.analyze(word)[0]
    return f"{letter_named(stemmed) or stemmed}{_MARK}"


@lru_cache(maxsize=2048)
def form_finder(stemmed: str) -> Callable[[str], Sequence[str]]:
    """Return a function that returns the words with a stem in a folded text, with repetitions."""
    begin = _CHANGING.sub("", stemmed.removesuffix(_MARK))
    if names := letter_names(begin):
        return _letter_finder(begin, names)
    escaped = re.escape(begin)
    find_all = re.compile(f"{escaped}(?<![0-9a-z]{escaped})[0-9a-z]*").findall
    is_form = lru_cache(maxsize=_MOST_FORMS)(lambda word: stem(word) == stemmed)

    def find(text: str) -> Sequence[str]:
        return [word for word in find_all(text) if is_form(word)] if begin in text else ()

    return find


def _letter_finder(letter: str, names: Iterable[str]) -> Callable[[str], Sequence[str]]:
    """Return a function that finds a Greek letter outside words, and its names."""
    named = f"(?<![0-9a-z])(?:{'|'.join(names)})s?(?![0-9a-z])"
    pattern = re.compile(f"(?<![a-z{_GREEK}]){letter}(?![0-9a-z{_GREEK}])|{named}")
    return pattern.findall
