"""Forms of words: English numbers, Greek letters, and the forms that a tokenizer defines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Protocol, TypeAlias

from fumishirube.text.folding import occurs

FormFinder: TypeAlias = Callable[[str], Sequence[str]]
"""A function that returns the words of a folded text that stand for a term, with repetitions."""

_NO_PLURAL = re.compile(r".{0,2}s|.*(?:ss|us|is|as|os|ps)|(?:always|does|series|news|lens|dns|tls)")
_SILENT = ("ches", "xes", "zes")
_LAST_WORD = re.compile(r"(?<![^\W_])[a-z]{3,}\Z")

_GREEK_NAMES = {
    "α": ("alpha",),
    "β": ("beta",),
    "γ": ("gamma",),
    "δ": ("delta",),
    "ε": ("epsilon",),
    "ζ": ("zeta",),
    "η": ("eta",),
    "θ": ("theta",),
    "ι": ("iota",),
    "κ": ("kappa",),
    "λ": ("lambda",),
    "μ": ("mu", "micro"),
    "ν": ("nu",),
    "ξ": ("xi",),
    "ο": ("omicron",),
    "π": ("pi",),
    "ρ": ("rho",),
    "σ": ("sigma",),
    "τ": ("tau",),
    "υ": ("upsilon",),
    "φ": ("phi",),
    "χ": ("chi",),
    "ψ": ("psi",),
    "ω": ("omega", "ohm"),
}
"""Folded letters; μ is also the prefix of units, and Ω the unit of resistance."""
_GREEK_LETTERS = {name: letter for letter, names in _GREEK_NAMES.items() for name in names}
_GREEK_NAME = re.compile(rf"(?<![^\W_])({'|'.join(_GREEK_LETTERS)})s?(?![^\W_])")
_GREEK_LETTER = re.compile(r"(?<![0-9a-z\u0370-\u03ff])[α-ω](?![0-9a-z\u0370-\u03ff])")


def mentions(folded_text: str, folded_term: str) -> bool:
    """Tell whether a term occurs in a text in any form, as :func:`occurs` decides."""
    if occurs(folded_text, folded_term):
        return True
    return any(occurs(folded_text, form) for form in term_forms(folded_term)[1:])


@lru_cache(maxsize=2048)
def term_forms(folded_term: str) -> tuple[str, ...]:
    """Return a term, and its other forms.

    These have the last English word in the other number, or Greek letters as names and the reverse.
    """
    return tuple(dict.fromkeys((folded_term, *_numbers(folded_term), *greek_forms(folded_term))))


def _numbers(folded_term: str) -> Iterable[str]:
    """Return a term with its last English word in the other number, if it has one."""
    match = _LAST_WORD.search(folded_term)
    if match is None:
        return ()
    word, before = match.group(), folded_term[: match.start()]
    begin, endings = inflected(word)
    forms = [f"{begin}{ending}" for ending in endings]
    if word.endswith(_SILENT):
        forms.append(word[:-1])  # caches is the plural of cache, boxes of box
    numbers = (form for form in forms if form.endswith("ss") or not _NO_PLURAL.fullmatch(form))
    return [f"{before}{form}" for form in numbers]


def inflected(word: str) -> tuple[str, tuple[str, ...]]:
    """Return the common beginning of a word's forms, and their endings, the longest first."""
    if not word.isascii() or len(word) < len("ins"):
        return word, ()
    if word.endswith("ies") and len(word) > len("ties"):
        return word[:-3], ("ies", "y")
    if word.endswith("s"):
        if _NO_PLURAL.fullmatch(word):
            return (word, ("es", "")) if word.endswith("ss") else (word, ())
        if word.endswith(("sses", "shes", "ches", "xes", "zes")):
            return word[:-2], ("es", "")
        return word[:-1], ("s", "")
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1], ("ies", "y")
    if word.endswith(("sh", "ch", "x", "z")):
        return word, ("es", "")
    return word, ("s", "")


class TermSource(Protocol):
    """A tokenizer or a corpus."""

    def terms(self, text: str) -> Sequence[str]:
        """Return the terms of a text."""
        ...


def query_terms(source: TermSource, text: str) -> Sequence[str]:
    """Return the terms by which a text of a query is scored: its own, if it defines them."""
    own: Callable[[str], Sequence[str]] = getattr(source, "query_terms", source.terms)
    return own(text)


def form_finder(source: object, term: str) -> FormFinder | None:
    """Return the finder that a tokenizer or corpus has for a term's words, if it has one."""
    own: Callable[[str], FormFinder | None] | None = getattr(source, "form_finder", None)
    return own(term) if own else None


def letter_named(word: str) -> str | None:
    """Return the folded Greek letter that a folded word is, or is the name of, if it is one."""
    return word if word in _GREEK_NAMES else _GREEK_LETTERS.get(word)


def letter_names(letter: str) -> tuple[str, ...]:
    """Return the names of a folded Greek letter; none of anything else."""
    return _GREEK_NAMES.get(letter, ())


@lru_cache(maxsize=2048)
def greek_forms(folded_term: str) -> tuple[str, ...]:
    """Return a term with its Greek letters as names, or its names as letters, if it has any.

    Letters and names count as whole words; beside Japanese, letters do too.
    """
    letter = _GREEK_LETTER.search(folded_term)
    if letter:
        before, after = folded_term[: letter.start()], folded_term[letter.end() :]
        return tuple(f"{before}{name}{after}" for name in _GREEK_NAMES.get(letter.group(), ()))
    named = _GREEK_NAME.sub(lambda match: _GREEK_LETTERS[match.group(1)], folded_term)
    return () if named == folded_term else (named,)
