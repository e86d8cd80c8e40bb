"""The corpus: clauses, their meaning, and the interface of what answers them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from operator import attrgetter
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

from fumishirube.model import Passage
from fumishirube.text.folding import fold, words
from fumishirube.text.projections import Projection, TextForm, project
from fumishirube.text.word_forms import FormFinder, TermSource, form_finder, mentions, query_terms

# --- clauses --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Term:
    """A term of the tokenizer, in one field; ``field=None`` means any field."""

    term: str
    field: str | None = None
    boost: float = 1.0


@dataclass(frozen=True)
class Phrase:
    """Terms that follow each other in one field; ``field=None`` means any field.

    A phrase of one term equals that term; a phrase without terms matches nothing.
    """

    terms: tuple[str, ...]
    field: str | None = None
    boost: float = 1.0


@dataclass(frozen=True)
class Part:
    """Terms that contain a text, in one field or any: how to find parts of words."""

    text: str
    field: str | None = None
    boost: float = 1.0


@dataclass(frozen=True)
class Holds:
    """A text that occurs, folded, in any field, as :func:`fumishirube.text.mentions` decides."""

    text: str


@dataclass(frozen=True)
class Bool:
    """All of ``must``, none of ``must_not``, and one of ``should`` if ``must`` is empty.

    With ``must_not`` alone it matches all other sections; an empty one matches nothing.
    """

    should: tuple[Clause, ...] = ()
    must: tuple[Clause, ...] = ()
    must_not: tuple[Clause, ...] = ()


@dataclass(frozen=True)
class Pages:
    """Sections of any of these paths."""

    paths: tuple[str, ...]


@dataclass(frozen=True)
class Everything:
    """Every section."""


Clause: TypeAlias = Term | Phrase | Part | Holds | Bool | Pages | Everything


# --- the corpus -----------------------------------------------------------------------------


class Count(NamedTuple):
    """A number of sections; ``at_least`` if counting stopped at a cap."""

    number: int
    at_least: bool = False

    @classmethod
    def capped(cls, number: int, cap: int | None) -> Count:
        """Return a number, or the cap if the number is greater."""
        return cls(number) if cap is None or number <= cap else cls(cap, at_least=True)


class IndexMatch(NamedTuple):
    """A passage that matches a clause, with the index's own estimate of its score."""

    passage: Passage
    estimate: float


class ScoreCutoff(NamedTuple):
    """The lowest estimate of a match after the first ``sure``, as a share of the best estimate."""

    sure: int = 0
    share: float = 0.0

    def apply(self, matches: Sequence[IndexMatch]) -> Sequence[IndexMatch]:
        """Return the matches above the cut-off, given all matches sorted best first."""
        least = self.share * matches[0].estimate if matches else 0.0
        return [
            match
            for place, match in enumerate(matches)
            if place < self.sure or match.estimate >= least
        ]


@runtime_checkable
class Corpus(Protocol):
    """The sections of one manual at one moment, and everything that stages may read of it.

    Every corpus gives a clause the meaning that it has in a :class:`SequenceCorpus`. Sections
    without a body are stored and counted, but not searched.
    """

    @property
    def manual_id(self) -> str:
        """The manual's id."""
        ...

    @property
    def size(self) -> int:
        """The number of searched sections."""
        ...

    def terms(self, text: str) -> Sequence[str]:
        """Return the terms of a text, as they are in the index."""
        ...

    def search(
        self, clause: Clause, limit: int, cutoff: ScoreCutoff | None = None
    ) -> Sequence[IndexMatch]:
        """Return the best matches of a clause, best first, ties by path and line.

        Which of over 30 ties are within the limit is for the index to choose, always alike.
        A cut-off saves reading matches that would be dropped.
        """
        ...

    def count(self, clause: Clause, cap: int | None = None, *, searched: bool = False) -> Count:
        """Count the sections that match a clause, up to a cap if one is given.

        Sections without a body are counted here and in ``frequencies``, but not in ``size``. With
        ``searched`` they are not counted here either.
        """
        ...

    def frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        """Return the exact number of live sections with each term, in any field."""
        ...

    def average_length(self, field: str) -> float:
        """Return the mean number of characters of a field over the searched sections."""
        ...

    def page(self, path: str) -> Sequence[Passage]:
        """Return the passages of one file, in order."""
        ...


