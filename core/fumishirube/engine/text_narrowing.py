"""Excludes files by the index, so that a search through texts reads few of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from fumishirube.corpus import Bool, Clause, Corpus, Part, Term
from fumishirube.documents import EMPTY_MAPPING
from fumishirube.engine.indexed_files import words_beside
from fumishirube.errors import IndexDamaged
from fumishirube.model import Passage
from fumishirube.stages import IndexedFile, Tokenizer
from fumishirube.text.folding import fold, is_cjk
from fumishirube.text.readings import Reading

_SHORTEST = 3
"""Shorter parts of words are in too many terms for the index to search."""
_SECTIONS = 500
_SHARE = 0.05
"""If more sections, and more than this share of all, match, reading every file costs less."""


class Candidates(NamedTuple):
    """The indexed files in which a reading may match, with the sections that match."""

    paths: AbstractSet[str]
    passages: Mapping[str, Sequence[Passage]] = EMPTY_MAPPING


def candidates(
    readings: Sequence[Reading],
    corpus: Corpus,
    tokenizer: Tokenizer | None,
    pages: Mapping[str, IndexedFile],
) -> Candidates:
    """Return the indexed files in which one of the readings may match; no other file matches.

    If the index cannot decide, all files are returned.
    """
    if tokenizer is None or not readings:
        return Candidates(pages.keys())
    clauses = [dict(_clauses(reading, tokenizer)) for reading in readings]
    matching = _matching(corpus, [tuple(by_stem.values()) for by_stem in clauses])
    if matching is None:
        return Candidates(pages.keys())
    passages: defaultdict[str, list[Passage]] = defaultdict(list)
    for passage in matching:
        passages[passage.path].append(passage)
    stems = {stem for by_stem in clauses for stem in by_stem}
    beside = {path for path, page in pages.items() if _may_hold(page, stems)}
    return Candidates(beside | passages.keys(), passages)


def _may_hold(page: IndexedFile, stems: Collection[str]) -> bool:
    """Tell whether a file may contain a stem outside its passages; with an older record it may."""
    beside = words_beside(page)
    return beside is None or any(stem in beside for stem in stems)


def _matching(corpus: Corpus, readings: Sequence[tuple[Clause, ...]]) -> list[Passage] | None:
    """Return the sections that match all clauses of a reading; ``None`` if there are many."""
    if not all(readings):
        return None
    most = max(_SECTIONS, int(corpus.size * _SHARE))
    clause = Bool(should=tuple(Bool(must=clauses) for clauses in readings))
    try:
        # Counting them first takes as long as the search.
        matches = corpus.search(clause, most + 1)
    except IndexDamaged:  # the next search rebuilds it; this one reads the files
        return None
    return None if len(matches) > most else [match.passage for match in matches]


def _clauses(reading: Reading, tokenizer: Tokenizer) -> Iterator[tuple[str, Clause]]:
    """Yield the stems that the index can search, each with a clause that is necessary for it."""
    for stem in map(fold, reading.stems):
        if all(map(is_cjk, stem)) or getattr(tokenizer, "inside", False):
            yield stem, tokenizer.narrow(stem)[0]
        elif stem.isdecimal() and not reading.exact:
            if stem in tokenizer.terms(f"ab{stem}cd"):
                yield stem, Term(stem)
        elif len(stem) >= _SHORTEST and f"ab{stem}cd" in tokenizer.terms(f"x ab{stem}cd y"):
            yield stem, Part(stem)
