"""Stems of English words, so that other forms of a word match."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

from fumishirube.text import is_function, letter_named, letter_names

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


def is_stem(term: str) -> bool:
    """Return whether a term is a stem rather than a word."""
    return term.endswith(_MARK)


def stems(words: Iterable[str]) -> list[str]:
    """Return the stems of words that have one, in order."""
    return [stemmed for stemmed in map(stem, words) if stemmed.endswith(_MARK)]


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
