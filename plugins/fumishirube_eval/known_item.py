"""Known items: cases made from the user's own manuals, the same every time and without a model.

A section that is known to be there is looked for by its own words, and has to be found. What is
taken from it stands in no other section of its manual, so that there is one right answer.
"""

from __future__ import annotations

import logging
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from fumishirube import Document, Manual, NotFound
from fumishirube.text import fold, nfc, runs
from fumishirube_eval.cases import Case

SENTENCE, RARE, SHARED = "sentence", "rare", "shared"
"""The facets: a sentence as it stands; the section's rarest words, of which one stands in it
alone; and words that others have too, though none of them has all."""

SHORTEST_SENTENCE, LONGEST_SENTENCE = 10, 160
SHORTEST_WORD, LONGEST_WORD = 2, 40

_LOG = logging.getLogger("fumishirube")
_QUERY_WORDS = 3
_REQUIRED = 2
_SCRIPTS = frozenset({"han", "katakana", "word"})

_SENTENCE_ENDS = re.compile(r"(?<=[。！？!?])|(?<=\.)\s|\n(?=\s*(?:\n|[-*+>|#（(]|\d+[.)]))")
_LIST_MARK = re.compile(r"^\s*(?:[-*+>]|\d+[.)]|[（(][^）)]{1,4}[）)])\s*")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_EMPHASIS = re.compile(r"[*_]{2,}|(?<!\w)[*_]|[*_](?!\w)")
_NO_PROSE = re.compile(r"[|<>`~={}#]|//")


class _CandidateSection(NamedTuple):
    """A section by its number in its manual, and in which sections there each word stands."""

    manual_id: str
    path: str
    start_line: int
    text: str
    number: int
    holders: Mapping[str, Sequence[int]]

    @property
    def words(self) -> list[str]:
        """The words of the text, the rarest first; among equals the longest."""
        return self.rarest_first(words_of(self.text))

    def rarest_first(self, words: Sequence[str]) -> list[str]:
        """Order words by how few sections have them, then by length."""
        return sorted(words, key=lambda word: (len(self.holders[word]), -len(word)))

    def is_own(self, words: Sequence[str]) -> bool:
        """Tell whether no other section has all of these words."""
        common = set.intersection(*(set(self.holders[word]) for word in words))
        return common == {self.number}


def known_items(manuals: Sequence[Manual], size: int) -> list[Case]:
    """Return up to ``size`` cases, spread evenly over all sections of these manuals.

    There are fewer when parts of the manuals have no section that can be told from all others.

    Raises:
        NotFound: when there is no such section at all.
    """
    spots = [spot for manual in manuals for spot in _candidate_sections(manual)]
    size = min(size, len(spots))
    cases = []
    for number in range(size):
        stretch = spots[number * len(spots) // size : (number + 1) * len(spots) // size]
        # The middle of a stretch goes first: its beginning is too often that of a file.
        ordered = sorted(range(len(stretch)), key=lambda n: abs(2 * n - len(stretch)))
        made = (_case(stretch[n], _FACETS[number % len(_FACETS)]) for n in ordered)
        cases += [case for case in [next(filter(None, made), None)] if case]
    if not cases:
        raise NotFound("no section of these manuals can be told from the others by its words")
    return cases


def words_of(text: str) -> list[str]:
    """Return the words of a text, folded, each once and in order.

    A word is a run of kanji, of katakana, or of other letters and digits; a number is none.
    """
    # Part by part, because folding joins Japanese words across spaces and ends of lines.
    word_runs = (run for part in text.split() for run in runs(fold(part)))
    return list(dict.fromkeys(run for script, run, _ in word_runs if _is_word(script, run)))


def sentences(text: str) -> Iterator[str]:
    """Yield what reads as prose, sentence by sentence, without marks of lists and emphasis."""
    for part in _SENTENCE_ENDS.split(text):
        bare = _EMPHASIS.sub("", _LINK.sub(r"\1", _LIST_MARK.sub("", part)))
        sentence = " ".join(bare.split())
        long_enough = SHORTEST_SENTENCE <= len(sentence) <= LONGEST_SENTENCE
        if long_enough and not _NO_PROSE.search(sentence):
            yield sentence


def _candidate_sections(manual: Manual) -> list[_CandidateSection]:
    """Return the sections of a manual that have a text, in order."""
    holders: defaultdict[str, list[int]] = defaultdict(list)
    spots: list[_CandidateSection] = []
    for document in _documents(manual):
        path = nfc(document.path)
        for section in document.sections:
            own = document.text[section.body : section.end]
            text = own if section.searched is None else section.searched
            for word in words_of(f"{section.title}\n{text}"):
                holders[word].append(len(spots))
            spots.append(
                _CandidateSection(manual.id, path, section.start_line, text, len(spots), holders)
            )
    return [spot for spot in spots if spot.text.strip()]


def _documents(manual: Manual) -> Iterator[Document]:
    for path in manual.paths():
        try:
            document = manual.document(path)
        except Exception:
            # The index skips such a file too, and tells of it.
            _LOG.debug("a file is passed over", exc_info=True)
            continue
        if not document.navigation:
            yield document


def _case(spot: _CandidateSection, facet: str) -> Case | None:
    """Make the case of a section: of this facet, else of the next that it is good for, if any."""
    place = _FACETS.index(facet)
    for facet_name in (*_FACETS[place:], *_FACETS[:place]):
        query = _QUERIES[facet_name](spot)
        if query is not None:
            words = spot.rarest_first(words_of(query))
            return Case(
                case_id=f"{spot.manual_id}/{spot.path}#L{spot.start_line}",
                facet=facet_name,
                query=query,
                manual_id=spot.manual_id,
                required_terms=tuple(words[:_REQUIRED]),
                expected_paths=(spot.path,),
                expected_lines=((spot.path, spot.start_line),),
            )
    return None


def _sentence(spot: _CandidateSection) -> str | None:
    """Return the first sentence with the rarest of the words that stand in this section alone."""
    for word in spot.words:
        if not spot.is_own([word]):
            return None
        for sentence in sentences(spot.text):
            if word in words_of(sentence):
                return sentence
    return None


def _rare(spot: _CandidateSection) -> str | None:
    words = spot.words[:_QUERY_WORDS]
    return _as_written(words, spot) if words and spot.is_own(words[:1]) else None


def _shared(spot: _CandidateSection) -> str | None:
    words = [word for word in spot.words if not spot.is_own([word])][:_QUERY_WORDS]
    return _as_written(words, spot) if words and spot.is_own(words) else None


def _as_written(words: Sequence[str], spot: _CandidateSection) -> str:
    """Join words by spaces, in the order of the text."""
    return " ".join(word for word in words_of(spot.text) if word in words)


def _is_word(script: str, run: str) -> bool:
    return script in _SCRIPTS and SHORTEST_WORD <= len(run) <= LONGEST_WORD and not run.isnumeric()


_QUERIES: Mapping[str, Callable[[_CandidateSection], str | None]] = {
    SENTENCE: _sentence,
    RARE: _rare,
    SHARED: _shared,
}
_FACETS = tuple(_QUERIES)
