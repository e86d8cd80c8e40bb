"""Decoding and encoding of files: which encoding a file has, and its text."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fumishirube.errors import Unreadable

_BOMS = (  # that of UTF-16 is the beginning of that of UTF-32
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UTF16 = ("utf-16-le", "utf-16-be")
# Python's EUC-JP lacks ① and ㈱, which its later standard has.
_JAPANESE = ("cp932", "euc_jp", "euc_jis_2004")
_SHIFTED_JAPANESE = ("iso2022_jp", "iso2022_jp_ext")
_SHIFT = re.compile(rb"\x1b\$[@B]")
"""What begins Japanese in ISO-2022-JP, which is otherwise ASCII."""
_PLAUSIBLE_UTF8 = 0.8
_PLAUSIBLE_UTF16 = 0.5
_SAMPLE = 1_000_000
_UNFINISHED = "unexpected end of data"
"""Why Python refuses UTF-8 of which nothing but the end of the last character is missing."""

# Excludes controls, private use, half-width kana and rare scripts, frequent in wrong readings.
_PLAUSIBLE = (
    "[\t-\r -~\u00a0-\u1fff\u2010-\u27bf\u3000-\u33ff\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff5e]"
)
_KANA = "[\u3041-\u30fe]"

_LOSSY_MARKS = (  # clients get these names
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LOSSY_ENCODINGS = ("utf-8", "cp932", "euc-jp")
_DAMAGE = "[\ufffd\0-\x08\x0e-\x1f\x7f-\x9f\ue000-\uf8ff\U000f0000-\U0010fffd]"
_HALF_WIDTH_KANA = "[\uff65-\uff9f]"
_BLOCK = 65_536


class DecodedText(NamedTuple):
    """The text of a file with its own line ends, its encoding, and whether it has a BOM.

    A file that is ``cut`` ends within a character, which is the U+FFFD at the end of the text.
    """

    text: str
    encoding: str
    bom: bytes = b""
    cut: bool = False

    def encode(self, text: str) -> bytes:
        """Return the bytes of a file with another text, in the same encoding.

        Raises:
            UnicodeEncodeError: when the encoding lacks one of the characters.
        """
        return self.bom + text.encode(self.encoding)


def decode(data: bytes) -> str:
    """Return the text of a file: no byte order mark, CRLF and CR as LF, nothing else changed.

    Raises:
        Unreadable: see :func:`decode_with_encoding`.
    """
    return unify_line_ends(decode_with_encoding(data).text)


def unify_line_ends(text: str) -> str:
    """Return a text with CRLF and CR as LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def decode_with_encoding(data: bytes) -> DecodedText:
    """Return the text of a file with its encoding and line ends.

    A byte order mark decides, also that of UTF-32; else the escape sequences of ISO-2022-JP in
    ASCII do; else UTF-8 does, unless NUL bytes suggest UTF-16; else the most plausible valid
    reading as UTF-16 (with NUL bytes), CP932 or EUC-JP. UTF-8 may end within a character; with
    nothing but ASCII before that, it counts only if no other reading is valid.

    Raises:
        Unreadable: with the reason ``undecodable``, when none of these is valid.
    """
    for bom, name in _BOMS:
        if data.startswith(bom):
            own = data[len(bom) :]
            readings = _utf8(own) if name == "utf-8" else _readings(own, name)
            return _best(readings)._replace(bom=bom)
    if data.isascii() and _SHIFT.search(data):
        return _best(_readings(data, *_SHIFTED_JAPANESE))
    plain = next(_utf8(data), None)
    if plain is None or (plain.cut and plain.text[:-1].isascii()):
        return _best([*_utf16(data), *_readings(data, *_JAPANESE)] or _utf8(data))
    doubtful = "\0" in plain.text and _plausibility(plain) < _PLAUSIBLE_UTF8
    return _best([plain, *_utf16(data)]) if doubtful else plain


def _utf8(data: bytes) -> Iterator[DecodedText]:
    """Yield the reading as UTF-8, if nothing but the end of the last character is missing."""
    try:
        yield DecodedText(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError as error:
        if error.reason == _UNFINISHED:
            whole = data[: error.start].decode("utf-8")
            yield DecodedText(f"{whole}\ufffd", "utf-8", cut=True)


def _utf16(data: bytes) -> Iterator[DecodedText]:
    """Yield the readings as UTF-16, if there are NUL bytes."""
    for reading in _readings(data, *_UTF16) if b"\0" in data else ():
        if _plausibility(reading) >= _PLAUSIBLE_UTF16:
            yield reading


def _readings(data: bytes, *names: str) -> Iterator[DecodedText]:
    for name in names:
        try:
            yield DecodedText(data.decode(name), name)
        except UnicodeDecodeError:
            continue


def _best(readings: Iterable[DecodedText]) -> DecodedText:
    """Return the most plausible reading, the earlier one of equals."""
    candidates = list(readings)
    if not candidates:
        raise Unreadable(
            "the file is in no known encoding; save it as UTF-8 (UTF-16, UTF-32, CP932, EUC-JP and "
            "ISO-2022-JP also work)",
            reason="undecodable",
        )
    return candidates[0] if len(candidates) == 1 else max(candidates, key=_plausibility)


def _plausibility(reading: DecodedText) -> float:
    """Return the share of characters that texts consist of; kana, rare by chance, count twice."""
    sample = reading.text[:_SAMPLE]
    plausible = len(re.findall(_PLAUSIBLE, sample)) + len(re.findall(_KANA, sample))
    return plausible / max(1, len(sample))


class LossyText(NamedTuple):
    """A text with LF line ends, its encoding, and whether some of its bytes could not be read."""

    text: str
    encoding: str
    damaged: bool = False


def decode_lossy(data: bytes) -> LossyText:
    """Return the text of any bytes; unreadable ones become U+FFFD.

    A byte order mark decides; else strict UTF-8 does; else the reading as UTF-8, CP932 or EUC-JP
    with the fewest replaced, control and private characters, half-width kana counting half.
    """
    for mark, name in _LOSSY_MARKS:
        if data.startswith(mark):
            return _read_lossy(data, name)
    try:
        return LossyText(unify_line_ends(data.decode("utf-8")), "utf-8")
    except UnicodeDecodeError:
        return min((_read_lossy(data, name) for name in _LOSSY_ENCODINGS), key=_damage)


def _read_lossy(data: bytes, name: str) -> LossyText:
    try:
        return LossyText(unify_line_ends(data.decode(name)), name)
    except UnicodeDecodeError:
        return LossyText(unify_line_ends(data.decode(name, "replace")), name, damaged=True)


def _damage(read: LossyText) -> float:
    # Block by block, because a search in a long text blocks all other threads.
    blocks = [read.text[start : start + _BLOCK] for start in range(0, len(read.text), _BLOCK)]
    broken = sum(len(re.findall(_DAMAGE, block)) for block in blocks)
    return broken + sum(len(re.findall(_HALF_WIDTH_KANA, block)) for block in blocks) / 2


def has_surrogates(text: str) -> bool:
    """Tell whether a text has lone surrogates, so that it cannot be encoded."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
