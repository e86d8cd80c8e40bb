"""Near spellings: what a manual writes instead of a term that it does not contain."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from fumishirube.corpus import Bool, Clause, Corpus, Part, Term
from fumishirube.text.folding import fold, is_cjk, is_hiragana, is_worded, runs, words

NEAR = 3
"""The most spellings that are returned."""

_SECTIONS = 30
_CHARACTERS = 4000
_SHORTEST, _SHORT = 2, 3
_LEAST, _LEAST_SHORT = 0.6, 0.5
_PIECE = 3
_ends_word = lru_cache(maxsize=4096)(is_worded)
_BREAKS = " 。、"
"""Characters that are in no run, so that runs can be found from behind one of them."""


class _Wanted(NamedTuple):
    """A folded term, and what another spelling of it must have.

    ``lengths`` are those of other spellings, ``least`` is their likeness, and ``shared`` the number
    of ``characters`` of the term that they have.
    """

    text: str
    lengths: range
    least: float
    shared: int
    characters: re.Pattern[str]

    @classmethod
    def of(cls, text: str) -> _Wanted:
        """Return what another spelling of a folded term must have."""
        slack = 1 if len(text) <= _SHORT else 2
        lengths = range(max(_SHORTEST, len(text) - slack), len(text) + slack + 1)
        least = _LEAST_SHORT if len(text) < _SHORT else _LEAST
        # Two texts at the distance d share as many characters as the longer one has, less d.
        shared = math.ceil(least * len(text) - 1e-6)
        characters = re.compile(f"[{''.join(map(re.escape, sorted({*text})))}]")
        return cls(text, lengths, least, shared, characters)


def near_spellings(term: str, corpus: Corpus) -> list[str]:
    """Return folded texts of the corpus that are spelled nearly like a term, the nearest first.

    They are searched in sections that share characters or parts of words with it. A spelling begins
    and ends at a border of a word or a script, or with the term's own first and last character.
    """
    from rapidfuzz.distance import Levenshtein  # noqa: PLC0415 - few searches need it: 10 ms
    from rapidfuzz.process import extract  # noqa: PLC0415 - the same

    wanted = fold(term)
    clause = _sharing(wanted, corpus)
    if clause is None:
        return []
    spelled = _Wanted.of(wanted)
    seen: Counter[str] = Counter()
    for match in corpus.search(clause, _SECTIONS):
        for text in match.passage.fields.values():
            seen.update(_candidates(text[:_CHARACTERS], spelled))
    likeness = Levenshtein.normalized_similarity
    near = extract(wanted, [*seen], scorer=likeness, limit=None, score_cutoff=spelled.least)
    if not is_hiragana(wanted[:1]):
        near = [match for match in near if not is_hiragana(match[0][:1])]
    near.sort(key=lambda match: (-match[1], -seen[match[0]], match[0]))
    return [text for text, _, _ in near[:NEAR]]


def _sharing(wanted: str, corpus: Corpus) -> Clause | None:
    """Return a clause for the sections that share something with the term."""
    parts: list[Clause] = [Term(term) for term in corpus.terms(wanted)]
    for run, japanese in words(wanted):
        parts += [Part(piece, None, 0.5) for piece in (run if japanese else _pieces(run))]
    return Bool(should=tuple(dict.fromkeys(parts))) if parts else None


def _pieces(word: str) -> set[str]:
    """Return the thirds of a word: a typing error leaves one of them unchanged."""
    size = max(_PIECE, len(word) // 3)
    return {word[at : at + size] for at in range(0, len(word) - size + 1, size)}


def _candidates(text: str, wanted: _Wanted) -> Iterator[str]:
    """Yield the parts of a text that may be another spelling, by their characters and borders."""
    for start, end in _stretches(text, wanted):
        edges = _edges(text, start, end)
        ends = edges | {at + 1 for at in _places(text, wanted.text[-1], start, end)}
        starts = edges | _places(text, wanted.text[0], start, end)
        # A spelling is a word or words: it has no mark at an end.
        starts = {at for at in starts if at < end and text[at].isalnum()}
        ends = {at for at in ends if at > start and _ends_word(text[at - 1])}
        for length in wanted.lengths:
            yield from [text[at : at + length] for at in starts if at + length in ends]


def _stretches(text: str, wanted: _Wanted) -> Sequence[tuple[int, int]]:
    """Return the bounds of the parts of a text with enough characters of a term close together."""
    places = [match.start() for match in wanted.characters.finditer(text)]
    longest = wanted.lengths[-1]
    stretches: list[tuple[int, int]] = []
    for left, right in zip(places, places[wanted.shared - 1 :], strict=False):
        if right - left >= longest:
            continue
        start, end = max(0, right - longest + 1), min(len(text), left + longest)
        if stretches and start <= stretches[-1][1]:
            start = stretches.pop()[0]
        stretches.append((start, end))
    counts = Counter(wanted.text).items()
    return [
        (start, end)
        for start, end in stretches
        if sum(min(most, text.count(character, start, end)) for character, most in counts)
        >= wanted.shared
    ]


def _edges(text: str, start: int, end: int) -> set[int]:
    """Return the borders of the runs between two places of a text."""
    first = max(text.rfind(mark, 0, start) for mark in _BREAKS) + 1
    edges: set[int] = set()
    for _, run, at in runs(text, first):
        if at > end:
            break
        edges |= {at, at + len(run)}
    return {edge for edge in edges if start <= edge <= end}


def _places(text: str, character: str, start: int, end: int) -> set[int]:
    """Return the places of a Japanese character; letters are no borders by themselves."""
    if not is_cjk(character):
        return set()
    return {place for place in range(start, end) if text[place] == character}
