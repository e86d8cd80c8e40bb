"""Bytes to text and back: which encoding a file is in, and what its text is."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fumishirube.errors import Unreadable

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UTF16 = ("utf-16-le", "utf-16-be")
# Python's EUC-JP lacks ① and ㈱, which its later standard has.
_JAPANESE = ("cp932", "euc_jp", "euc_jis_2004")
_PLAUSIBLE_UTF8 = 0.8
_PLAUSIBLE_UTF16 = 0.5
_SAMPLE = 1_000_000

# Neither controls, private use, half-width kana nor rare scripts: what wrong readings abound in.
_PLAUSIBLE = (
    "[\t-\r -~\u00a0-\u1fff\u2010-\u27bf\u3000-\u33ff\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff5e]"
)
_KANA = "[\u3041-\u30fe]"


class Decoded(NamedTuple):
    """The text of a file with its own line ends, and how it was written: encoding, and BOM."""

    text: str
    encoding: str
    bom: bytes = b""

    def encode(self, text: str) -> bytes:
        """Return the bytes of a file with another text, written in the same way.

        Raises:
            UnicodeEncodeError: when the encoding lacks one of the characters.
        """
        return self.bom + text.encode(self.encoding)


def decode(data: bytes) -> str:
    """Return the text of a file: no byte order mark, CRLF and CR as LF, nothing else changed.

    Raises:
        Unreadable: see :func:`decoded`.
    """
    return unified(decoded(data).text)


def unified(text: str) -> str:
    """Return a text with CRLF and CR as LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def decoded(data: bytes) -> Decoded:
    """Return the text of a file as it stands there.

    A byte order mark decides; else strict UTF-8 does, unless its NUL bytes betray UTF-16; else the
    most plausible valid reading as UTF-16 (where there are NUL bytes), CP932 or EUC-JP.

    Raises:
        Unreadable: with the reason ``undecodable``, when none of these fits.
    """
    for bom, name in _BOMS:
        if data.startswith(bom):
            return _best(_readings(data[len(bom) :], name))._replace(bom=bom)
    try:
        plain = Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        return _best([*_utf16(data), *_readings(data, *_JAPANESE)])
    doubtful = "\0" in plain.text and _plausibility(plain) < _PLAUSIBLE_UTF8
    return _best([plain, *_utf16(data)]) if doubtful else plain


def _utf16(data: bytes) -> Iterator[Decoded]:
    """Yield what the bytes may say as UTF-16, when there are NUL bytes to suggest it."""
    for one in _readings(data, *_UTF16) if b"\0" in data else ():
        if _plausibility(one) >= _PLAUSIBLE_UTF16:
            yield one


def _readings(data: bytes, *names: str) -> Iterator[Decoded]:
    for name in names:
        try:
            yield Decoded(data.decode(name), name)
        except UnicodeDecodeError:
            continue


def _best(readings: Iterable[Decoded]) -> Decoded:
    """Return the most plausible reading, the earlier one of equals."""
    found = list(readings)
    if not found:
        raise Unreadable(
            "the file is in no known encoding; save it as UTF-8 (CP932, EUC-JP, UTF-16 also work)",
            reason="undecodable",
        )
    return found[0] if len(found) == 1 else max(found, key=_plausibility)


def _plausibility(one: Decoded) -> float:
    """Return the share of characters that texts are made of; kana, hard to hit, count twice."""
    sample = one.text[:_SAMPLE]
    found = len(re.findall(_PLAUSIBLE, sample)) + len(re.findall(_KANA, sample))
    return found / max(1, len(sample))
