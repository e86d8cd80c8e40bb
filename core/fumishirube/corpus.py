"""What a stage may ask of a manual: clauses, what each of them means, and who answers them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

from fumishirube.model import Passage
from fumishirube.text.folding import fold, words
from fumishirube.text.projections import Projection, TextForm, project
from fumishirube.text.word_forms import mentions

# --- clauses --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Term:
    """A term as the tokenizer makes it, in one field; ``field=None`` means in any of them."""

    term: str
    field: str | None = None
    boost: float = 1.0


@dataclass(frozen=True)
class Phrase:
    """Terms that follow each other, in one field; ``field=None`` means in any of them.

    A phrase of one term is that term; a phrase without terms is nowhere.
    """

    terms: tuple[str, ...]
    field: str | None = None
    boost: float = 1.0


@dataclass(frozen=True)
class Part:
    """Terms that have a text as a part, in one field or any: the way to find less than a term."""

    text: str
    field: str | None = None
    boost: float = 1.0


@dataclass(frozen=True)
class Holds:
    """A text that stands, folded, in any field, as :func:`fumishirube.text.mentions` decides."""

    text: str


@dataclass(frozen=True)
class Bool:
    """All of ``must``, none of ``must_not``, and one of ``should`` when nothing must.

    With ``must_not`` alone it is everything else; empty, it is nothing.
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
    """How many; ``at_least`` when counting stopped at a cap."""

    number: int
    at_least: bool = False

    @classmethod
    def capped(cls, number: int, cap: int | None) -> Count:
        """Return a number, or the cap when the number is greater."""
        return cls(number) if cap is None or number <= cap else cls(cap, at_least=True)


class IndexMatch(NamedTuple):
    """A passage that a clause matched, with the index's own estimate of its worth."""

    passage: Passage
    estimate: float


class ScoreCutoff(NamedTuple):
    """How little a match may be worth: past the first ``sure``, this share of the best estimate."""

    sure: int = 0
    share: float = 0.0

    def apply(self, matches: Sequence[IndexMatch]) -> Sequence[IndexMatch]:
        """Return, of matches sorted best first, those that are worth enough."""
        least = self.share * matches[0].estimate if matches else 0.0
        return [
            match
            for place, match in enumerate(matches)
            if place < self.sure or match.estimate >= least
        ]


@runtime_checkable
class Corpus(Protocol):
    """The sections of one manual at one moment: all that a stage may ask of it.

    Every corpus gives a clause the meaning that :func:`matches` gives it. Sections that are only a
    heading are kept and counted, but not searched.
    """

    @property
    def manual_id(self) -> str:
        """The manual's id."""
        ...

    @property
    def size(self) -> int:
        """How many sections are searched."""
        ...

    def terms(self, text: str) -> Sequence[str]:
        """Return the terms of a text, as they are in the index."""
        ...

    def search(
        self, clause: Clause, limit: int, cutoff: ScoreCutoff | None = None
    ) -> Sequence[IndexMatch]:
        """Return the best matches of a clause, best first, ties by path and line.

        A cut-off saves reading what would not be looked at.
        """
        ...

    def count(self, clause: Clause, cap: int | None = None, *, searched: bool = False) -> Count:
        """Count the sections that match a clause, up to a cap if one is given.

        Sections that are only a heading are counted here and in ``frequencies``; they are not
        searched, and ``size`` leaves them out. With ``searched`` they are left out here too.
        """
        ...

    def frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        """Return how many live sections have each term, in whatever field. Exact."""
        ...

    def average_length(self, field: str) -> float:
        """Return the mean number of characters of a field over the searched sections."""
        ...

    def page(self, path: str) -> Sequence[Passage]:
        """Return the passages of one file, in order."""
        ...


# --- what a clause means --------------------------------------------------------------------


