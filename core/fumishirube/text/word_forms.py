"""Forms of words: English numbers, Greek letters, whole numbers, and those of a tokenizer."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from typing import Protocol, TypeAlias

from fumishirube.optional_attributes import FORM_FINDER, QUERY_TERMS, WRITTEN_BESIDE, WRITTEN_TERMS
from fumishirube.text.folding import occurs, words
from fumishirube.text.greek import greek_forms

_Written: TypeAlias = tuple[str, str, Collection[str]]
FormFinder: TypeAlias = Callable[[str], Sequence[str]]
"""A function that returns the words of a folded text that stand for a term, with repetitions."""

_NO_PLURAL = re.compile(
    r".{0,2}s|.*(?:ss|ous|sis)|always|axis|dns|does|gbps|https|lens|mips|news|oops|series|this|thus|tls"
)
"""Words that are no plural, and whose beginning is another word, or that are very frequent."""
_LAST_WORD = re.compile(r"(?<![^\W_])[a-z]{3,}\Z")
_ASCII_WORDS = re.compile(r"[0-9a-z]+")

BEFORE_NUMBER = r"(?<![0-9])(?<![0-9]\.)"
"""The pattern before the digits at which a text begins."""
_AFTER = "(?![0-9])"
_NO_DECIMALS = r"(?!\.[0-9]+(?!\.?[0-9]))"
_GROUPS = "(?:,[0-9]{3})"
_GROUPED = re.compile(
    r"(?:(?<=[^0-9,\n])(?<![-/:][0-9]{2}[-/:])(?<![0-9]\.)|(?<![^\n])(?![0-9,]+(?:\n|\Z)))"
    rf"(?:[1-9][0-9]?|[1-9][0-9]{{2}}(?={_GROUPS}*,0)){_GROUPS}+(?![0-9]|,\S)"
)
"""A number such as 30,000. A list is as likely where three digits begin and no group begins with 0.

Digits after a date, or that are a whole line, may be cells of a row.
"""
_LONGEST_BEFORE = 40
"""The most characters of a number before a place at which it is not cut."""


def mentions(folded_text: str, folded_term: str) -> bool:
    """Tell whether a term occurs in a text in any form, as :func:`occurs` decides."""
    if occurs(folded_text, folded_term):
        return True
    others = term_forms(folded_term)[1:]
    return bool(others) and any(occurs(folded_text, form) for form in others)


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
    forms = (f"{begin}{ending}" for ending in endings)
    numbers = (form for form in forms if form.endswith("ss") or not _NO_PLURAL.fullmatch(form))
    return [f"{before}{form}" for form in numbers]


def inflected(word: str) -> tuple[str, tuple[str, ...]]:
    """Return the common beginning of a word's forms, and their endings, the longest first."""
    if not word.isascii() or len(word) < len("ins"):
        return word, ()
    if word.endswith("ies") and len(word) > len("ties"):
        return word[:-3], ("ies", "ie", "y")  # cookies, policies
    if word.endswith("s"):
        if _NO_PLURAL.fullmatch(word):
            return (word, ("es", "")) if word.endswith("ss") else (word, ())
        if word.endswith(("sses", "shes")):
            return word[:-2], ("es", "")
        longer = len(word) > len("cases")
        if word.endswith(("ches", "xes", "zes")) or (longer and word.endswith("ses")):
            return word[:-2], ("es", "e", "")  # caches, boxes, statuses
        if word.endswith(("us", "as")):
            return word[:-1], ("ses", "s", "")  # status, CPUs
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
    own: Callable[[str], Sequence[str]] = QUERY_TERMS.of(source) or source.terms
    return own(text)


def form_finder(source: object, term: str) -> FormFinder | None:
    """Return the finder that a tokenizer or corpus has for a term's words, if it has one."""
    own: Callable[[str], FormFinder | None] | None = FORM_FINDER.of(source)
    return own(term) if own else None


def written_terms(source: TermSource, text: str) -> _Written:
    """Return what an index stores of a folded text, as :class:`fumishirube.Tokenizer` defines it.

    That is: its terms joined by spaces, the non-ASCII characters of the text that are in terms, and
    the terms of ASCII letters and digits that occur only as parts of words.
    """
    own: Callable[[str], _Written] | None = WRITTEN_TERMS.of(source)
    if own is not None:
        return own(text)
    terms = source.terms(text)
    known = set[str]() if text.isascii() else set(text).intersection("".join(terms))
    # Equals `words` on folded ASCII. The pattern for all scripts would take a quarter more time.
    latin = _ASCII_WORDS.findall(text) if text.isascii() else [word for word, _ in words(text)]
    mere = {term for term in terms if term.isascii() and term.isalnum()}.difference(latin)
    return " ".join(terms), "".join(c for c in known if not c.isascii()), mere


def written_beside(
    source: TermSource, text: str, others: Collection[str]
) -> tuple[_Written, Collection[str]]:
    """Return what :func:`written_terms` returns, and which of other terms are not among them."""
    if own := WRITTEN_BESIDE.of(source):
        both: tuple[_Written, Collection[str]] = own(text, others)
        return both
    written = written_terms(source, text)
    return written, set(others).difference(written[0].split())


def after_number(*, dotted: bool) -> str:
    """Return the pattern after the digits at which a text ends; ``dotted`` as in 2.1.

    A number is not cut at its decimal point, but 2.1 may be the beginning of 2.1.3.
    """
    return _AFTER if dotted else _AFTER + _NO_DECIMALS


def cuts_number(text: str, start: int, end: int) -> bool:
    """Tell whether a part of a text begins or ends beside a comma in a number such as 30,000."""
    return (text[start - 1 : start] == "," and _in_number(text, start)) or (
        text[end : end + 1] == "," and _in_number(text, end)
    )


def _in_number(text: str, place: int) -> bool:
    before = text[max(0, place - _LONGEST_BEFORE) : place]
    begin = place - len(before) + len(before.rstrip("0123456789,"))
    number = _GROUPED.match(text, begin)
    return number is not None and begin < place < number.end()
