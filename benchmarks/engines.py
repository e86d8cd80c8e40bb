"""The engines that a find is measured beside: one query each, the best 200, the same texts.

As a program (``engines.py NAME FOLDER QUERY``) it opens an index in a fresh process, answers one
query, and prints its resident memory in megabytes.
"""

from __future__ import annotations

import importlib.util
import json
import sqlite3
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from processes import resident

from fumishirube.text.folding import fold
from fumishirube_stages.tokenizers.bigram import Bigram

BEST = 200

Search: TypeAlias = Callable[[str], int]
"""Takes a query and returns how many of the best there are."""


class Engine(Protocol):
    """A search engine without anything of ours around it."""

    def missing(self) -> str | None:
        """Return what has to be installed first, or nothing."""

    def build(self, texts: Iterable[str], folder: Path) -> None:
        """Index the texts of sections."""

    def open(self, folder: Path) -> Search:
        """Open what was built."""


def terms(text: str) -> Sequence[str]:
    """Return the terms of a text, as the default pipeline makes them."""
    return Bigram().terms(fold(text))


class RawTantivy:
    """One field of terms, one OR query."""

    def missing(self) -> None:
        return None

    def build(self, texts: Iterable[str], folder: Path) -> None:
        import tantivy  # noqa: PLC0415 - each engine is imported where it alone is measured

        index = self._index(folder)
        writer = index.writer(50_000_000, num_threads=1)
        for text in texts:
            document = tantivy.Document()
            document.add_text("body", " ".join(terms(text)))
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()

    def open(self, folder: Path) -> Search:
        from tantivy import Occur, Query  # noqa: PLC0415 - the same

        index = self._index(folder)
        index.reload()
        searcher, schema = index.searcher(), index.schema

        def search(query: str) -> int:
            wanted = [
                (Occur.Should, Query.term_query(schema, "body", term))
                for term in dict.fromkeys(terms(query))
            ]
            return len(searcher.search(Query.boolean_query(wanted), BEST, count=False).hits)

        return search

    def _index(self, folder: Path) -> Any:
        import tantivy  # noqa: PLC0415 - the same

        builder = tantivy.SchemaBuilder()
        builder.add_text_field("body", tokenizer_name="terms", index_option="position")
        index = tantivy.Index(builder.build(), path=str(folder))
        analyzer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        index.register_tokenizer("terms", analyzer)
        return index


class Fts5:
    """A contentless FTS5 table of SQLite over the same terms."""

    tokenizer = "unicode61 remove_diacritics 0"

    def missing(self) -> None:
        return None

    def build(self, texts: Iterable[str], folder: Path) -> None:
        with sqlite3.connect(folder / "fts5.db") as connection:
            connection.execute(
                f"CREATE VIRTUAL TABLE t USING fts5(body, content='', tokenize='{self.tokenizer}')"
            )
            rows = ((number, self.written(text)) for number, text in enumerate(texts))
            connection.executemany("INSERT INTO t(rowid, body) VALUES (?, ?)", rows)
        connection.close()

    def open(self, folder: Path) -> Search:
        connection = sqlite3.connect(folder / "fts5.db")

        def search(query: str) -> int:
            asked = " OR ".join(f'"{term}"' for term in dict.fromkeys(self.asked(query)))
            rows = connection.execute(
                "SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?", (asked, BEST)
            )
            return len(rows.fetchall())

        return search

    def written(self, text: str) -> str:
        return " ".join(terms(text))

    def asked(self, query: str) -> Sequence[str]:
        return terms(query)


class Fts5Trigram(Fts5):
    """The same table with SQLite's own trigram tokenizer over the plain text."""

    tokenizer = "trigram"

    def written(self, text: str) -> str:
        return fold(text)

    def asked(self, query: str) -> Sequence[str]:
        words = fold(query).replace('"', " ").split()
        return [word[at : at + 3] for word in words for at in range(max(1, len(word) - 2))]


class Bm25s:
    """Scores computed ahead, in sparse matrices; compiled by numba where that is installed."""

    def missing(self) -> str | None:
        installed = importlib.util.find_spec("bm25s")
        return None if installed else "bm25s is not installed; install the extra 'bench'"

    def build(self, texts: Iterable[str], folder: Path) -> None:
        import bm25s  # noqa: PLC0415 - optional

        known: dict[str, int] = {}
        rows = [[known.setdefault(t, len(known)) for t in terms(text)] for text in texts]
        engine = bm25s.BM25(backend=self._backend())
        engine.index(bm25s.tokenization.Tokenized(ids=rows, vocab=known), show_progress=False)
        engine.save(folder, show_progress=False)

    def open(self, folder: Path) -> Search:
        import bm25s  # noqa: PLC0415 - the same

        engine = bm25s.BM25.load(folder, mmap=True)
        engine.backend = self._backend()
        known: Mapping[str, int] = engine.vocab_dict
        limit = min(BEST, engine.scores["num_docs"])

        def search(query: str) -> int:
            asked = [term for term in dict.fromkeys(terms(query)) if term in known]
            found = engine.retrieve(
                [asked], k=limit, show_progress=False, sorted=True, return_as="documents"
            )
            return len(found[0])

        return search

    @staticmethod
    def _backend() -> str:
        return "numba" if importlib.util.find_spec("numba") else "numpy"


ENGINES: Mapping[str, Engine] = {
    "tantivy": RawTantivy(),
    "fts5": Fts5(),
    "fts5-trigram": Fts5Trigram(),
    "bm25s": Bm25s(),
}

if __name__ == "__main__":
    name, folder, query = sys.argv[1:]
    found = ENGINES[name].open(Path(folder))(query)
    print(json.dumps({"found": found, "memory_mb": resident("self")}))