class PassageTerms:
    """A passage and the terms of its fields; each field is divided when it is first needed."""

    __slots__ = ("_known", "_terms_of", "passage")

    def __init__(self, passage: Passage, terms_of: Callable[[str], Sequence[str]]) -> None:
        self.passage = passage
        self._terms_of = terms_of
        self._known: dict[str, tuple[str, ...]] = {}

    def terms(self, field: str | None = None) -> Sequence[tuple[str, ...]]:
        """Return the terms of a field, or of each field; a field that is not there has none."""
        fields = self.passage.fields
        return [self._of(name) for name in fields if field is None or field == name]

    def _of(self, name: str) -> tuple[str, ...]:
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = tuple(self._terms_of(self.passage.fields[name]))
        return known


def matches(clause: Clause, section: PassageTerms) -> bool:
    """Tell whether a section matches a clause: the one place that decides what clauses mean."""
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
    """Passages in memory, read one by one: right about every clause, fast for some thousands.

    ``terms_of`` divides a folded text into terms, as a tokenizer does; by default into words and
    pairs of Japanese characters. Estimates follow the rarity and the number of a term; other
    clauses are worth one. A ``tokenizer`` may know more of terms than how a text is divided.
    """

    def __init__(
        self,
        passages: Iterable[Passage] = (),
        terms_of: Callable[[str], Sequence[str]] | None = None,
        manual_id: str = "manual",
        tokenizer: object = None,
    ) -> None:
        self._source = passages
        self._tokenizer = tokenizer
        self._terms_of = terms_of or plain_terms
        self._manual_id = manual_id

    @property
    def manual_id(self) -> str:
        """The manual's id."""
        return self._manual_id

    @cached_property
    def passages(self) -> Sequence[Passage]:
        """Every passage, by path and line."""
        return sorted(self._source, key=lambda passage: passage.key)

    @property
    def size(self) -> int:
        """How many passages are searched: those with a body."""
        return len(self._searched)

    def terms(self, text: str) -> Sequence[str]:
        """Return the terms of a text, folded first."""
        return self._terms_of(fold(text))

    def query_terms(self, text: str) -> Sequence[str]:
        """Return the terms by which a text of a query is scored."""
        return getattr(self._tokenizer, "query_terms", self._terms_of)(fold(text))

    def form_finder(self, term: str) -> Callable[[str], Sequence[str]] | None:
        """Return what finds the words that stand for a term; ``None`` where it is itself."""
        return getattr(self._tokenizer, "form_finder", lambda _: None)(term)

    def search(
        self, clause: Clause, limit: int, cutoff: ScoreCutoff | None = None
    ) -> Sequence[IndexMatch]:
        """Return the best matches of a clause, best first, ties by path and line."""
        present = [section for section in self._searched if matches(clause, section)]
        matched = [IndexMatch(item.passage, self._estimate(clause, item)) for item in present]
        matched.sort(key=lambda match: -match.estimate)  # they are by path and line already
        return cutoff.apply(matched[:limit]) if cutoff else matched[:limit]

    def count(self, clause: Clause, cap: int | None = None, *, searched: bool = False) -> Count:
        """Count the passages that match a clause, up to a cap if one is given."""
        among = self._searched if searched else self._sections
        return Count.capped(sum(matches(clause, section) for section in among), cap)

    def frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        """Return how many passages have each term, in whatever field."""
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
        """Return what a passage that matches is worth."""
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
        """The text as it is in the file."""
        ...

    def form(self, form: TextForm) -> Projection:
        """Return it in a form."""
        ...


@runtime_checkable
class TextCorpus(Protocol):
    """A corpus that can be read through from beginning to end."""

    def texts(self) -> Iterable[PassageText]:
        """Return the text of every passage, in the order of the manual."""
        ...


def texts_of(corpus: Corpus) -> Iterable[PassageText]:
    """Return every text of a corpus; the folded ones where it keeps no others."""
    if isinstance(corpus, TextCorpus):
        return corpus.texts()
    everything = corpus.search(Everything(), corpus.size)
    return map(_FoldedText, sorted((match.passage for match in everything), key=_place))


def _place(passage: Passage) -> tuple[str, int]:
    return passage.key


@dataclass(frozen=True)
class _FoldedText:
    passage: Passage

    @property
    def own(self) -> str:
        return self.passage.fields["body"]

    def form(self, form: TextForm) -> Projection:
        return project(self.own, form)
