"""Words with the same meaning: which of them a text has, and the text with others instead."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from fumishirube.text.folding import JOINED, fold, occurs

_WORD_BEFORE, _WORD_AFTER = f"(?<![^\\W_{JOINED}])", f"(?![^\\W_{JOINED}])"
_JOINED = f"[{JOINED}]"  # compiled at its first use: that takes 3 ms


class Synonyms(NamedTuple):
    """A folded word, and others with its meaning, the first of which is the most usual."""

    word: str
    others: tuple[str, ...]


def synonyms_in(text: str, meanings: Mapping[str, Sequence[str]]) -> tuple[Synonyms, ...]:
    """Return the words of a text that have synonyms, in order, without synonyms that it has too.

    Of words that overlap, the longest counts. The keys of ``meanings`` are folded words. Words of
    letters are whole words, Japanese and the like may be parts of longer words.
    """
    folded = fold(text)
    present = tuple(word for word in meanings if word in folded and occurs(folded, word))
    ordered = dict.fromkeys(match.group() for match in _pattern(present).finditer(folded))
    rows = (
        Synonyms(word, tuple(o for o in meanings[word] if not occurs(folded, fold(o))))
        for word in ordered
    )
    return tuple(row for row in rows if row.others)


def replace_synonyms(text: str, synonyms: Iterable[Synonyms], number: int = 0) -> str:
    """Return a text, folded, with the synonym of this number instead of each word; else the text.

    A word with fewer synonyms is replaced by its last one.
    """
    others = {word: others[min(number, len(others) - 1)] for word, others in synonyms}
    folded = fold(text)
    replaced = _pattern(tuple(others)).sub(lambda match: others[match.group()], folded)
    return text if replaced == folded else replaced


@lru_cache(maxsize=256)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern of any of some folded words, the longest first."""
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    return re.compile("|".join(map(_alone, longest_first)) or "(?!)")


def _alone(word: str) -> str:
    before = "" if re.compile(_JOINED).match(word[0]) else _WORD_BEFORE
    after = "" if re.compile(_JOINED).match(word[-1]) else _WORD_AFTER
    return f"{before}{re.escape(word)}{after}"
