"""Known-item cases, made from the user's own manuals; deterministic and without a model.

A case searches for a section by its own words. The words of a query occur together in no other
section of the manual, so that there is exactly one right answer.
"""

from __future__ import annotations

import itertools
import logging
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from fumishirube import Document, Manual, NotFound
from fumishirube.text import fold, nfc, runs
from fumishirube_eval.cases import Case

SENTENCE, RARE, SHARED = "sentence", "rare", "shared"
"""The facets: a sentence of the section; its rarest words, one of which occurs nowhere else; and
words that other sections share, but not all in one section."""

SHORTEST_SENTENCE, LONGEST_SENTENCE = 10, 160
SHORTEST_WORD, LONGEST_WORD = 2, 40

_LOG = logging.getLogger("fumishirube")
_QUERY_WORDS = 3
_REQUIRED = 2
_SCRIPTS = frozenset({"han", "katakana", "word"})

_SENTENCE_ENDS = re.compile(r"(?<=[。！？!?])|(?<=\.)\s|\n(?=[^\S\n]*(?:\n|[-*+>|#（(]|\d+[.)]))")
_LIST_MARK = re.compile(r"^\s*(?:[-*+>]|\d+[.)]|[（(][^）)]{1,4}[）)])\s*")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\((?:[^()]++|\([^()]*+\))*+\)")
_EMPHASIS = re.compile(r"[*_]{2,}|(?<!\w)[*_]|[*_](?!\w)")
_NO_PROSE = re.compile(r"[|<>`~={}#]|//")


class _CandidateSection(NamedTuple):
    """A section by its number in the manual, and the sections that contain each of its words."""

    manual_id: str
    path: str
    start_line: int
    text: str
    number: int
    holders: Mapping[str, Sequence[int]]

    @property
    def words(self) -> list[str]:
        """The words of the text, the rarest first; then the longest."""
        return self.rarest_first(words_of(self.text))

    def rarest_first(self, words: Sequence[str]) -> list[str]:
        """Order words by the number of sections that contain them, then by length."""
        return sorted(words, key=lambda word: (len(self.holders[word]), -len(word)))

    def is_own(self, words: Sequence[str]) -> bool:
        """Return whether no other section contains all of these words."""
        common = set.intersection(*(set(self.holders[word]) for word in words))
        return common == {self.number}


def known_items(manuals: Sequence[Manual], size: int) -> list[Case]:
    """Return up to ``size`` cases, spread evenly over all sections of these manuals.

    There are fewer where sections cannot be distinguished by their words.

    Raises:
        NotFound: when there is no usable section at all.
    """
    sections = [section for manual in manuals for section in _candidate_sections(manual)]
    size = min(size, len(sections))
    cases = []
    for number in range(size):
        stretch = sections[number * len(sections) // size : (number + 1) * len(sections) // size]
        # Begin in the middle of an interval: its start is often the start of a file.
        ordered = sorted(range(len(stretch)), key=lambda n: abs(2 * n - len(stretch)))
        made = (_case(stretch[n], number % len(_FACETS)) for n in ordered)
        cases += [case for case in [next(filter(None, made), None)] if case]
    if not cases:
        raise NotFound("no section of these manuals differs from all others in its words")
    return cases


def words_of(text: str) -> list[str]:
    """Return the words of a text, folded, each once and in order.

    A word is a run of kanji, of katakana, or of other letters and digits; numbers are excluded.
    """
    # In parts, because folding joins Japanese words across spaces and line ends.
    word_runs = (run for part in text.split() for run in runs(fold(part)))
    return list(dict.fromkeys(run for script, run, _ in word_runs if _is_word(script, run)))


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, without the markup of lists and emphasis."""
    for part in _SENTENCE_ENDS.split(text):
        bare = _EMPHASIS.sub("", _LINK.sub(r"\1", _LIST_MARK.sub("", part)))
        sentence = " ".join(bare.split())
        long_enough = SHORTEST_SENTENCE <= len(sentence) <= LONGEST_SENTENCE
        if long_enough and not _NO_PROSE.search(sentence):
            yield sentence


def _candidate_sections(manual: Manual) -> list[_CandidateSection]:
    """Return the sections of a manual with text, in order."""
    holders: defaultdict[str, list[int]] = defaultdict(list)
    sections: list[_CandidateSection] = []
    for document in _documents(manual):
        path = nfc(document.path)
        for parsed in document.sections:
            own = document.text[parsed.body : parsed.end]
            text = own if parsed.searched is None else parsed.searched
            for word in words_of(f"{parsed.title}\n{text}"):
                holders[word].append(len(sections))
            sections.append(
                _CandidateSection(manual.id, path, parsed.start_line, text, len(sections), holders)
            )
    return [section for section in sections if section.text.strip()]


def _documents(manual: Manual) -> Iterator[Document]:
    for path in manual.paths():
        try:
            document = manual.document(path)
        except Exception:
            # The index skips such a file too, and reports it.
            _LOG.debug("a file was skipped", exc_info=True)
            continue
        if not document.navigation:
            yield document


def _case(section: _CandidateSection, place: int) -> Case | None:
    """Make a case of a section: with the facet at a place, else the next one that is possible."""
    for facet_name in (*_FACETS[place:], *_FACETS[:place]):
        query = _QUERIES[facet_name](section)
        if query is not None:
            words = section.rarest_first(words_of(query))
            return Case(
                case_id=f"{section.manual_id}/{section.path}#L{section.start_line}",
                facet=facet_name,
                query=query,
                manual_id=section.manual_id,
                required_terms=tuple(words[:_REQUIRED]),
                expected_paths=(section.path,),
                expected_lines=((section.path, section.start_line),),
            )
    return None


def _sentence(section: _CandidateSection) -> str | None:
    """Return the first sentence with the rarest word that occurs only in this section."""
    ordered = section.words
    known = frozenset(ordered)
    first: dict[str, str] = {}
    for sentence in sentences(section.text):
        words = words_of(sentence)
        # Without markup inside of a word, a sentence has one that the section does not have.
        if known.issuperset(words):
            first.update((word, sentence) for word in words if word not in first)
    own = itertools.takewhile(lambda word: section.is_own([word]), ordered)
    return next((first[word] for word in own if word in first), None)


def _rare(section: _CandidateSection) -> str | None:
    words = section.words[:_QUERY_WORDS]
    return _as_written(words, section) if words and section.is_own(words[:1]) else None


def _shared(section: _CandidateSection) -> str | None:
    words = [word for word in section.words if not section.is_own([word])][:_QUERY_WORDS]
    return _as_written(words, section) if words and section.is_own(words) else None


def _as_written(words: Sequence[str], section: _CandidateSection) -> str:
    """Join words by spaces, in the order of the text."""
    return " ".join(word for word in words_of(section.text) if word in words)


def _is_word(script: str, run: str) -> bool:
    return script in _SCRIPTS and SHORTEST_WORD <= len(run) <= LONGEST_WORD and not run.isnumeric()


_QUERIES: Mapping[str, Callable[[_CandidateSection], str | None]] = {
    SENTENCE: _sentence,
    RARE: _rare,
    SHARED: _shared,
}
_FACETS = tuple(_QUERIES)
