from __future__ import annotations

import codecs
from contextlib import suppress

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fumishirube import Unreadable
from fumishirube.text import decode, decode_lossy, decode_with_encoding

RULES = (
    "　第１条　この規程は、出張旅費の取扱いについて定める。\n　第２条　日当は 3,000 円とする。\n"
)
PLAIN = "Each device is numbered.\r\nCosts are refunded within 30 days.\n"

texts = st.text(st.characters(exclude_categories=["Cs"]))
sentences = st.lists(
    st.text(
        "あいうえおかがしすたっなのはをんアカシスタトラン規程旅費出張日当支払対象１２、。　ー",
        min_size=8,
    ),
    min_size=1,
).map("\n".join)


def unified(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


@pytest.mark.parametrize(
    "encoding",
    [
        *("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"),
        *("cp932", "euc_jp", "iso2022_jp"),
    ],
)
@pytest.mark.parametrize("text", [RULES, RULES * 2000, "# 総則\n\n" + RULES, RULES.strip()])
def test_japanese_text_comes_back_from_every_encoding(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "text", [PLAIN, "Défense d’entrer.\n", "Пример текста.\n", "한국어 문서\n"]
)
def test_other_languages_come_back_from_unicode_encodings(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == unified(text)


@given(texts)
def test_utf8_with_a_mark_comes_back(text: str) -> None:
    assert decode(codecs.BOM_UTF8 + text.encode()) == unified(text)


@given(texts)
def test_utf32_with_a_mark_comes_back(text: str) -> None:
    for mark, encoding in (
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ):
        read = decode_with_encoding(mark + text.encode(encoding))
        assert (read.text, read.encoding, read.bom) == (text, encoding, mark)


@given(texts)
def test_utf16_with_a_mark_comes_back(text: str) -> None:
    assume(not text.startswith("\0"))  # that would be the mark of UTF-32
    assert decode(codecs.BOM_UTF16_LE + text.encode("utf-16-le")) == unified(text)
    assert decode(codecs.BOM_UTF16_BE + text.encode("utf-16-be")) == unified(text)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\x1b\ufeff")))
def test_utf8_without_a_mark_comes_back(text: str) -> None:
    assert decode(text.encode()) == unified(text)


@given(sentences, st.sampled_from(["cp932", "euc_jp", "iso2022_jp", "utf-16", "utf-8"]))
def test_japanese_sentences_come_back(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


@given(sentences, st.sampled_from(["utf-16-le", "utf-16-be"]))
def test_japanese_lines_in_utf16_without_a_mark_come_back(text: str, encoding: str) -> None:
    line = f"規程　{text}\n"
    assert decode(line.encode(encoding)) == line


@given(st.binary())
def test_any_bytes_are_decoded_or_unreadable(data: bytes) -> None:
    with suppress(Unreadable):
        text = decode(data)
        assert "\r" not in text
        text.encode()


@given(texts, st.characters(min_codepoint=0x80, exclude_categories=["Cs"]), st.data())
def test_utf8_that_ends_within_a_character_is_read_to_there(
    text: str, last: str, data: st.DataObject
) -> None:
    assume("\0" not in text and not text.startswith("\ufeff"))
    whole = last.encode()
    part = whole[: data.draw(st.integers(1, len(whole) - 1))]
    assert decode(codecs.BOM_UTF8 + text.encode() + part) == unified(text) + "\ufffd"
    assume(not text.isascii())
    read = decode_with_encoding(text.encode() + part)
    assert (read.text, read.encoding, read.cut) == (f"{text}\ufffd", "utf-8", True)
    assert not decode_with_encoding(text.encode()).cut


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("停電".encode()[:-1], "停\ufffd"),
        (b"caf\xc3", "caf\uff83"),  # CP932: there is no other sign of UTF-8
        (b"caf\xe3", "caf\ufffd"),
    ],
)
def test_a_cut_file_of_a_few_characters_is_what_its_whole_part_is(data: bytes, text: str) -> None:
    assert decode(data) == text


def test_ideographic_spaces_do_not_turn_the_byte_order_round() -> None:
    text = "　第一条　目的\n　第二条　範囲\n"
    assert decode(text.encode("utf-16-le")) == text
    assert decode(text.encode("utf-16-be")) == text


def test_euc_jp_with_circled_digits_is_read() -> None:
    assert decode("第①条 ㈱標本 規程の対象\n".encode("euc_jis_2004")) == "第①条 ㈱標本 規程の対象\n"


@pytest.mark.parametrize("data", [b"\x1b$@F|K\\\x1b(J", b"\x1b$BF|K\\\x1b(B", b"\x1b$BF|K\\"])
def test_both_shifts_of_iso_2022_jp_are_read(data: bytes) -> None:
    assert decode(data) == "日本"


def test_iso_2022_jp_with_half_width_kana_is_read() -> None:
    assert decode("半角ｶﾅの規程".encode("iso2022_jp_ext")) == "半角ｶﾅの規程"


def mail(text: str) -> bytes:
    """Return a text in ISO-2022-JP as mail programs write it, which use further codes of JIS."""
    written = b""
    for character in text:
        codes = character.encode("euc_jis_2004")
        if len(codes) == 2:
            written += b"\x1b$B" + bytes(code & 0x7F for code in codes) + b"\x1b(B"
        else:
            written += codes
    return written.replace(b"\x1b(B\x1b$B", b"")


CIRCLED = st.text("①⑳Ⅳ㍉㎝㈱℡№㍻ 規程あa1\n", min_size=1)


@given(CIRCLED)
def test_iso_2022_jp_of_mail_programs_is_read(text: str) -> None:
    assert decode(mail(text)) == text
    assert decode_lossy(mail(text)).text == text


def test_iso_2022_jp_of_mail_programs_stays_what_it_is() -> None:
    read = decode_with_encoding(mail("① 規程"))
    assert read.encode("規程") == "規程".encode("iso2022_jp")
    with pytest.raises(UnicodeEncodeError):
        read.encode("① 規程")


@pytest.mark.parametrize("text", ["\x1b[31mred\x1b[0m", "日本 \x1b$BF|K\\\x1b(B"])
def test_other_escape_sequences_and_those_beside_utf8_are_left(text: str) -> None:
    assert decode(text.encode()) == text


def test_cp932_with_half_width_kana_and_circled_digits_is_read() -> None:
    assert decode("①半角ｶﾅの規程".encode("cp932")) == "①半角ｶﾅの規程"


@pytest.mark.parametrize("data", [b"\0", b"abc" + b"\0" * 99, b"one\0two three four five"])
def test_stray_nul_bytes_do_not_make_utf16(data: bytes) -> None:
    assert decode(data) == data.decode()


def test_a_nul_byte_does_not_keep_cp932_from_being_read() -> None:
    text = "日当は\0支払わない。"
    assert decode(text.encode("cp932")) == text


LONG = RULES * 4


@pytest.mark.parametrize("encoding", ["utf-8", "cp932", "euc_jp"])
@pytest.mark.parametrize("text", [RULES.strip(), RULES[:20], LONG, LONG.strip()])
def test_no_byte_that_was_overwritten_with_nul_makes_japanese_utf16(
    text: str, encoding: str
) -> None:
    whole = text.encode(encoding)
    for place in range(len(whole)):
        data = whole[:place] + b"\0" + whole[place + 1 :]
        read = decode_lossy(data)
        assert not read.encoding.startswith("utf-16"), place
        if len(text) > 20:
            assert read.encoding == encoding.replace("_", "-"), place
        with suppress(Unreadable):
            assert decode(data) == read.text


@given(sentences, st.sampled_from(["utf-8", "cp932", "euc_jp"]), st.data())
def test_japanese_lines_with_a_damaged_byte_stay_readable(
    text: str, encoding: str, data: st.DataObject
) -> None:
    written = f"{RULES}{text}\n"
    whole = written.encode(encoding)
    place = data.draw(st.integers(0, len(whole) - 1))
    read = decode_lossy(whole[:place] + b"\0" + whole[place + 1 :])
    assert read.encoding == encoding.replace("_", "-")
    before = len(whole[: max(0, place - 3)].decode(encoding, "ignore")) - 1
    assert read.text[: max(0, before)] == written[: max(0, before)]
    assert read.damaged or encoding != "utf-8" or whole[place] < 0x80


@given(
    sentences, st.sampled_from(["utf-16-le", "utf-16-be"]), st.sampled_from("\ue000\uf8ff\x1b\0")
)
def test_rare_characters_do_not_keep_utf16_from_being_read(
    text: str, encoding: str, rare: str
) -> None:
    line = f"この規程は、{text[:4]}{rare}{text[4:]}\n"
    assert decode(line.encode(encoding)) == line
    assert decode_lossy(line.encode(encoding)) == (line, encoding, False)


@pytest.mark.parametrize(
    "data",
    [
        *(b"\xff\xfe\x00", b"\xef\xbb\xbf\xff", b"\x81"),
        *(codecs.BOM_UTF32_LE + b"abcd", codecs.BOM_UTF32_BE + b"\0\0\0"),
        *(b"\x1b$BF", b"\x1b$B\x20\x20\x1b(B"),
    ],
)
def test_what_fits_no_encoding_is_unreadable(data: bytes) -> None:
    with pytest.raises(Unreadable) as caught:
        decode(data)
    assert caught.value.reason == "undecodable"
    assert caught.value.code == "invalid_scope"


def test_nothing_but_line_ends_and_the_mark_changes() -> None:
    data = "a\r\nb\rc\n\rd\x0b\x0c\x85\u2028\ufeff\t e ".encode()
    assert decode(data) == "a\nb\nc\n\nd\x0b\x0c\x85\u2028\ufeff\t e "


def test_an_empty_file_is_an_empty_text() -> None:
    assert decode(b"") == ""
    assert decode(codecs.BOM_UTF8) == ""


MARKED = {
    "utf-8-sig": (codecs.BOM_UTF8, "utf-8"),
    "utf-16": (codecs.BOM_UTF16_LE, "utf-16-le"),
    "utf-16 backwards": (codecs.BOM_UTF16_BE, "utf-16-be"),
    "utf-32": (codecs.BOM_UTF32_LE, "utf-32-le"),
    "utf-32 backwards": (codecs.BOM_UTF32_BE, "utf-32-be"),
}


@given(texts.filter(lambda text: not text.startswith("\0")), st.sampled_from(sorted(MARKED)))
def test_a_mark_decides_also_where_bytes_may_be_damaged(text: str, form: str) -> None:
    mark, encoding = MARKED[form]
    data = mark + text.encode(encoding)
    assert decode_lossy(data) == (unified(text), form.removesuffix(" backwards"), False)
    assert decode(data) == unified(text)


UNMARKED = ("utf-8", "cp932", "euc_jp", "euc_jis_2004", "iso2022_jp", "utf-16-le", "utf-16-be")


@given(sentences, st.sampled_from(UNMARKED))
def test_what_is_decoded_is_decoded_alike_where_bytes_may_be_damaged(
    text: str, encoding: str
) -> None:
    data = f"規程　{text}\n".encode(encoding)
    read = decode_lossy(data)
    assert (read.text, read.damaged) == (decode(data), False)
    assert read.encoding == decode_with_encoding(data).encoding.replace("_", "-")


@given(st.binary())
def test_any_bytes_have_a_text_and_what_is_replaced_is_damage(data: bytes) -> None:
    read = decode_lossy(data)
    assert "\r" not in read.text
    codecs.lookup(read.encoding)
    with suppress(Unreadable):
        assert read.damaged or read.text == decode(data)


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        # Also valid as CP932, with half-width kana.
        ("と規対出る。を".encode() + b"\xac\x82\x92", "と規対出る。を\ufffd\ufffd\ufffd", "utf-8"),
        (b"\x1b$B@_Dj\x1b(B \x1b$B@_D", "設定 設\ufffd", "iso2022-jp"),
        (codecs.BOM_UTF16_LE + "規程".encode("utf-16-le")[:-1], "規\ufffd", "utf-16"),
    ],
)
def test_damaged_bytes_are_read_as_what_they_were(data: bytes, text: str, encoding: str) -> None:
    assert decode_lossy(data) == (text, encoding, True)
