"""All that a corpus answers, for comparison with another one."""

from __future__ import annotations

from collections.abc import Iterable

from fumishirube import Bool, Clause, Corpus, Everything, Holds, Pages, Part, Passage, Phrase, Term
from fumishirube.engine.indexed_files import FIELDS
from fumishirube.testing.corpora import MemoryCorpus
from fumishirube.testing.samples import PASSAGES

PassageKey = tuple[str, int]

CLAUSES: tuple[Clause, ...] = (
    Term("password"),
    Term("password", "title"),
    Term("休", "path"),
    Term("absent"),
    Phrase(("有", "給", "休", "暇")),
    Phrase(("休", "暇"), "title"),
    Phrase(("暇", "休")),
    Part("ass"),
    Part("word", "body"),
    Part("42"),
    Part("."),
    Holds("有給休暇"),
    Holds("reset link"),
    Holds("pass"),
    Holds("e-1042"),
    Bool(should=(Term("password"), Term("休"))),
    Bool(must=(Term("給"), Term("院"))),
    Bool(must=(Term("給"),), should=(Term("absent"),)),
    Bool(must=(Everything(),), must_not=(Term("給"), Pages(("guide/api.md",)))),
    Bool(must=(Pages(("guide/login.md", "規程/休暇.md")), Bool(should=(Term("link"), Term("月"))))),
    Bool(),
    Pages(("規程/旅費.md", "absent.md")),
    Pages(()),
    Everything(),
)


def answers(corpus: Corpus) -> object:
    """Return all answers of a corpus, except estimates, which are the index's own."""
    terms = sorted(
        {term for passage in PASSAGES for term in corpus.terms(" ".join(passage.fields.values()))}
    )
    return (
        corpus.size,
        {clause: keys(corpus, clause) for clause in CLAUSES},
        {clause: corpus.count(clause) for clause in CLAUSES},
        {clause: corpus.count(clause, searched=True) for clause in CLAUSES},
        dict(corpus.frequencies([*terms, "absent"])),
        {name: round(corpus.average_length(name), 6) for name in FIELDS},
    )


def keys(corpus: Corpus, clause: Clause) -> frozenset[PassageKey]:
    """Return the keys of all passages that match a clause."""
    matches = corpus.search(clause, max(corpus.size, 1))
    assert len({match.passage.key for match in matches}) == len(matches), (
        f"{clause} finds one twice"
    )
    return frozenset(match.passage.key for match in matches)


def assert_alike(corpus: Corpus, passages: Iterable[Passage]) -> None:
    """Assert that a corpus answers like one in memory with these passages."""
    memory = MemoryCorpus(passages)
    for clause in CLAUSES:
        got, expected = keys(corpus, clause), keys(memory, clause)
        assert got == expected, f"{clause} finds {sorted(got)}, not {sorted(expected)}"
    assert answers(corpus) == answers(memory), "counts, frequencies or lengths differ"
