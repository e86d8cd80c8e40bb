"""Near spellings: what a manual writes instead of a term that it does not contain."""

from __future__ import annotations

import re
from collections import Counter

from fumishirube.corpus import Bool, Clause, Corpus, Part, Term
from fumishirube.model import Passage
from fumishirube.text.folding import fold, is_cjk, is_worded, runs, words

NEAR = 3
"""The most spellings that are returned."""

_SECTIONS = 30
_CHARACTERS = 4000
_SHORTEST, _SHORT = 2, 3
_LEAST, _LEAST_SHORT = 0.6, 0.5
_PIECE = 3
_HIRAGANA = re.compile(r"[\u3041-\u309f]")


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
    matches = corpus.search(clause, _SECTIONS)
    seen: Counter[str] = Counter()
    for match in matches:
        seen.update(_candidates(match.passage, wanted))
    least = _LEAST_SHORT if len(wanted) < _SHORT else _LEAST
    likeness = Levenshtein.normalized_similarity
    near = extract(wanted, [*seen], scorer=likeness, limit=None, score_cutoff=least)
    near = [match for match in near if _is_worded(match[0], wanted)]  # most texts are not near
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


def _candidates(passage: Passage, wanted: str) -> list[str]:
    """Return the texts of a passage that may be another spelling, by their borders."""
    slack = 1 if len(wanted) <= _SHORT else 2
    lengths = range(max(_SHORTEST, len(wanted) - slack), len(wanted) + slack + 1)
    spelled: list[str] = []
    for text in passage.fields.values():
        shown = text[:_CHARACTERS]
        edges = {place for _, run, at in runs(shown) for place in (at, at + len(run))}
        ends = edges | {at + 1 for at in _places(shown, wanted[-1])}
        starts = edges | _places(shown, wanted[0])
        spelled += [
            shown[start : start + length]
            for length in lengths
            for start in starts
            if start + length in ends
        ]
    return spelled


def _is_worded(text: str, wanted: str) -> bool:
    """Tell whether a text is a word or words: no mark at an end, no particle at the beginning."""
    if not (text[0].isalnum() and is_worded(text[-1])):
        return False
    return not _HIRAGANA.match(text) or bool(_HIRAGANA.match(wanted))


def _places(text: str, character: str) -> set[int]:
    """Return the positions of a Japanese character; letters are no borders by themselves."""
    if not is_cjk(character):
        return set()
    return {place for place, letter in enumerate(text) if letter == character}
