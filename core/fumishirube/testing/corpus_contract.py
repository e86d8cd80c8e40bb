"""The contract of corpora: every clause means the same everywhere."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import ClassVar

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from fumishirube import (
    Bool,
    Clause,
    Corpus,
    Everything,
    Holds,
    Pages,
    Part,
    Passage,
    Phrase,
    ScoreCutoff,
    Term,
)
from fumishirube.corpus import Count, PassageTerms, matches
from fumishirube.testing.corpora import passage

_EXAMPLES = 12
_CLAUSES = 12
_TINY = 1e-6

_PATHS = ("a.md", "b.md", "c/a.md", "規程/休暇.md")
_FIELDS = (None, None, "title", "headings", "path", "body", "absent")
_PIECES = (
    *("red", "blue", "green", "Bird", "bluebird"),
    *("e104", "E-104", "104", "１０４", "ＡＢＣ", "abc"),
    *("有給休暇", "有給", "給休", "休暇", "です", "すべて", "休"),
    *("ﾊﾝｶｸ", "ハンカク", "カフェ", "が", "か\u3099"),
    *("。", "、", "-", "…", ".", "(", "*", "_", "☕", "Å", "A\u030a", "é", "한국어", "מדריך"),
)
_GLUE = ("", "", " ", "\n", "。", "\u3000", "・")

texts = st.lists(
    st.tuples(st.sampled_from(_PIECES), st.sampled_from(_GLUE)).map("".join), max_size=6
).map("".join)
"""Short texts in several scripts and widths, with and without space between words."""

sections = st.lists(
    st.tuples(st.sampled_from(_PATHS), st.integers(1, 4), texts, texts, texts),
    max_size=7,
    unique_by=lambda section: section[:2],
).map(
    lambda drawn: [
        passage(path, line, title, body, ancestors=(above,) if above else ())
        for path, line, title, body, above in drawn
    ]
)
"""Small manuals; some sections have no body, and some no title."""


def clauses(terms: Collection[str]) -> st.SearchStrategy[Clause]:
    """Return trees of clauses over terms, fields and paths, existing or not."""
    term = st.sampled_from(sorted({*terms, "absent", "gree", ""}))
    field, boost = st.sampled_from(_FIELDS), st.sampled_from((1.0, 0.5, 3.0))
    phrase = st.lists(term, max_size=3).map(tuple)
    infix = st.one_of(
        term.map(lambda text: text[:2]), st.sampled_from(("ird", "給", "。", "", "."))
    )
    leaf: st.SearchStrategy[Clause] = st.one_of(
        st.builds(Term, term, field, boost),
        st.builds(Phrase, phrase, field, boost),
        st.builds(Part, infix, field, boost),
        st.builds(Holds, texts),
        st.builds(Pages, st.lists(st.sampled_from((*_PATHS, "absent.md"))).map(tuple)),
        st.just(Everything()),
    )

    def tree(below: st.SearchStrategy[Clause]) -> st.SearchStrategy[Clause]:
        parts = st.lists(below, max_size=2).map(tuple)
        return st.builds(Bool, parts, parts, parts)

    return st.recursive(leaf, tree, max_leaves=6)


class CorpusContract:
    """Random sections and random clauses: a corpus finds exactly what the clauses match.

    A subclass defines how its corpus is filled; the contract of indexes does so already::

        class TestNotes(CorpusContract):
            def filled(self, passages):
                return nullcontext(Notes(passages))

    It needs hypothesis, which the extra ``testing`` brings.
    """

    examples: ClassVar[int] = _EXAMPLES

    @abstractmethod
    def filled(self, passages: Sequence[Passage]) -> AbstractContextManager[Corpus]:
        """Return a context manager that yields a corpus of these passages."""

    def expected(self, passages: Sequence[Passage], corpus: Corpus) -> Sequence[Passage]:
        """Return the passages of the corpus, if it changes those that it receives."""
        del corpus
        return passages

    def test_every_clause_matches_the_same_sections_everywhere(self) -> None:
        """Search, counts, frequencies, lengths and pages follow from the passages alone."""

        @settings(
            max_examples=self.examples,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],  # samples are small already; shrinking them takes minutes
        )
        @given(sections, st.data())
        def check(passages: list[Passage], data: st.DataObject) -> None:
            with self.filled(passages) as corpus:
                expected = _ExpectedAnswers(corpus, self.expected(passages, corpus))
                expected.check_figures()
                tree = clauses(expected.frequencies)
                drawn = data.draw(st.lists(tree, min_size=1, max_size=_CLAUSES))
                for clause in (*_always(expected.frequencies), *drawn):
                    expected.check_search(clause)
                    expected.check_counts(clause)

        check()


def _always(terms: Collection[str]) -> Iterator[Clause]:
    """Yield clauses that every example checks: with uneven estimates, and with only exclusions."""
    first, *others = sorted({*terms, "absent"})
    some = (Term(first, boost=9.0), *(Term(term, boost=0.5) for term in others))
    yield Bool(should=some)
    yield Bool(should=(Term(first, boost=9.0), Pages(_PATHS[:2])))
    yield Bool(must_not=(Term(first),))


class _ExpectedAnswers:
    """The expected answers of a corpus, computed from its passages one by one."""

    def __init__(self, corpus: Corpus, passages: Sequence[Passage]) -> None:
        self._corpus = corpus
        ordered = sorted(passages, key=lambda passage: passage.key)
        self._sections = [PassageTerms(passage, corpus.terms) for passage in ordered]
        self._searched = [s for s in self._sections if s.passage.fields["body"]]
        self.frequencies: dict[str, int] = {}
        for section in self._sections:
            for term in {term for terms in section.terms() for term in terms}:
                self.frequencies[term] = self.frequencies.get(term, 0) + 1

    def check_figures(self) -> None:
        """Compare the answers that do not depend on a clause."""
        corpus = self._corpus
        assert corpus.size == len(self._searched), "size counts other than searched sections"
        expected = {**self.frequencies, "absent": 0}
        assert dict(corpus.frequencies([*expected])) == expected, "frequencies differ"
        for field in ("title", "headings", "path", "body", "absent"):
            lengths = [len(s.passage.fields.get(field, "")) for s in self._searched]
            mean = sum(lengths) / len(lengths) if lengths else 0.0
            assert abs(corpus.average_length(field) - mean) < _TINY, f"mean length of {field}"
        for path in (*_PATHS, "absent.md"):
            page = [s.passage for s in self._sections if s.passage.path == path]
            assert list(corpus.page(path)) == page, f"the page of {path} differs"

    def check_search(self, clause: Clause) -> None:
        """Compare the matches of a clause, their order, and their limits."""
        wanted = {s.passage.key for s in self._searched if matches(clause, s)}
        every = self._corpus.search(clause, len(self._sections) + 1)
        keys = [match.passage.key for match in every]
        assert set(keys) == wanted, f"{clause} finds {sorted(keys)}, not {sorted(wanted)}"
        order = [(-match.estimate, match.passage.key) for match in every]
        assert len(keys) == len(wanted), f"{clause} finds a section twice"
        assert order == sorted(order), f"{clause}: not the best first, ties by path and line"
        for limit in range(len(keys)):
            best = [match.passage.key for match in self._corpus.search(clause, limit)]
            assert best == keys[:limit], f"{clause}: the best {limit} are others"
        cutoff = ScoreCutoff(1, 0.5)
        above = self._corpus.search(clause, len(self._sections) + 1, cutoff)
        assert list(above) == list(cutoff.apply(every)), f"{clause}: {cutoff} drops others"

    def check_counts(self, clause: Clause) -> None:
        """Compare the counts, with a cap and without."""
        for searched, among in ((True, self._searched), (False, self._sections)):
            number = sum(matches(clause, section) for section in among)
            for cap in (None, 0, 1, number, number + 1):
                count = self._corpus.count(clause, cap, searched=searched)
                expected = Count.capped(number, cap)
                assert count == expected, f"{clause}, cap {cap}: {count}, not {expected}"