# --- what a clause means --------------------------------------------------------------------


class PassageTerms:
    """A passage and the terms of its fields; each field is tokenized on first use."""

    __slots__ = ("_known", "_terms_of", "passage")

    def __init__(self, passage: Passage, terms_of: Callable[[str], Sequence[str]]) -> None:
        self.passage = passage
        self._terms_of = terms_of
        self._known: dict[str, tuple[str, ...]] = {}

    def terms(self, field: str | None = None) -> Sequence[tuple[str, ...]]:
        """Return the terms of one field, or of each field; a missing field has none."""
        fields = self.passage.fields
        return [self._of(name) for name in fields if field is None or field == name]

    def _of(self, name: str) -> tuple[str, ...]:
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = tuple(self._terms_of(self.passage.fields[name]))
        return known


def matches(clause: Clause, section: PassageTerms) -> bool:
    """Tell whether a section matches a clause: the one definition of what clauses mean."""
    match clause:
        case Term(term, field):
            return any(term in terms for terms in section.terms(field))
        case Phrase(phrase, field):
            return any(_follow(terms, phrase) for terms in section.terms(field))
        case Part(text, field):
            return any(text in term for terms in section.terms(field) for term in terms)
        case Holds(text):
            folded = fold(text)
            return any(mentions(value, folded) for value in section.passage.fields.values())
        case Bool(should, must, must_not):
            optional = bool(must) or (bool(must_not) and not should)
            return (
                all(matches(part, section) for part in must)
                and not any(matches(part, section) for part in must_not)
                and (optional or any(matches(part, section) for part in should))
            )
        case Pages(paths):
            return section.passage.path in paths
        case Everything():
            return True


