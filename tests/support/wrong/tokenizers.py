"""Tokenizers, each wrong in one way that their contract names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from fumishirube import Bool, Clause, Everything, Term
from fumishirube.testing import PlainTokenizer, TokenizerContract
from fumishirube.text import written_terms


class TestPlain(TokenizerContract):
    breaks = ()
    stage = PlainTokenizer()


class _Listing(PlainTokenizer):
    """Narrows by a list of terms."""

    def narrow(self, text: str) -> tuple[Clause, bool]:
        terms: Any = [Term(term) for term in dict.fromkeys(self.terms(text))]
        return (Bool(must=terms) if terms else Everything()), False


class TestListing(TokenizerContract):
    breaks = ("test_results_have_the_types_of_their_kind",)
    says = "it returned no clause with the right values: Bool"
    stage = _Listing()


class _Formless(PlainTokenizer):
    """Finds the forms of a word as pairs."""

    def form_finder(self, term: str) -> Callable[[str], Sequence[Any]]:
        return lambda text: [(term, text)]


class TestFormless(TokenizerContract):
    breaks = ("test_results_have_the_types_of_their_kind",)
    says = "it returned something else than texts"
    stage = _Formless()


class _Loose(PlainTokenizer):
    """Leaves white space on its terms."""

    def terms(self, text: str) -> Sequence[str]:
        return [f"{term} " for term in super().terms(text)]


class TestLoose(TokenizerContract):
    breaks = ("test_terms_are_words_without_white_space",)
    stage = _Loose()


class _Inventing(PlainTokenizer):
    """Finds a term in nothing."""

    def terms(self, text: str) -> Sequence[str]:
        return super().terms(text) if text else ["nothing"]


class TestInventing(TokenizerContract):
    # The empty text above another one has a term more, too.
    breaks = ("test_a_blank_text_has_no_terms", "test_a_line_break_parts_texts")
    stage = _Inventing()


class _Choosy(PlainTokenizer):
    """Leaves out a word that it holds to be empty."""

    def terms(self, text: str) -> Sequence[str]:
        return [term for term in super().terms(text) if term != "の"]


class TestChoosy(TokenizerContract):
    breaks = ("test_words_have_terms",)
    stage = _Choosy()


class _Short(PlainTokenizer):
    """Stops after some terms."""

    def terms(self, text: str) -> Sequence[str]:
        return super().terms(text)[:1000]


class TestShort(TokenizerContract):
    breaks = ("test_a_long_text_has_the_terms_of_its_parts",)
    stage = _Short()


class _Narrow(PlainTokenizer):
    """Does not take long words."""

    def terms(self, text: str) -> Sequence[str]:
        terms = super().terms(text)
        if any(len(term) > 50_000 for term in terms):
            raise ValueError("too long")
        return terms


class TestNarrow(TokenizerContract):
    breaks = ("test_a_long_word_does_not_fail",)
    stage = _Narrow()


class _Joining(PlainTokenizer):
    """Joins what stands on two lines."""

    def terms(self, text: str) -> Sequence[str]:
        return [*super().terms(text), *(["joined"] if "\n" in text else [])]


class TestJoining(TokenizerContract):
    breaks = ("test_a_line_break_parts_texts",)
    stage = _Joining()


class _Backwards(PlainTokenizer):
    """Gives the last term first."""

    def terms(self, text: str) -> Sequence[str]:
        return super().terms(text)[::-1]


class TestBackwards(TokenizerContract):
    breaks = ("test_the_order_of_terms_is_that_of_the_text",)
    stage = _Backwards()


class _Forgetful(PlainTokenizer):
    """Writes each term once."""

    def written_terms(self, text: str) -> tuple[str, str, Collection[str]]:
        return " ".join(dict.fromkeys(self.terms(text))), "", ()


class TestForgetful(TokenizerContract):
    breaks = ("test_written_terms_are_the_terms",)
    stage = _Forgetful()


class _Overlooking(PlainTokenizer):
    """Says that a text lacks terms that it has."""

    def written_terms(self, text: str) -> tuple[str, str, Collection[str]]:
        return written_terms(PlainTokenizer(), text)

    def written_beside(
        self, text: str, others: Collection[str]
    ) -> tuple[tuple[str, str, Collection[str]], Collection[str]]:
        return self.written_terms(text), others


class TestOverlooking(TokenizerContract):
    breaks = ("test_written_beside_names_the_terms_that_a_text_lacks",)
    stage = _Overlooking()


class _Impatient(PlainTokenizer):
    """Does not narrow by long texts."""

    def narrow(self, text: str) -> tuple[Clause, bool]:
        if len(text) > 10_000:
            raise ValueError("too long")
        return super().narrow(text)


class TestImpatient(TokenizerContract):
    breaks = ("test_narrowing_by_a_long_text_works",)
    stage = _Impatient()


class _Losing(PlainTokenizer):
    """Looks for a word that it never makes."""

    def narrow(self, text: str) -> tuple[Clause, bool]:
        return (Term("休暇"), False) if text == "休暇" else super().narrow(text)


class TestLosing(TokenizerContract):
    breaks = ("test_narrowing_loses_no_passage_with_the_text",)
    stage = _Losing()


class _Overconfident(PlainTokenizer):
    """Holds the letters of a text, wherever they stand, for the text."""

    def narrow(self, text: str) -> tuple[Clause, bool]:
        return super().narrow(text)[0], text == "休暇"


class TestOverconfident(TokenizerContract):
    breaks = ("test_narrowing_loses_no_passage_with_the_text",)
    texts = ("暇な休み",)
    stage = _Overconfident()


class _Unpunctuated(PlainTokenizer):
    """Looks for nothing where there is no term."""

    def narrow(self, text: str) -> tuple[Clause, bool]:
        return (Bool(), False) if text == "(" else super().narrow(text)


class TestUnpunctuated(TokenizerContract):
    breaks = ("test_narrowing_without_terms_matches_every_text",)
    stage = _Unpunctuated()
