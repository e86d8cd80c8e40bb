"""All that a corpus can be asked, to compare one with another."""

from __future__ import annotations

from collections.abc import Iterable

from fumishirube import (
    BoolClause,
    Clause,
    Corpus,
    InfixClause,
    MatchAllClause,
    OccursClause,
    Passage,
    PathsClause,
    PhraseClause,
    TermClause,
)
from fumishirube.engine.passages import FIELDS
from fumishirube.testing.corpora import MemoryCorpus
from fumishirube.testing.samples import PASSAGES

PassageKey = tuple[str, int]

CLAUSES: tuple[Clause, ...] = (
    TermClause("password"),
    TermClause("password", "title"),
    TermClause("休", "path"),
    TermClause("absent"),
    PhraseClause(("有", "給", "休", "暇")),
    PhraseClause(("休", "暇"), "title"),
    PhraseClause(("暇", "休")),
    InfixClause("ass"),
    InfixClause("word", "body"),
    InfixClause("42"),
    InfixClause("."),
    OccursClause("有給休暇"),
    OccursClause("reset link"),
    OccursClause("pass"),
    OccursClause("e-1042"),
    BoolClause(should=(TermClause("password"), TermClause("休"))),
    BoolClause(must=(TermClause("給"), TermClause("院"))),
    BoolClause(must=(TermClause("給"),), should=(TermClause("absent"),)),
    BoolClause(
        must=(MatchAllClause(),), must_not=(TermClause("給"), PathsClause(("guide/api.md",)))
    ),
    BoolClause(
        must=(
            PathsClause(("guide/login.md", "規程/休暇.md")),
            BoolClause(should=(TermClause("link"), TermClause("月"))),
        )
    ),
    BoolClause(),
    PathsClause(("規程/旅費.md", "absent.md")),
    PathsClause(()),
    MatchAllClause(),
)


def answers(corpus: Corpus) -> object:
    """Return all that a corpus says, estimates aside: those are the index's own."""
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
    """Return the keys of all passages that a clause finds."""
    matches = corpus.search(clause, max(corpus.size, 1))
    assert len({match.passage.key for match in matches}) == len(matches), (
        f"{clause} finds one twice"
    )
    return frozenset(match.passage.key for match in matches)


def assert_alike(corpus: Corpus, passages: Iterable[Passage]) -> None:
    """Assert that a corpus answers like one in memory that holds these passages."""
    memory = MemoryCorpus(passages)
    for clause in CLAUSES:
        got, expected = keys(corpus, clause), keys(memory, clause)
        assert got == expected, f"{clause} finds {sorted(got)}, not {sorted(expected)}"
    assert answers(corpus) == answers(memory), "counts, frequencies or lengths differ"
