"""English words in another number, and Japanese verbs that are one concept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fumishirube import Holds
from fumishirube.testing import MemoryCorpus, passage
from fumishirube.text import concepts, fold, letter_names, mentions, occurs, term_forms
from fumishirube_stages.tokenizers.bigram import Bigram
from fumishirube_stages.tokenizers.ngram import form_finder, stem

LATIN = st.text(alphabet="aeisxy tr", min_size=1, max_size=12).map(fold).filter(bool)


@pytest.mark.parametrize(
    ("text", "term", "there"),
    [
        ("wind sensors", "sensor", True),
        ("a wind sensor", "wind sensors", True),
        ("wind censors", "sensor", False),
        ("two policies", "policy", True),
        ("the class", "classes", True),
        ("one cache", "caches", True),
        ("the caches", "cache", True),
        ("a page size", "page sizes", True),
        ("a cookie", "cookies", True),
        ("an axe", "axes", True),
        ("two matches", "match", True),
        ("one api", "apis", True),
        ("two cpus", "cpu", True),
        ("a lambda", "lambdas", True),
        ("two statuses", "status", True),
        ("the status", "statuses", True),
        ("use http", "https", False),
        ("use https", "http", False),
        ("the us", "uses", False),
        ("the news", "new", False),
        ("e-1042", "e-104", False),
        ("passwords", "pass", False),
        ("this is", "thi", False),
        ("an α particle", "alpha particle", True),
        ("alpha particles", "α", True),
        ("はα線", "alpha", True),
        ("alphabet", "α", False),
        ("μ", "micro", True),
        ("10 ω", "ohms", True),
    ],
)
def test_a_term_is_met_in_singular_and_plural(text: str, term: str, *, there: bool) -> None:
    assert mentions(text, term) is there


@given(LATIN, LATIN)
def test_what_occurs_is_mentioned(text: str, term: str) -> None:
    assert mentions(text, term) or not occurs(text, term)
    assert mentions(text, term) == any(occurs(text, form) for form in term_forms(term))


def test_a_singular_finds_the_section_of_the_plural() -> None:
    corpus = MemoryCorpus([passage("a.md", title="Wind sensors", body="They turn.")], Bigram())
    assert corpus.count(Holds("sensor")).number == 1


@given(st.lists(st.text(alphabet="aeilnrsty", min_size=3, max_size=9), min_size=1))
def test_every_word_is_among_the_forms_of_its_stem(words: list[str]) -> None:
    text = " ".join(words)
    for word in words:
        if stem(word) != word:
            assert word in form_finder(stem(word))(text)


@pytest.mark.parametrize(
    ("first", "second"), [("\u00b5", "μ"), ("\u2126", "Ω"), ("Ω", "ω"), ("ς", "σ"), ("ϑ", "θ")]
)
def test_signs_of_units_and_other_forms_of_a_greek_letter_are_equal(
    first: str, second: str
) -> None:
    assert fold(first) == fold(second)


@given(st.sampled_from("αβγδεζηθικλμνξοπρστυφχψω"), st.sampled_from(" (線0"))
def test_a_greek_letter_has_the_stem_of_each_of_its_names(letter: str, beside: str) -> None:
    for name in letter_names(letter):
        assert stem(name) == stem(letter)
        assert letter in term_forms(name)
        assert name in term_forms(letter)
        text = f"{beside}{letter} {name} {name}x x{letter}"
        assert [*form_finder(stem(name))(text)] == [letter, name]


@pytest.mark.parametrize("word", ["studying", "studies", "coding", "visibility", "tying", "homing"])
def test_words_that_change_their_end_are_met(word: str) -> None:
    assert form_finder(stem(word))(f"a {word} x{word}") == [word]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("設定が読み込まれない", ["設定", "読み込"]),
        ("取り消し手数料は", ["取り消", "手数料"]),
        ("使い方を教えて", ["使い方"]),
        ("おしらせ", ["おしらせ"]),
        ("哺乳類に関する生息について知りたいのですか。", ["哺乳類", "生息"]),
        ("教えて", ["教"]),
        ("子どもに教える", ["子", "教"]),
        ("総務省の役割とは何ですか", ["総務省", "役割"]),
        ("創設者は誰？何年のことか", ["創設者"]),
        ("退職の何日前までに届け出る？", ["退職", "日前", "届け出"]),
        ("創業は西暦何年ですか", ["創業", "西暦"]),
        ("届出は第何条で、約何万人が対象か", ["届出", "万人", "対象"]),
        ("幾何の証明", ["幾何", "証明"]),
        ("代数幾何学の証明", ["代数幾何学", "証明"]),
        ("平面几何证明", ["平面几何证明"]),
        ("何ですか", ["何ですか"]),
        ("申請の流れを説明してください", ["申請", "流"]),
        ("申請を説明した資料", ["申請", "説明", "資料"]),
        ("申請と届出の違いは何ですか", ["申請", "届出"]),
        ("申請、届出、許可の違い", ["申請", "届出", "許可"]),
        ("申請は届出とどう関係しますか", ["申請", "届出"]),
        ("申請と届出の関係について教えてください", ["申請", "届出"]),
        ("申請が届出になる理由を説明して", ["申請", "届出"]),
        ("申請を取り消す場合の注意点は?", ["申請", "取り消"]),
        ("申請の違いを届出で示す", ["申請", "違", "届出", "示"]),
        ("違いは", ["違"]),
        ("関係", ["関係"]),
        ("人間関係", ["人間関係"]),
    ],
)
def test_a_query_has_the_concepts_that_it_is_about(text: str, expected: list[str]) -> None:
    assert [concept.text for concept in concepts(text)] == expected


def test_a_kanji_is_one_concept_with_an_ending_and_without() -> None:
    assert [concept.text for concept in concepts("税を知る")] == ["税", "知"]
