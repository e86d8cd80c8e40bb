"""The terms of a small index as one text for each field, in which parts of terms are found."""

from __future__ import annotations

from collections.abc import Sequence

from fumishirube_stages.indexes.tantivy_files import CheckedSearcher

_SECTIONS = 20_000
"""The most sections of an index whose terms are listed: 10,000 of documentation have 0.4 million
characters of terms, which are listed in 30 ms."""
_MOST = 512
"""The most terms that are worth a list: an automaton is faster than a longer one."""


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
