from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import ClassVar

import pytest
from fumishirube_sudachi import OtherSpellings, Sudachi
from fumishirube_sudachi.words import RunningSudachi

from fumishirube import ConfigError, Corpus, Passage, Query
from fumishirube.testing import MemoryCorpus, ScorerContract, TokenizerContract, passage
from fumishirube.testing.samples import PASSAGES, TEXTS
from fumishirube.text import fold

SPELT = (
    passage("a.md", body="附属病院のコンピュータは総務課が管理する。"),
    passage("b.md", body="付属の部品を注文する。"),
    passage("c.md", body="年次有給休暇は十日とする。"),
)


JAPANESE = (
    "附属病院の打合わせを行なった。",
    "コンピュータサーバのユーザ登録",
    "すもももももももものうち",
    "東京都庁第3四半期のAPI連携",
)


class TestWords(TokenizerContract):
    stage = Sudachi()
    texts = JAPANESE


class TestWordsBesideBigrams(TokenizerContract):
    stage = Sudachi(bigrams=True)
    texts = JAPANESE


def test_the_running_form_serves_several_threads() -> None:
    texts = [fold(text) for text in (*TEXTS, *JAPANESE)]
    with Sudachi().open() as running, ThreadPoolExecutor(4) as pool:
        expected = [running.terms(text) for text in texts]
        for _ in range(5):
            assert [*pool.map(running.terms, texts)] == expected


class _Spellings(ScorerContract):
    queries = (Query("付属のコンピューター"), Query("打ち合わせ", required=("病院",)))
    opened: ClassVar[RunningSudachi]

    @pytest.fixture(autouse=True)
    def _running(self) -> Iterator[None]:
        with Sudachi().open() as type(self).opened:
            yield

    def corpus(self) -> Corpus:
        return MemoryCorpus(PASSAGES, self.opened)


class TestOtherSpellings(_Spellings):
    stage = OtherSpellings()


class TestFewOtherSpellings(_Spellings):
    stage = OtherSpellings(weight=0.5, depth=1)


# --- terms ----------------------------------------------------------------------------------


def terms(text: str, stage: Sudachi) -> list[str]:
    return [*stage.terms(fold(text))]


def test_words_stand_in_order_and_their_normal_forms_after_the_text() -> None:
    assert terms("附属病院の打合わせ password reset", Sudachi()) == [
        *("附属", "病院", "の", "打合わせ", "password", "reset"),
        *("付属", "≈付属", "打ち合わせ", "≈打ち合わせ"),
    ]


def test_bigrams_stand_in_order_and_words_after_them() -> None:
    assert terms("附属病院 password", Sudachi(bigrams=True)) == [
        *("附属", "属病", "病院", "password"),
        *("付属", "≈付属"),
    ]


def test_a_word_of_letters_and_digits_has_its_parts() -> None:
    assert terms("e104 エラー", Sudachi()) == ["e104", "エラー", "e", "104"]


@pytest.mark.skipif(not find_spec("sudachidict_core"), reason="needs sudachidict-core")
def test_modes_divide_differently() -> None:
    short, long = (Sudachi(dictionary="core", mode=mode) for mode in ("A", "C"))
    assert terms("国家公務員", short) == ["国家", "公務", "員"]
    assert terms("国家公務員", long) == ["国家公務員"]


def test_a_text_of_any_length_is_analysed() -> None:
    # Sudachi refuses more than 49,149 bytes at a time.
    assert terms("有給" * 20_000, Sudachi()).count("有給") > 19_000


def test_a_dictionary_that_is_not_installed_is_named() -> None:
    if find_spec("sudachidict_full"):
        pytest.skip("it is installed")
    with (
        pytest.raises(ConfigError, match="pip install sudachidict-full"),
        Sudachi(dictionary="full").open(),
    ):
        pass


def test_the_versions_of_analyser_and_dictionary_are_in_the_fingerprint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = Sudachi().fingerprint
    monkeypatch.setattr("fumishirube_sudachi.words.version", lambda _: "another")
    assert Sudachi().fingerprint != before


# --- other spellings ------------------------------------------------------------------------


@pytest.fixture
def corpus() -> Iterator[MemoryCorpus]:
    with Sudachi().open() as opened:
        yield MemoryCorpus(SPELT, opened)


def scored(query: Query, corpus: Corpus) -> dict[str, tuple[str, ...]]:
    nothing: dict[tuple[str, int], Passage] = {}
    hits = OtherSpellings().score(query, corpus, nothing)
    return {hit.passage.path: hit.matched for hit in hits}


def test_another_spelling_of_a_word_is_found(corpus: MemoryCorpus) -> None:
    assert scored(Query("付属"), corpus) == {"a.md": ("付属",)}
    assert scored(Query("コンピューター"), corpus) == {"a.md": ("コンピューター",)}


def test_exact_matches_are_left_to_the_other_scorers(corpus: MemoryCorpus) -> None:
    assert scored(Query("有給休暇"), corpus) == {}
    assert scored(Query("附属"), corpus) == {}


def test_only_sections_with_the_required_terms_are_scored(corpus: MemoryCorpus) -> None:
    assert scored(Query("付属", must=("病院",)), corpus) == {"a.md": ("付属",)}
    assert scored(Query("付属", must=("休暇",)), corpus) == {}
