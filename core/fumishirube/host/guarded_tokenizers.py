"""Tokenizers of plugins: guarded, and what they return checked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from fumishirube.corpus import Bool, Clause, Everything, Holds, Pages, Part, Phrase, Term
from fumishirube.host.guarded_stages import NamedInErrors
from fumishirube.host.offered_types import check_texts
from fumishirube.stages import Tokenizer

_Written: TypeAlias = tuple[str, str, Collection[str]]


class GuardedTokenizer(NamedInErrors[Tokenizer]):
    """A tokenizer of a plugin; no search works without it."""

    def terms(self, text: str) -> Sequence[str]:
        """Return the terms of a folded text."""
        return self._terms("terms", text)

    def narrow(self, text: str) -> tuple[Clause, bool]:
        """Return a clause that matches wherever a folded text occurs, and whether only there."""
        with self._watched("narrow"):
            clause, exact = self._stage.narrow(text)
            require_clause(clause)
            return clause, bool(exact)

    def __getattr__(self, name: str) -> Any:
        checked: Mapping[str, Callable[..., Any]] = {
            "query_terms": self._terms,
            "form_finder": self._finder,
            "written_terms": self._written,
            "written_beside": self._beside,
        }
        if name not in checked:
            return super().__getattr__(name)
        getattr(self._stage, name)  # a tokenizer may lack it
        return partial(checked[name], name)

    def _terms(self, method: str, text: str) -> Sequence[str]:
        with self._watched(method):
            return check_texts(getattr(self._stage, method)(text))

    def _finder(self, method: str, term: str) -> Callable[[str], Sequence[str]] | None:
        with self._watched(method):
            finder = getattr(self._stage, method)(term)
            if finder is not None and not callable(finder):
                raise TypeError(f"it returned a {type(finder).__name__} and no function")

        def words(text: str) -> Sequence[str]:
            with self._watched(method):
                return check_texts(finder(text))

        return words if finder else None

    def _written(self, method: str, text: str) -> _Written:
        with self._watched(method):
            return check_writing(getattr(self._stage, method)(text))

    def _beside(
        self, method: str, text: str, others: Collection[str]
    ) -> tuple[_Written, Collection[str]]:
        with self._watched(method):
            written, lacking = getattr(self._stage, method)(text, others)
            return check_writing(written), {*check_texts(lacking)}


def check_writing(written: Any) -> _Written:
    """Return the terms, characters and parts of a text; raise a :class:`TypeError` for others."""
    joined, characters, parts = written
    joined, characters = check_texts((joined, characters))
    return joined, characters, {*check_texts(parts)}


def require_clause(clause: object) -> None:
    """Raise a :class:`TypeError` unless it is a clause, with all that is in it."""
    match clause:
        case Term(str(), None | str()) | Part(str(), None | str()) | Holds(str()) | Everything():
            return
        case Phrase(tuple() as texts, None | str()) | Pages(tuple() as texts):
            check_texts(texts)
        case Bool(tuple() as should, tuple() as must, tuple() as must_not):
            for inner in (*should, *must, *must_not):
                require_clause(inner)
        case _:
            raise TypeError(f"it returned no clause with the right values: {type(clause).__name__}")
