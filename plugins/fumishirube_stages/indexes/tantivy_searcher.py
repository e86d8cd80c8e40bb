"""A searcher of one commit that notices damaged files, and the lists of its terms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import tantivy
from pydantic_core import from_json

from fumishirube_stages.indexes.tantivy_files import CommittedFiles

T = TypeVar("T")

_SECTIONS = 20_000
"""The most sections of an index whose terms are listed: 10,000 of documentation have 0.4 million
characters of terms, which are listed in 30 ms."""
_MOST = 512
"""The most terms that are worth a list: an automaton is faster than a longer one."""


class CheckedSearcher:
    """A searcher that raises :class:`IndexDamaged` when damaged files cause an error."""

    def __init__(self, searcher: tantivy.Searcher, files: CommittedFiles) -> None:
        self._searcher = searcher
        self._files = files
        self.num_docs: int = searcher.num_docs

    def search(self, query: tantivy.Query, limit: int, *, count: bool) -> tantivy.SearchResult:
        """Return the best documents that match a query; all if the limit exceeds their number."""
        limit = max(1, min(limit, self.num_docs))  # tantivy allocates memory for all of the limit
        return self._checked(lambda: self._searcher.search(query, limit, count=count))

    def doc_freq(self, field: str, term: str) -> int:
        """Return the number of documents with a term; deleted ones may still count."""
        return self._checked(lambda: self._searcher.doc_freq(field, term))

    def terms(self, field: str) -> Sequence[str]:
        """Return the terms of a field; those of deleted documents may still be among them."""
        return [
            term for term, _ in self._checked(lambda: self._searcher.terms_with_prefix(field, ""))
        ]

    def numbers(self, field: str, addresses: list[tantivy.DocAddress]) -> list[Any]:
        """Return the numbers of some documents in a field, without reading their stored data."""
        return self._checked(lambda: self._searcher.fast_field_values(field, addresses))

    def data(self, address: tantivy.DocAddress) -> Any:
        """Return the data stored with a document."""
        return self._checked(lambda: from_json(self._searcher.doc(address)["data"][0]))

    def all_data(self, addresses: Sequence[tantivy.DocAddress]) -> list[Any]:
        """Return the data stored with each of many documents."""
        doc = self._searcher.doc
        stored = self._checked(lambda: [doc(address)["data"][0] for address in addresses])
        return self._checked(lambda: from_json(b"[%s]" % b",".join(stored)))

    def _checked(self, verb: Callable[[], T]) -> T:
        try:
            return verb()
        except BaseException as error:
            self._files.judge(error)
            raise


class ListedTerms:
    """Finds the terms that contain a text; the terms of a field are listed at its first search.

    A pattern takes ten times as long: tantivy first compiles it, then compares it with each term.
    """

    def __init__(self, searcher: CheckedSearcher) -> None:
        self._searcher = searcher
        self._listed: dict[str, str] = {}

    def containing(self, text: str, field: str) -> Sequence[str] | None:
        """Return the terms of a field that contain a text, or ``None`` if they are not listed."""
        if not text or "\n" in text or self._searcher.num_docs > _SECTIONS:
            return None
        if field not in self._listed:
            self._listed[field] = "\n".join(self._searcher.terms(field))
        listed, matching = self._listed[field], list[str]()
        at = listed.find(text)
        while at >= 0:
            if len(matching) == _MOST:
                return None
            start, end = listed.rfind("\n", 0, at) + 1, listed.find("\n", at)
            end = end if end >= 0 else len(listed)
            matching.append(listed[start:end])
            at = listed.find(text, end)
        return matching
