"""Which documents may hold a text: what the terms of the index say, before any text is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fumishirube import Corpus, IndexDamaged, IndexedFile, Passage, Tokenizer
from fumishirube_graph.records import Doc, Record
from fumishirube_graph.texts import decoded

MOST = 400
"""Of more documents than these all texts are read through: that is faster than asking for them."""

_FIELD = "body"


class DocumentPrefilter:
    """The index of one generation; its tokenizer must find texts inside words too."""

    def __init__(self, corpus: Corpus, tokenizer: Tokenizer) -> None:
        self._corpus = corpus
        self._tokenizer = tokenizer

    @property
    def characters(self) -> int:
        """How many characters all documents have, as :func:`passage_of` writes them."""
        return round(self._corpus.average_length(_FIELD) * self._corpus.size)

    def holding(self, text: str) -> Sequence[str] | None:
        """Return the paths of the documents that may hold a text, sorted; ``None`` for too many."""
        clause, _ = self._tokenizer.narrow(text)
        try:
            if self._corpus.count(clause, MOST).at_least:
                return None
            return sorted(match.passage.path for match in self._corpus.search(clause, MOST))
        except IndexDamaged:  # all texts are in memory; the next look at the index replaces it
            return None


class PrefilterBuilder:
    """Has the index keep what narrows, where the pipeline's tokenizer finds texts inside words."""

    def __init__(self, tokenizer: Tokenizer | None) -> None:
        self._tokenizer = tokenizer if getattr(tokenizer, "inside", False) else None

    def passages(self, page: IndexedFile) -> Sequence[Passage]:
        """Return by what the index is to find a page."""
        if page.about is None or self._tokenizer is None:
            return ()
        row: Any = page.about
        return (passage_of(Doc(page.path, Record.read(row))),)

    def over(self, corpus: Corpus) -> DocumentPrefilter | None:
        """Return what narrows in one generation, if anything does."""
        return DocumentPrefilter(corpus, self._tokenizer) if self._tokenizer is not None else None


def passage_of(doc: Doc) -> Passage:
    """Return a whole document as the index is to keep it: a line each title, heading, content."""
    body = decoded(b"\n".join(doc.searched.lines))
    fields = {"title": "", "headings": "", "path": "", _FIELD: body}
    return Passage(doc.path, 1, 1, "", (), 0, "", fields)
