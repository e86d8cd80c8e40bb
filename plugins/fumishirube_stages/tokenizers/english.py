"""English words by their stems, so that a word is also met in another form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

from fumishirube.text import is_function

_STEMMER = TextAnalyzerBuilder(Tokenizer.whitespace()).filter(Filter.stemmer("english")).build()
_PLAIN = re.compile(r"[a-z]{3,32}")
_MARK = "~"
"""What a stem ends in, so that it is never taken for a word that looks the same."""
_CHANGING = re.compile(r"(?<=.)(?:ie|(?<=b)l|[ie])$")
"""What a stem may end in, and its words not: studi is the stem of study, code of coding."""
_MOST_FORMS = 1024


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the stem of a folded word, by Porter's second algorithm ("Snowball English", 2001).

    It ends in ``~``. What is not made of 3 to 32 letters of ASCII is returned as it is; so is a
    word that only holds a sentence together.
    """
    if not _PLAIN.fullmatch(word) or is_function(word):
        return word
    return f"{_STEMMER.analyze(word)[0]}{_MARK}"


def is_stem(term: str) -> bool:
    """Tell whether a term is what the forms of a word have in common, and no word itself."""
    return term.endswith(_MARK)


def stems(words: Iterable[str]) -> list[str]:
    """Return the stems of those words that have one, in order."""
    return [stemmed for stemmed in map(stem, words) if stemmed.endswith(_MARK)]


@lru_cache(maxsize=2048)
def form_finder(stemmed: str) -> Callable[[str], Sequence[str]]:
    """Return what finds the words of a folded text that have a stem, each as often as it stands."""
    begin = _CHANGING.sub("", stemmed.removesuffix(_MARK))
    escaped = re.escape(begin)
    find_all = re.compile(f"{escaped}(?<![0-9a-z]{escaped})[0-9a-z]*").findall
    forms = _Forms(stemmed)

    def find(text: str) -> Sequence[str]:
        return [word for word in find_all(text) if forms[word]] if begin in text else ()

    return find


class _Forms(dict[str, bool]):
    """Whether words have a stem, as far as they have been met."""

    def __init__(self, stemmed: str) -> None:
        self._stemmed = stemmed

    def __missing__(self, word: str) -> bool:
        if len(self) >= _MOST_FORMS:
            self.clear()
        same = self[word] = stem(word) == self._stemmed
        return same
