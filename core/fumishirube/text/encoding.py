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
_SHIFTED = re.compile(rb"\x1b\$[@B]([!-~]*)(?:\x1b\([BJ]|\Z)")
_SET_HIGH_BIT = bytes(byte | 0x80 for byte in range(256))
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

_LOSSY_ENCODINGS = ("utf-8", "cp932", "euc_jp", "iso2022_jp")
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
    reading as UTF-16 (with NUL bytes), CP932 or EUC-JP. UTF-16 is none if another encoding with
    damaged bytes is more plausible. UTF-8 may end within a character; with nothing but ASCII before
    that, it counts only if no other reading is valid.

    Raises:
        Unreadable: with the reason ``undecodable``, when none of these is valid.
    """
    for bom, name in _BOMS:
        if data.startswith(bom):
            own = data[len(bom) :]
            readings = _utf8(own) if name == "utf-8" else _readings(own, name)
            return _best(readings)._replace(bom=bom)
    if data.isascii() and _SHIFT.search(data):
        return _best([*_readings(data, *_SHIFTED_JAPANESE)] or _mail(data))
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
    """Yield the readings as UTF-16, if there are NUL bytes.

    Nearly all bytes are valid UTF-16. So a reading with some damage, of a file with a stray NUL
    byte, must not be more plausible.
    """
    readings = [*_readings(data, *_UTF16)] if b"\0" in data else []
    if max(map(_plausibility, readings), default=0) >= _PLAUSIBLE_UTF16:
        least = max(_PLAUSIBLE_UTF16, *map(_plausibility, _damaged_readings(data)))
        yield from (reading for reading in readings if _plausibility(reading) >= least)


def _readings(data: bytes, *names: str) -> Iterator[DecodedText]:
    for name in names:
        try:
            yield DecodedText(data.decode(name), name)
        except UnicodeDecodeError:
            continue


def _mail(data: bytes) -> Iterator[DecodedText]:
    """Yield the reading as ISO-2022-JP with ① and ㈱, which mail programs write and Python lacks.

    They have the same codes in EUC-JP, whose bytes are those between the shifts with a high bit.
    """
    unshifted = _SHIFTED.sub(lambda shifted: shifted[1].translate(_SET_HIGH_BIT), data)
    for reading in _readings(unshifted, "euc_jis_2004") if b"\x1b" not in unshifted else ():
        yield reading._replace(encoding="iso2022_jp")


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

    The encoding is that of :func:`decode_with_encoding`, unless it is CP932 or EUC-JP and there is
    less damage in the reading as UTF-8. Where none is valid, a byte order mark decides; else the
    reading as UTF-8, CP932, EUC-JP or ISO-2022-JP with the least damage. That is the number of
    replaced, control and private characters; half-width kana count half.
    """
    try:
        read = decode_with_encoding(data)
    except Unreadable:
        read, damaged = min(_damaged_readings(data), key=_damage), True
    else:
        damaged = read.cut
        if read.encoding in _JAPANESE:  # so is damaged UTF-8 of a few words
            utf8 = DecodedText(data.decode("utf-8", "replace"), "utf-8")
            if _damage(utf8) <= _damage(read):
                read, damaged = utf8, True
    return LossyText(unify_line_ends(read.text), _shown_name(read), damaged)


def _damaged_readings(data: bytes) -> Iterator[DecodedText]:
    for bom, name in _BOMS:
        if data.startswith(bom):
            yield DecodedText(data[len(bom) :].decode(name, "replace"), name, bom)
            return
    for name in _LOSSY_ENCODINGS:
        yield DecodedText(data.decode(name, "replace"), name)


def _damage(read: DecodedText) -> float:
    # Block by block, because a search in a long text blocks all other threads.
    blocks = [read.text[start : start + _BLOCK] for start in range(0, len(read.text), _BLOCK)]
    broken = sum(len(re.findall(_DAMAGE, block)) for block in blocks)
    return broken + sum(len(re.findall(_HALF_WIDTH_KANA, block)) for block in blocks) / 2


def _shown_name(read: DecodedText) -> str:
    """Return the name of an encoding that clients get."""
    if read.bom:
        return "utf-8-sig" if read.encoding == "utf-8" else read.encoding[: len("utf-16")]
    return read.encoding.replace("_", "-")


def has_surrogates(text: str) -> bool:
    """Tell whether a text has lone surrogates, so that it cannot be encoded."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def replace_surrogates(text: str) -> str:
    """Replace each lone surrogate of a text, so that it can be encoded."""
    if not has_surrogates(text):
        return text
    return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
