"""Selects the documents that may contain a text, by the terms of the index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fumishirube import Corpus, IndexDamaged, IndexedFile, Passage, Tokenizer
from fumishirube_graph.records import Doc, Record
from fumishirube_graph.texts import decoded

MOST = 400
"""Above this number of candidates, scanning all texts is faster than reading them singly."""

_FIELD = "body"


class DocumentPrefilter:
    """Queries the index of one generation; its tokenizer must find texts inside words."""

    def __init__(self, corpus: Corpus, tokenizer: Tokenizer) -> None:
        self._corpus = corpus
        self._tokenizer = tokenizer

    @property
    def characters(self) -> int:
        """The number of characters of all documents, as :func:`passage_of` writes them."""
        return round(self._corpus.average_length(_FIELD) * self._corpus.size)

    def holding(self, text: str) -> Sequence[str] | None:
        """Return the sorted paths of documents that may contain a text; ``None`` if too many."""
        clause, _ = self._tokenizer.narrow(text)
        try:
            if self._corpus.count(clause, MOST).at_least:
                return None
            return sorted(match.passage.path for match in self._corpus.search(clause, MOST))
        except IndexDamaged:  # all texts are in memory; the next update replaces the index
            return None


class PrefilterBuilder:
    """Indexes documents for prefiltering, where the tokenizer finds texts inside words."""

    def __init__(self, tokenizer: Tokenizer | None) -> None:
        self._tokenizer = tokenizer if getattr(tokenizer, "inside", False) else None

    def passages(self, page: IndexedFile) -> Sequence[Passage]:
        """Return the passages to index for a page."""
        if page.about is None or self._tokenizer is None:
            return ()
        row: Any = page.about
        return (passage_of(Doc(page.path, Record.read(row))),)

    def over(self, corpus: Corpus) -> DocumentPrefilter | None:
        """Return the prefilter of one generation, or ``None`` where the index has none."""
        return DocumentPrefilter(corpus, self._tokenizer) if self._tokenizer is not None else None


def passage_of(doc: Doc) -> Passage:
    """Return a whole document for the index: a line for each title, heading and content."""
    body = decoded(b"\n".join(doc.searched.lines))
    fields = {"title": "", "headings": "", "path": "", _FIELD: body}
    return Passage(doc.path, 1, 1, "", (), 0, "", fields)
