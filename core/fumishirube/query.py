"""Queries with their identity, and the runs that answer them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, NamedTuple, TypeVar, get_type_hints

from pydantic import TypeAdapter
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_plain_validator_function

from fumishirube.budget import Budget
from fumishirube.corpus import Bool, Clause, Corpus, Holds, Pages
from fumishirube.model import Passage, Ranking
from fumishirube.text.folding import fold
from fumishirube.text.query_concepts import concepts
from fumishirube.text.synonyms import Synonyms, replace_synonyms
from fumishirube.text.word_forms import mentions

T = TypeVar("T")

_REWORDINGS = 3


class SearchState:
    """Objects that the runs of one search share.

    Stages keep there what they compute only once, and what they hand on to later stages. Runs made
    with ``dataclasses.replace`` share it.
    """

    def __init__(self) -> None:
        self._whole: tuple[str, tuple[str, ...]] | None = None
        self._values: dict[Hashable, Any] = {}
        self._counts: dict[tuple[str, ...], int] = {}
        self._holding: dict[Hashable, frozenset[str]] = {}

    def begin(self, query: Query) -> None:
        """Record the query of the search; its runs may have other texts."""
        self._whole = (query.text, query.must)

    def is_whole(self, query: Query) -> bool:
        """Tell whether a run has the text of the search, and no further filter."""
        return self._whole in (None, (query.text, query.must))

    def sections_with(self, forms: tuple[str, ...], corpus: Corpus) -> int:
        """Return how many sections contain one of some texts, folded; counted only once."""
        if forms not in self._counts:
            clauses = tuple(map(Holds, forms))
            clause = clauses[0] if len(clauses) == 1 else Bool(should=clauses)
            self._counts[forms] = corpus.count(clause).number
        return self._counts[forms]

    def known_sections_with(self, forms: tuple[str, ...]) -> int | None:
        """Return how many sections contain one of some texts, if a stage has counted them."""
        return self._counts.get(forms)

    def terms_in(self, passage: Passage, terms: tuple[str, ...]) -> frozenset[str]:
        """Return which of the terms a passage contains, folded; searched only once."""
        key = (passage.key, terms)
        if key not in self._holding:
            text = "\n".join(passage.fields.values())
            self._holding[key] = frozenset(term for term in terms if mentions(text, fold(term)))
        return self._holding[key]

    def shared(self, kind: Callable[[], T], *key: Hashable) -> T:
        """Return the shared object of a type and key; make it on first use.

        ::

            sections = query.state.shared(dict[str, int], "lexical", self.fingerprint)
        """
        name = (kind, key)
        if name not in self._values:
            self._values[name] = kind()
        value: T = self._values[name]
        return value


class QueryKey(NamedTuple):
    """The identity of a query: the text in one spelling, and every other field by name."""

    text: str
    rest: tuple[tuple[str, Hashable], ...]


def _no_identity(reason: str) -> dict[str, str]:
    """Mark a field that is not part of a query's identity, with the reason."""
    return {"no_identity": reason}


