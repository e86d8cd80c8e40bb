"""All corpora give a clause the same meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import torture

from fumishirube import (
    Bool,
    Budget,
    Clause,
    Corpus,
    Document,
    Everything,
    Fields,
    Holds,
    Index,
    IndexedFile,
    Pages,
    Part,
    Passage,
    Phrase,
    Query,
    Root,
    Section,
    SequenceCorpus,
    Term,
    Tokenizer,
    texts_of,
)
from fumishirube.engine.indexed_files import FIELDS
from fumishirube.engine.reports import unsearched
from fumishirube.engine.unions import UnionCorpus
from fumishirube.engine.vectors.section_vectors import StoredVectors
from fumishirube.testing import CorpusContract, MemoryCorpus, passage
from fumishirube_chapters.cache import OpenChapter
from fumishirube_chapters.projection_store import ProjectionStore
from fumishirube_chapters.reader import Chapters
from fumishirube_graph.records import Doc, record_of
from fumishirube_graph.snapshot import GraphSnapshot
from fumishirube_stages.indexes.tantivy import Tantivy
from fumishirube_stages.scorers.plain import Plain
from fumishirube_stages.tokenizers.bigram import Bigram
from fumishirube_stages.tokenizers.ngram import NGram
from fumishirube_stages.tokenizers.pairs import Pairs


@contextmanager
def indexed(
    passages: Sequence[Passage], tokenizer: Tokenizer, stage: Index | None = None
) -> Iterator[Corpus]:
    pages: dict[str, list[Passage]] = {}
    for item in passages:
        pages.setdefault(item.path, []).append(item)
    with TemporaryDirectory() as folder:
        index = (stage or Tantivy()).open(Root(Path(folder)), Fields(FIELDS, tokenizer))
        with index.writing(Budget()):
            index.sync(
                (), [(IndexedFile(path, "s", None, 1), rows) for path, rows in pages.items()]
            )
        yield index.corpus("manual")
        index.close()


def chapters(passages: Sequence[Passage]) -> Chapters:
    """A chapter is a whole file: of several passages of one file, the first is taken."""
    store = ProjectionStore(Root(Path("absent")))
    opened = []
    for item in {item.path: item for item in reversed(passages)}.values():
        text = item.fields["body"]
        whole = Section(item.fields["title"], 1, 1, 0, len(text), len(text), 0)
        opened.append(OpenChapter("m", "", Document(item.path, "txt", text, (whole,)), store))
    return Chapters("manual", opened)


def graph(passages: Sequence[Passage], tokenizer: Tokenizer | None) -> GraphSnapshot:
    pages: dict[str, list[Passage]] = {}
    for item in sorted(passages, key=lambda item: item.key):
        pages.setdefault(item.path, []).append(item)
    docs = {
        path: Doc(path, record_of(document(rows), "sha", 0, lambda _: True))
        for path, rows in pages.items()
    }
    nowhere = StoredVectors(None, Root(Path("absent")))
    return GraphSnapshot("manual", docs, nowhere, {}, tokenizer)


def document(rows: Sequence[Passage]) -> Document:
    """A file whose sections have the titles and bodies of these passages."""
    text, sections = "", []
    for row in rows:
        start, title = len(text), row.fields["title"]
        body = start + len(title) + 1
        text += f"{title}\n{row.fields['body']}\n"
        end, line = len(text), row.start_line
        sections.append(Section(title, line, line, start, end, end, body))
    return Document(rows[0].path, "txt", text, tuple(sections))


@pytest.mark.property
class TestMemory(CorpusContract):
    examples = torture.examples(12)

    def filled(self, passages: Sequence[Passage]) -> AbstractContextManager[Corpus]:
        return nullcontext(MemoryCorpus(passages))


@pytest.mark.property
class TestSequence(CorpusContract):
    examples = torture.examples(12)

    def filled(self, passages: Sequence[Passage]) -> AbstractContextManager[Corpus]:
        return nullcontext(SequenceCorpus(passages))


@pytest.mark.property
class TestChapters(CorpusContract):
    examples = torture.examples(12)

    def filled(self, passages: Sequence[Passage]) -> AbstractContextManager[Corpus]:
        return nullcontext(chapters(passages))

    def expected(self, passages: Sequence[Passage], corpus: Corpus) -> Sequence[Passage]:
        return [text.passage for text in texts_of(corpus)]


@pytest.mark.property
class TestGraph(CorpusContract):
    examples = torture.examples(12)
    tokenizer: Tokenizer | None = NGram()

    def filled(self, passages: Sequence[Passage]) -> AbstractContextManager[Corpus]:
        return nullcontext(graph(passages, self.tokenizer))

    def expected(self, passages: Sequence[Passage], corpus: Corpus) -> Sequence[Passage]:
        assert isinstance(corpus, GraphSnapshot)
        docs = corpus.docs.values()
        return [corpus.passage(doc, n) for doc in docs for n in range(len(doc.record.parts))]


class TestGraphWithoutTokenizer(TestGraph):
    tokenizer = None


@pytest.mark.property
class TestTantivyOfBigrams(CorpusContract):
    examples = torture.examples(12)
    tokenizer: Tokenizer = Bigram()

    def filled(self, passages: Sequence[Passage]) -> AbstractContextManager[Corpus]:
        return indexed(passages, self.tokenizer)


class TestTantivyOfTrigrams(TestTantivyOfBigrams):
    tokenizer = NGram()


class TestTantivyOfPairs(TestTantivyOfBigrams):
    tokenizer = Pairs()


CORPORA: Mapping[str, Callable[[Sequence[Passage]], AbstractContextManager[Corpus]]] = {
    "memory": lambda passages: nullcontext(MemoryCorpus(passages)),
    "sequence": lambda passages: nullcontext(SequenceCorpus(passages)),
    "chapters": lambda passages: nullcontext(chapters(passages)),
    "graph": lambda passages: nullcontext(graph(passages, NGram())),
    "tantivy": lambda passages: indexed(passages, Bigram()),
}

MEANINGS: Sequence[tuple[Clause, str, bool]] = (
    (Phrase(("red", "blue")), "red green blue", False),
    (Phrase(("red", "green")), "red green blue", True),
    (Phrase(("blue",)), "red green blue", True),
    (Phrase(()), "red green blue", False),
    (Term("gree"), "red green blue", False),
    (Term("green", "body"), "red green blue", True),
    (Term("green", "title"), "red green blue", False),
    (Term("green", "absent"), "red green blue", False),
    (Part("bird"), "A bluebird sings", True),
    (Part("。"), "有給休暇。", False),
    (Part(""), "red", True),
    (Part("", "body"), "red", True),
    (Part("", "body"), "・。", False),
    (Holds("bird"), "A bluebird sings", False),
    (Holds("給休"), "有給休暇。", True),
    (Holds("ﾕｳｷｭｳ"), "ユウキュウ", True),
    (Holds("。"), "有給休暇。", True),
    (Holds("です。"), "休暇です、すべて。", False),
    (Holds("ですべて"), "休暇です。すべて。", False),
    (Holds(""), "red green blue", False),
    (Bool(), "red green blue", False),
    (Bool(must_not=(Term("absent"),)), "red green blue", True),
    (Bool(must_not=(Term("red"),)), "red green blue", False),
    (Bool((Term("absent"),), must_not=(Term("x"),)), "red green blue", False),
    (Bool((Term("absent"),), (Term("red"),)), "red green blue", True),
    (Pages(("a.md",)), "red", True),
    (Pages(()), "red", False),
    (Everything(), "red", True),
)


@pytest.mark.parametrize("name", CORPORA)
def test_a_clause_means_the_same_in_every_corpus(name: str) -> None:
    for clause, body, matched in MEANINGS:
        with CORPORA[name]([passage("a.md", 1, "Title", body)]) as corpus:
            assert len(corpus.search(clause, 9)) == matched, f"{clause} on {body!r}"
            assert corpus.count(clause).number == matched, f"{clause} on {body!r}"


@pytest.mark.parametrize("name", CORPORA)
def test_a_section_without_a_body_is_counted_and_not_searched(name: str) -> None:
    sections = [passage("a.md", 1, "Red", "blue"), passage("b.md", 1, "Red", "")]
    with CORPORA[name](sections) as corpus:
        assert corpus.size == 1
        assert corpus.frequencies(["red"]) == {"red": 2}
        assert corpus.count(Term("red")).number == 2
        assert corpus.count(Term("red"), searched=True).number == 1
        found = [match.passage.path for match in corpus.search(Term("red"), 9)]
        assert found == ["a.md"]
        assert corpus.average_length("body") == len("blue")


def test_a_text_in_more_sections_than_are_verified_is_counted_in_sections_only() -> None:
    sections = [passage(f"{n}.md", 1, "Title", f"red。 {n}") for n in range(9)]
    with indexed(sections, Bigram(), Tantivy(verified=4)) as corpus:
        assert corpus.count(Holds("。")).number == 9
        assert len(corpus.search(Holds("。"), 99)) == 9


def test_a_scorer_that_reads_texts_can_search_the_documents_of_a_graph() -> None:
    sections = [passage("a.md", 1, "Title", "red bluebird"), passage("b.md", 1, "Title", "green")]
    hits = [*Plain().score(Query("bird"), graph(sections, NGram()), {})]
    assert [hit.passage.path for hit in hits] == ["a.md"]


def parts_of(passages: Sequence[Passage]) -> Mapping[str, Sequence[Passage]]:
    """Divide passages by their first folder; those without one are of a manual of their own."""
    parts: dict[str, list[Passage]] = {"x": [], "y": []}
    for item in passages:
        name, _, inner = item.path.partition("/")
        parts.setdefault(name if inner else "x", []).append(item._replace(path=inner or item.path))
    return parts


def united(passages: Sequence[Passage]) -> Sequence[Passage]:
    """Return passages as a union of their parts names them."""
    return [item if "/" in item.path else item._replace(path=f"x/{item.path}") for item in passages]


@pytest.mark.property
class TestUnionOfMemory(CorpusContract):
    examples = torture.examples(12)

    def filled(self, passages: Sequence[Passage]) -> AbstractContextManager[Corpus]:
        parts = {name: MemoryCorpus(part) for name, part in parts_of(passages).items()}
        return nullcontext(UnionCorpus("*", parts))

    def expected(self, passages: Sequence[Passage], corpus: Corpus) -> Sequence[Passage]:
        del corpus
        return united(passages)


@pytest.mark.property
class TestUnionOfTantivy(CorpusContract):
    examples = torture.examples(6)

    @contextmanager
    def filled(self, passages: Sequence[Passage]) -> Iterator[Corpus]:
        with ExitStack() as stack:
            parts = {
                name: stack.enter_context(indexed(part, Bigram()))
                for name, part in parts_of(passages).items()
            }
            yield UnionCorpus("*", parts)

    def expected(self, passages: Sequence[Passage], corpus: Corpus) -> Sequence[Passage]:
        del corpus
        return united(passages)


def test_a_union_is_of_something() -> None:
    with pytest.raises(ValueError, match="one corpus at least"):
        UnionCorpus("*", {})


class _Partial(MemoryCorpus):
    def unsearched(self, since: float) -> str | None:
        return f"1 of 2 shards did not answer since {since:.0f}"


def test_a_union_says_which_parts_of_it_did_not_answer() -> None:
    whole, partial = MemoryCorpus([passage("a.md")]), _Partial([passage("a.md")])
    assert unsearched(UnionCorpus("*", {"m": whole}), 3.0) is None
    union = UnionCorpus("*", {"m": whole, "n": partial})
    assert unsearched(union, 3.0) == "n: 1 of 2 shards did not answer since 3"
