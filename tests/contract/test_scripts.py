"""Every short word is found, also in scripts without spaces; spellings of a word are equal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripts import SENTENCES, SPELLINGS
from stdio import Wire

from fumishirube import Part, Term
from fumishirube.corpus import SequenceCorpus
from fumishirube.model import Passage
from fumishirube.text import (
    concepts,
    fold,
    form_of,
    occurs,
    places_of,
    project,
    reading,
    reading_form,
)
from fumishirube.text.projections import FOLDED, TextForm
from fumishirube_stages.tokenizers.bigram import Bigram

ALL = {sentence: each for sentences in SENTENCES.values() for sentence, each in sentences.items()}
FORMS = st.sampled_from(("NFC", "NFD", "NFKC", "NFKD"))
LETTERS = "كتابَُِّْـآأإىیةهשלםָּׁ־׳ёЁе\u0301\u0308\u0306за٣۴๔กำ้่ีहन्दीｱa -\n"
HINDI = "हिन्दी भाषा है।"
UNSEEN = "\u00ad\u200b\u2060\ufeff\ufe0f\U000e0100"
TEXTS = st.lists(st.sampled_from([*ALL]), min_size=1, max_size=4)


@pytest.fixture(scope="module", params=["NFC", "NFD"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Wire]:
    workspace = tmp_path_factory.mktemp("scripts")
    for name, sentences in SENTENCES.items():
        _write(workspace / "manuals" / name, [*sentences], request.param)
    spellings = ["\n\n".join(each) for each in SPELLINGS.values()]
    _write(workspace / "manuals" / "spellings", spellings, request.param)
    _write(workspace / "manuals" / "marks", [HINDI], request.param)
    with Wire(workspace) as wire:
        wire.ok("manual_ls")
        yield wire


def _write(folder: Path, texts: Sequence[str], form: str) -> None:
    folder.mkdir(parents=True)
    for number, text in enumerate(texts):
        written = unicodedata.normalize(form, f"# Section\n\n{text}\n")
        (folder / f"{number}.md").write_text(written, encoding="utf-8")


def _hits(server: Wire, query: str, manual_id: str) -> dict[str, Any]:
    found = server.ok(
        "manual_find",
        query=query,
        required_terms=[query],
        manual_id=manual_id,
        inline_hits={"limit": 5},
    )
    ((_, use, number),) = found["terms"]
    assert (use, query) == ("ranked", found["terms"][0][0])
    if len(fold(query)) < 3:
        assert len(found["inline_hits"]["items"]) == number
    return {hit["ref"]["path"]: hit for hit in found["inline_hits"]["items"]}


def _paths(server: Wire, text: str, manual_id: str, **more: Any) -> list[str]:
    answer = server.ok("manual_grep", any=[text], manual_id=manual_id, **more)
    return [group["path"] for group in answer["groups"]]


@pytest.mark.many_cases
@pytest.mark.parametrize("script", SENTENCES)
def test_every_short_word_is_found(server: Wire, script: str) -> None:
    sentences = SENTENCES[script]
    for number, (sentence, each) in enumerate(sentences.items()):
        for word in each.split():
            path = f"{number}.md"
            every = [f"{n}.md" for n, text in enumerate(sentences) if fold(word) in fold(text)]
            hits = _hits(server, word, script)
            assert sorted([*hits][: len(every)]) == every, word
            assert hits[path]["matched_tokens"] == [fold(word)]
            assert hits[path]["lines"][0][0] == 3, sentence
            grepped = _paths(server, word, script)
            assert path in grepped, word
            assert {*grepped} <= {*every}


@pytest.mark.many_cases
@pytest.mark.parametrize("word", SPELLINGS)
def test_other_spellings_of_a_word_are_found(server: Wire, word: str) -> None:
    path = f"{[*SPELLINGS].index(word)}.md"
    for spelling in (word, *SPELLINGS[word]):
        assert next(iter(_hits(server, spelling, "spellings"))) == path, spelling
        answer = server.ok("manual_grep", any=[spelling], manual_id="spellings")
        (group,) = answer["groups"]
        assert (group["path"], answer["total"]) == (path, len(SPELLINGS[word])), spelling


def test_a_pattern_and_an_exact_text_match_a_spelling_as_written(server: Wire) -> None:
    assert _paths(server, "кот", "spellings") == []
    assert _paths(server, "замок", "spellings", exact=True) == []
    assert _paths(server, "ЗАМО́К".casefold(), "spellings")


@pytest.mark.parametrize(
    ("script", "question", "term", "path"),
    [
        ("korean", "휴가는 어떻게 신청하나요?", "휴가", "0.md"),
        ("korean", "출장비용을 정산하는 방법", "출장비용", "2.md"),
        ("chinese", "會議室怎麼預約", "預約", "5.md"),
        ("chinese", "密码多久更换一次?", "密码", "1.md"),
        ("thai", "ต้องเปลี่ยนรหัสผ่านเมื่อไร", "รหัสผ่าน", "1.md"),
        ("thai", "ซื้อปลาและปูที่ไหน", "ปู", "4.md"),
    ],
)
def test_a_question_finds_what_it_is_about(
    server: Wire, script: str, question: str, term: str, path: str
) -> None:
    found = server.ok(
        "manual_find",
        query=question,
        required_terms=[term],
        manual_id=script,
        inline_hits={"limit": 1},
    )
    assert found["inline_hits"]["items"][0]["ref"]["path"] == path


def test_a_korean_word_is_a_concept_without_its_particle() -> None:
    assert [each.text for each in concepts("휴가를 정산은 나이 서버에서는 API로")] == [
        *("휴가", "정산", "나이", "서버", "api", "로"),
    ]


def test_words_of_letters_beside_korean_are_whole(server: Wire) -> None:
    text = fold("API를 호출하고 USB로 옮깁니다")
    assert occurs(text, "api")
    assert occurs(text, "usb")
    assert not occurs(fold("APIs를"), "api")


@given(texts=TEXTS, written=FORMS, asked=FORMS)
def test_a_word_is_a_term_of_every_text_that_has_it(
    texts: list[str], written: str, asked: str
) -> None:
    text = unicodedata.normalize(written, "".join(texts))
    folded, terms = fold(text), {*Bigram().terms(fold(text))}
    passage = Passage("a.md", 1, 3, "", (), 1, "", {"title": "", "headings": "", "body": folded})
    corpus = SequenceCorpus([passage], Bigram().terms)
    for sentence in texts:
        for word in ALL[sentence].split():
            typed = unicodedata.normalize(asked, word)
            assert occurs(folded, fold(typed))
            assert {*Bigram().terms(fold(typed))} <= terms
            assert corpus.count(Bigram().narrow(fold(typed))[0]).number == 1
            read = reading(typed)
            assert read is not None
            assert [*read.matching_lines(text, reading_form(text))]
            shown = [text[start:end] for start, end in places_of([fold(typed)], text)]
            assert shown
            assert all(fold(word) in fold(span) for span in shown)


@given(
    st.text(st.sampled_from(LETTERS + UNSEEN))
    | st.text(st.sampled_from("葛か\u3099éёх٣ـ -\n" + UNSEEN))
)
def test_folding_letters_is_stable_and_alike_in_all_forms(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    projection = project(text, FOLDED)
    assert projection.text == form_of(text, FOLDED)
    # The tools over chapters ignore case alone, as their patterns do.
    assert form_of(text, TextForm()) == unicodedata.normalize("NFKC", text).casefold()
    assert reading_form(text).count("\n") == text.count("\n")
    places = [projection.span(at, at + 1) for at in range(len(projection.text))]
    assert all(0 <= start < end <= len(text) for start, end in places)
    assert places == sorted(places)


def test_a_highlight_has_the_marks_of_its_last_letter() -> None:
    line = "هذا كِتَابٌ مفيد"
    assert [line[start:end] for start, end in places_of([fold("كتاب")], line)] == ["كِتَابٌ"]
    read = reading("كتاب")
    assert read is not None
    assert [line[start:end] for start, end in read.spans(line)] == ["كِتَابٌ"]


def test_a_highlight_has_the_selector_of_its_last_letter_and_not_one_before() -> None:
    line = "大和の葛\U000e0100城\u200b市\ufe00。"
    for word, covered in (("葛", "葛\U000e0100"), ("城市", "城\u200b市\ufe00"), ("。", "。")):
        assert [line[start:end] for start, end in places_of([fold(word)], line)] == [covered]
        read = reading(word)
        assert read is not None
        assert [line[start:end] for start, end in read.spans(line)] == [covered]


def test_a_syllable_is_not_cut() -> None:
    for text, line in (("บท", "บที่"), ("กา", "ก่า")):
        read = reading(text)
        assert read is not None
        assert not read.spans(line)


@pytest.mark.parametrize("text", ["ـ", "\u064e", "\u05b0", "\u200b", "\u00ad"])
def test_a_text_of_marks_alone_is_refused(server: Wire, text: str) -> None:
    searched = {"query": text, "required_terms": [text]}
    for tool, arguments in (("manual_grep", {"any": [text]}), ("manual_find", searched)):
        refused = server.refused(tool, **arguments, manual_id="spellings")
        assert refused["code"] == "invalid_parameter"


def test_words_of_letters_with_marks_are_whole(server: Wire) -> None:
    assert Bigram().terms(fold(HINDI)) == ["हिन्दी", "भाषा", "है"]
    found = {
        text for text in ("हिन्दी", "दी", "हिन", "भाष") if _paths(server, text, "marks", word=True)
    }
    assert found == {"हिन्दी"}
    corpus = SequenceCorpus((), Bigram().terms)
    assert corpus.count(Term("ह")).number == corpus.count(Part("ह")).number == 0