def _follow(terms: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    width = len(phrase)
    return width > 0 and any(
        terms[at : at + width] == phrase for at in range(len(terms) - width + 1)
    )


def plain_terms(folded: str) -> Sequence[str]:
    """Return the words of a folded text, and the overlapping pairs of its Japanese characters."""
    terms: list[str] = []
    for word, japanese in words(folded):
        pairs = japanese and len(word) > 1
        terms += map("".join, pairwise(word)) if pairs else [word]
    return terms


class SequenceCorpus:
    """Passages in memory, read one by one: exact for every clause, fast for some thousands.

    ``terms_of`` divides a folded text into terms, as a tokenizer does; the default makes words and
    pairs of Japanese characters. Estimates follow the rarity and the number of a term; those of
    other clauses are 1. A ``tokenizer`` may define further terms for scoring.
    """

    def __init__(
        self,
        passages: Iterable[Passage] = (),
        terms_of: Callable[[str], Sequence[str]] | None = None,
        manual_id: str = "manual",
        tokenizer: TermSource | None = None,
    ) -> None:
        self._source = passages
        self._tokenizer = tokenizer
        self._terms_of = terms_of or plain_terms
        self.manual_id = manual_id

    @cached_property
    def passages(self) -> Sequence[Passage]:
        """Every passage, by path and line."""
        return sorted(self._source, key=attrgetter("key"))

    @property
    def size(self) -> int:
        """The number of searched passages: those with a body."""
        return len(self._searched)

    def terms(self, text: str) -> Sequence[str]:
        """Return the terms of a text, folded first."""
        return self._terms_of(fold(text))

    def query_terms(self, text: str) -> Sequence[str]:
        """Return the terms by which a text of a query is scored."""
        return query_terms(self._tokenizer, fold(text)) if self._tokenizer else self.terms(text)

    def form_finder(self, term: str) -> FormFinder | None:
        """Return a function that finds the words of a term, or ``None`` for literal matches."""
        return form_finder(self._tokenizer, term)

    def search(
        self, clause: Clause, limit: int, cutoff: ScoreCutoff | None = None
    ) -> Sequence[IndexMatch]:
        """Return the best matches of a clause, best first, ties by path and line."""
        present = [section for section in self._searched if matches(clause, section)]
        matched = [IndexMatch(item.passage, self._estimate(clause, item)) for item in present]
        matched.sort(key=lambda match: -match.estimate)  # already in the order of path and line
        return cutoff.apply(matched[:limit]) if cutoff else matched[:limit]

    def count(self, clause: Clause, cap: int | None = None, *, searched: bool = False) -> Count:
        """Count the passages that match a clause, up to a cap if one is given."""
        among = self._searched if searched else self._sections
        return Count.capped(sum(matches(clause, section) for section in among), cap)

    def frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        """Return how many passages contain each term, in any field."""
        return {term: self._frequencies[term] for term in terms}

    def average_length(self, field: str) -> float:
        """Return the mean number of characters of a field over the searched passages."""
        lengths = [len(section.passage.fields.get(field, "")) for section in self._searched]
        return sum(lengths) / len(lengths) if lengths else 0.0

    def page(self, path: str) -> Sequence[Passage]:
        """Return the passages of one file, in order."""
        return [passage for passage in self.passages if passage.path == path]

    @cached_property
    def _sections(self) -> Sequence[PassageTerms]:
        return [PassageTerms(passage, self._terms_of) for passage in self.passages]

    @cached_property
    def _searched(self) -> Sequence[PassageTerms]:
        return [section for section in self._sections if section.passage.fields.get("body")]

    @cached_property
    def _frequencies(self) -> Counter[str]:
        return Counter(term for item in self._sections for term in {*chain(*item.terms())})

    def _estimate(self, clause: Clause, section: PassageTerms) -> float:
        """Return the estimate of a matching passage."""
        match clause:
            case Term(term, field, boost):
                number = sum(terms.count(term) for terms in section.terms(field))
                return self._rarity(term) * boost * number
            case Phrase(terms, _, boost):
                return sum(map(self._rarity, terms)) * boost
            case Part(text, field, boost):
                distinct = frozenset().union(*section.terms(field))
                return sum(text in term for term in distinct) * boost
            case Bool(should, must):
                matched = (part for part in should if matches(part, section))
                return sum(self._estimate(part, section) for part in (*must, *matched))
            case _:
                return 1.0

    def _rarity(self, term: str) -> float:
        return math.log(1 + self.size / (self._frequencies[term] + 1))


# --- corpora that can be read through -------------------------------------------------------


class PassageText(Protocol):
    """The own text of a passage, in the forms in which it is searched."""

    @property
    def passage(self) -> Passage:
        """The passage."""
        ...

    @property
    def own(self) -> str:
        """The text as in the file."""
        ...

    def form(self, form: TextForm) -> Projection:
        """Return the text in a form."""
        ...


@runtime_checkable
class TextCorpus(Protocol):
    """A corpus whose texts can be read from beginning to end."""

    def texts(self) -> Iterable[PassageText]:
        """Return the text of every passage, in the order of the manual."""
        ...


def texts_of(corpus: Corpus) -> Iterable[PassageText]:
    """Return every text of a corpus; folded ones if it has no others."""
    if isinstance(corpus, TextCorpus):
        return corpus.texts()
    everything = corpus.search(Everything(), corpus.size)
    return map(_FoldedText, sorted((match.passage for match in everything), key=attrgetter("key")))


@dataclass(frozen=True)
class _FoldedText:
    passage: Passage

    @property
    def own(self) -> str:
        return self.passage.fields["body"]

    def form(self, form: TextForm) -> Projection:
        return project(self.own, form)
