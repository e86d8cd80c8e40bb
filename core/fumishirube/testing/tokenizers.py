"""The contract of tokenizers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

from fumishirube import Everything, Passage, Tokenizer
from fumishirube.host.offered_types import check_texts, check_writing, require_clause
from fumishirube.optional_attributes import FORM_FINDER, QUERY_TERMS, WRITTEN_BESIDE, WRITTEN_TERMS
from fumishirube.testing.contract import StageContract
from fumishirube.testing.corpora import MemoryCorpus, passage
from fumishirube.testing.samples import PASSAGES, TEXTS
from fumishirube.text import fold, occurs, words

_LARGE = 2_000
_WIDTHS = (1, 2, 3, 5, 9)


class TokenizerContract(StageContract[Tokenizer]):
    """Terms without white space, and a ``narrow`` that never loses a passage."""

    protocol = Tokenizer
    texts: ClassVar[Sequence[str]] = ()
    """Further texts to try, in the tokenizer's own language."""

    def exercise(self, stage: Tokenizer, folder: Path) -> object:
        """Return the terms and the clause of every text."""
        return [(list(stage.terms(text)), stage.narrow(text)) for text in self._folded()]

    def test_results_have_the_types_of_their_kind(self) -> None:
        """A search refuses terms that are no texts, and clauses with lists instead of tuples."""
        stage = self.make()
        for text in self._folded():
            terms = check_texts(stage.terms(text))
            require_clause(stage.narrow(text)[0])
            _check_abilities(stage, text, terms)

    def test_terms_are_words_without_white_space(self) -> None:
        """An index separates terms by white space."""
        stage = self.make()
        for text in self._folded():
            for term in stage.terms(text):
                assert isinstance(term, str), f"{term!r} is no string"
                assert term.split() == [term], f"{term!r} is empty or holds white space"

    def test_a_blank_text_has_no_terms(self) -> None:
        """A text without letters has no terms."""
        assert list(self.make().terms("")) == [], "an empty text has terms"

    def test_words_have_terms(self) -> None:
        """A text with a letter in it can be found by that text."""
        stage = self.make()
        for text in ("password", "休暇", "給", "a", "カ", "の"):
            assert list(stage.terms(text)), f"{text!r} has no terms, so it is never found"

    def test_a_long_text_has_the_terms_of_its_parts(self) -> None:
        """No text is cut at some length."""
        stage = self.make()
        once = set(stage.terms(fold("年次有給休暇 password。")))
        many = stage.terms(fold("年次有給休暇 password。" * _LARGE))
        assert once <= set(many), f"missing: {once - set(many)}"
        assert len(many) >= _LARGE, "terms are dropped when they repeat"

    def test_a_long_word_does_not_fail(self) -> None:
        """A word of any length has terms or none, but does not fail."""
        list(self.make().terms("a" * 100_000))

    def test_a_line_break_parts_texts(self) -> None:
        """Two texts on two lines have the terms of both, as often as both have them.

        A tokenizer may use the context of a word only within its line.
        """
        stage = self.make()
        texts = self._folded()
        for upper, other in pairwise([*texts, texts[0]]):
            apart = Counter(stage.terms(upper)) + Counter(stage.terms(other))
            together = Counter(stage.terms(f"{upper}\n{other}"))
            more, less = dict(together - apart), dict(apart - together)
            assert together == apart, f"{upper!r} above {other!r}: {more} more, {less} less"

    def test_the_order_of_terms_is_that_of_the_text(self) -> None:
        """Phrases are found by terms that follow each other."""
        stage = self.make()
        for left, other in (("password", "link"), ("休暇", "給付"), ("link", "休暇")):
            terms = list(stage.terms(f"{left} {other}"))
            first, second = stage.terms(left)[0], stage.terms(other)[0]
            assert terms.index(first) < terms.index(second), f"{left} {other}: {terms}"

    def test_written_terms_are_the_terms(self) -> None:
        """``written_terms`` says of a text what its terms say, if the tokenizer has it."""
        stage = self.make()
        write = WRITTEN_TERMS.of(stage)
        if write is None:
            return
        for text in self._folded():
            terms, known = stage.terms(text), [word for word, _ in words(text)]
            written, characters, parts = write(text)
            assert written == " ".join(terms), f"{text!r} has other terms"
            both = {c for c in text if not c.isascii()}.intersection("".join(terms))
            assert {*characters} == both, f"{text!r} has other characters"
            assert len(characters) <= len(text), f"characters of {text!r} repeat too often"
            plain = {term for term in terms if term.isascii() and term.isalnum()}
            assert {*parts} == plain.difference(known), f"{text!r} has other parts of words"

    def test_written_beside_names_the_terms_that_a_text_lacks(self) -> None:
        """``written_beside`` compares with the terms of a text, if the tokenizer has it."""
        stage: Any = self.make()
        compare = WRITTEN_BESIDE.of(stage)
        if compare is None:
            return
        texts = self._folded()
        others = {term for text in texts for term in stage.terms(text)}
        others |= {term[:size] for term in others for size in range(1, len(term))}
        for text in texts:
            written, lacking = compare(text, others)
            assert written == stage.written_terms(text), f"{text!r} has other terms"
            assert {*lacking} == others.difference(stage.terms(text)), f"{text!r} lacks others"

    def test_narrowing_by_a_long_text_works(self) -> None:
        """A search for a whole page is answered."""
        stage = self.make()
        text = fold("年次有給休暇 password。" * _LARGE)
        clause, _ = stage.narrow(text)
        assert MemoryCorpus([passage("a.md", body=text)], stage).search(clause, 1), "it is lost"

    def test_narrowing_loses_no_passage_with_the_text(self) -> None:
        """Passages that ``narrow`` excludes are never read, so it must not exclude a match."""
        stage = self.make()
        passages = self._passages()
        corpus = MemoryCorpus(passages, stage)
        for needle in self._needles():
            clause, exact = stage.narrow(needle)
            matching = {match.passage.key for match in corpus.search(clause, len(passages))}
            for item in passages:
                if item.key not in matching:
                    assert not _contains(item, needle), (
                        f"narrow({needle!r}) = {clause} loses {item}"
                    )
                elif exact:
                    assert _contains(item, needle), (
                        f"narrow({needle!r}) = {clause} is not exact: {item}"
                    )

    def test_narrowing_without_terms_matches_every_text(self) -> None:
        """Punctuation occurs in texts without being a term: its clause has to match anywhere."""
        stage = self.make()
        corpus = MemoryCorpus([passage("a.md", body="a。 (b) … c!?")], stage)
        for needle in ("。", "(", "…", "!?"):
            clause, exact = stage.narrow(fold(needle))
            assert corpus.search(clause, 1), f"narrow({needle!r}) = {clause} loses its text"
            assert not (exact and clause == Everything()), f"not every text holds {needle!r}"

    def _passages(self) -> list[Passage]:
        written = [passage(f"{n}.md", body=text) for n, text in enumerate(self._folded()) if text]
        return [*written, *PASSAGES]

    def _folded(self) -> list[str]:
        return [fold(text) for text in (*TEXTS, *self.texts)]

    def _needles(self) -> list[str]:
        needles: dict[str, None] = {}
        for text in self._folded():
            needles[text] = None
            for width in _WIDTHS:
                for at in range(len(text) - width + 1):
                    needles[text[at : at + width].strip()] = None
        return [needle for needle in needles if needle]


def _check_abilities(stage: Any, text: str, terms: Sequence[str]) -> None:
    """Check what the optional methods of a tokenizer return for a text with these terms."""
    if query := QUERY_TERMS.of(stage):
        check_texts(query(text))
    if write := WRITTEN_TERMS.of(stage):
        check_writing(write(text))
    if compare := WRITTEN_BESIDE.of(stage):
        written, lacking = compare(text, terms)
        check_writing(written)
        check_texts(lacking)
    if find := FORM_FINDER.of(stage):
        for finder in filter(None, map(find, terms[:1])):
            check_texts(finder(text))


def _contains(item: Passage, needle: str) -> bool:
    return any(occurs(text, needle) for text in item.fields.values())