@dataclass(frozen=True)
class Query:
    """One search request.

    ``required`` are the terms that the caller names; ``must`` are those that every hit of this run
    has to contain. ``limit`` bounds the final ranking, and ``pool`` how many candidates are
    generated for this run. ``exclude`` lists sections, by path and line, that no run may return;
    some of them were ``read``, and not returned before. ``within``, if given, lists the only files
    that may be returned. ``stage_arguments`` are arguments of single stages for this search, by the
    stage's name. ``alternatives`` are other wordings of the same question, and ``synonyms`` words
    of it that a glossary has, with others of the same meaning. ``case_sensitive`` is for scorers
    that search the text as written. ``cache`` says whether an earlier answer may be used; ``None``
    leaves that to the configuration. Without ``counting`` the report counts only what the stages
    found, the engine computes no coverage, and adds no hits to theirs: for answers that show
    nothing of it. ``state`` is what the runs of one search share.
    """

    text: str
    required: tuple[str, ...] = field(default=(), metadata={"key": frozenset})
    must: tuple[str, ...] = field(default=(), metadata={"key": frozenset})
    limit: int | None = None
    exclude: frozenset[tuple[str, int]] = frozenset()
    read: frozenset[tuple[str, int]] = frozenset()
    case_sensitive: bool = False
    within: frozenset[str] | None = None
    stage_arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)
    alternatives: tuple[str, ...] = field(
        default=(), metadata={"key": lambda texts: tuple(map(_spelling, texts))}
    )
    synonyms: tuple[Synonyms, ...] = ()
    pool: int | None = None
    budget: Budget = field(
        default_factory=Budget,
        compare=False,
        metadata=_no_identity("a caller's time and cancellation are not part of the query"),
    )
    state: SearchState = field(
        default_factory=SearchState,
        compare=False,
        repr=False,
        metadata=_no_identity("it is filled during the search"),
    )
    cache: bool | None = field(
        default=None,
        compare=False,
        metadata=_no_identity("it chooses the source of the answer, not the query"),
    )
    counting: bool = field(default=True, compare=False, metadata=_no_identity("for the report"))

    def key(self) -> QueryKey:
        """Return the hashable identity of the query, in which terms have no order."""
        text = self.text if self.case_sensitive else _spelling(self.text)
        rest = tuple((n, make(getattr(self, n))) for n, make in _KEYS.items() if n != "text")
        return QueryKey(text, rest)

    def inside(self, clause: Clause) -> Clause:
        """Return a clause with the same matches, restricted to files that may be returned."""
        within = self.within
        return clause if within is None else Bool(must=(clause, Pages(tuple(sorted(within)))))

    @property
    def is_whole(self) -> bool:
        """Whether this run searches for all that the caller asked, and for nothing else.

        The report uses the count of matches of such a run only; other runs need not count theirs.
        """
        return self.state.is_whole(self)

    def forms(self, term: str) -> tuple[str, ...]:
        """Return a term, and the term with synonyms of its words."""
        numbers = range(self._rewordings)
        others = (replace_synonyms(term, self.synonyms, number) for number in numbers)
        return tuple(dict.fromkeys((term, *others)))

    def rewordings(self) -> Sequence[Query]:
        """Return the query with synonyms instead of its words, up to three times.

        The first has the first synonym of each word, the second the second. Empty if neither the
        text nor ``must`` has a word with synonyms.
        """
        made: dict[tuple[str, ...], Query] = {(self.text, *self.must): self}
        for number in range(self._rewordings):
            text, *terms = (
                replace_synonyms(text, self.synonyms, number)
                for text in (self.text, *self.must, *self.required)
            )
            must, required = terms[: len(self.must)], terms[len(self.must) :]
            query = replace(
                self, text=text, must=tuple(must), required=tuple(required), synonyms=()
            )
            made.setdefault((text, *must), query)
        return [*made.values()][1:]

    @property
    def _rewordings(self) -> int:
        return min(_REWORDINGS, max((len(row.others) for row in self.synonyms), default=0))

    def sections_with(self, term: str, corpus: Corpus) -> int:
        """Return how many sections contain a term or a form with synonyms; counted only once."""
        return self.state.sections_with(self.forms(term), corpus)

    def terms_in(self, passage: Passage, terms: tuple[str, ...]) -> frozenset[str]:
        """Return which of the terms a passage contains, or a form with synonyms of them."""
        if not self.synonyms:
            return self.state.terms_in(passage, terms)
        forms = (form for term in terms for form in self.forms(term))  # terms may share some
        present = self.state.terms_in(passage, tuple(dict.fromkeys(forms)))
        return frozenset(term for term in terms if not present.isdisjoint(self.forms(term)))

    def record(self) -> dict[str, Any]:
        """Return the fields of the identity, as a trace records them."""
        return {name: _plain(getattr(self, name)) for name in _KEYS}

    def recorded(self) -> Query:
        """Return the query as a trace records it: fields outside the identity have defaults."""
        return Query(**{name: getattr(self, name) for name in _KEYS})

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, _handler: object) -> CoreSchema:
        """Let pydantic read a query from its record."""
        return no_info_plain_validator_function(
            lambda value: value if isinstance(value, cls) else cls.of_record(value)
        )

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Query:
        """Return the query of a record; missing fields have their defaults.

        Raises:
            ValueError: when a field is missing, has another type, or is not a query's.
        """
        if not isinstance(record, Mapping) or not {"text"} <= record.keys() <= _KEYS.keys():
            raise ValueError("a query is an object with a text, and with fields of a query alone")
        adapters = _adapters()
        read = {n: adapters[n].validate_python(v, strict=n in _EXACT) for n, v in record.items()}
        return cls(**read)


def _spelling(text: str) -> str:
    """Return a text folded, with the spaces that folding removes where they divide a concept."""
    folded = fold(text)
    if _concept_texts(text) == _concept_texts(folded):
        return folded
    return "\n".join(filter(None, map(fold, text.split())))


def _concept_texts(text: str) -> list[str]:
    return [concept.text for concept in concepts(text)]


def _hashable(value: Any) -> Hashable:
    """Return a hashable value; sequences and mappings are compared by content."""
    if isinstance(value, Mapping):
        return frozenset((str(name), _hashable(member)) for name, member in value.items())
    if isinstance(value, (set, frozenset)):
        return frozenset(map(_hashable, value))
    if isinstance(value, (list, tuple)):
        return tuple(map(_hashable, value))
    if isinstance(value, str):
        return value
    # 1, 1.0 and True are equal, but different arguments.
    return type(value).__name__, value if isinstance(value, Hashable) else repr(value)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, Mapping):
        return {str(name): _plain(member) for name, member in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(map(_plain, value))
    return [_plain(member) for member in value] if isinstance(value, (list, tuple)) else value


_KEYS: Mapping[str, Callable[[Any], Hashable]] = {
    member.name: member.metadata.get("key", _hashable)
    for member in fields(Query)
    if "no_identity" not in member.metadata
}
"""The fields of a query's identity, and how each is compared."""
_EXACT = frozenset({"text", "limit", "pool", "case_sensitive"})
"""Fields of which a record has the very type: ``True`` is no limit, and ``1`` no choice."""


@cache
def _adapters() -> Mapping[str, TypeAdapter[Any]]:
    hints = get_type_hints(Query)
    return {name: TypeAdapter(hints[name]) for name in _KEYS}


@dataclass(frozen=True)
class Run:
    """One search inside a search; ``replace`` makes its query from the planned one."""

    name: str
    query: Query
    weight: float = 1.0


class Outcome(NamedTuple):
    """A run and its ranking."""

    run: Run
    ranking: Ranking
