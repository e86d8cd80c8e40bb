"""Bytes to text: which encoding a file is in, and its text with LF line ends."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator

from shirube.errors import Unreadable

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
_PLAUSIBLE = re.compile(
    "[\t-\r -~\u00a0-\u1fff\u2010-\u27bf\u3000-\u33ff\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff5e]"
)
_KANA = re.compile("[\u3041-\u30fe]")


def decode(data: bytes) -> str:
    """Return the text of a file: no byte order mark, CRLF and CR as LF, nothing else changed.

    A byte order mark decides; else strict UTF-8 does, unless its NUL bytes betray UTF-16; else the
    most plausible valid reading as UTF-16 (where there are NUL bytes), CP932 or EUC-JP.

    Raises:
        Unreadable: with the reason ``undecodable``, when none of these fits.
    """
    text = _decode(data)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _decode(data: bytes) -> str:
    for bom, name in _BOMS:
        if data.startswith(bom):
            return _best(_readings(data[len(bom) :], name))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return _best([*_utf16(data), *_readings(data, *_JAPANESE)])
    doubtful = "\0" in text and _plausibility(text) < _PLAUSIBLE_UTF8
    return _best([text, *_utf16(data)]) if doubtful else text


def _utf16(data: bytes) -> Iterator[str]:
    """Yield what the bytes may say as UTF-16, when there are NUL bytes to suggest it."""
    for text in _readings(data, *_UTF16) if b"\0" in data else ():
        if _plausibility(text) >= _PLAUSIBLE_UTF16:
            yield text


def _readings(data: bytes, *names: str) -> Iterator[str]:
    for name in names:
        try:
            yield data.decode(name)
        except UnicodeDecodeError:
            continue


def _best(readings: Iterable[str]) -> str:
    """Return the most plausible reading, the earlier one of equals."""
    texts = list(readings)
    if not texts:
        raise Unreadable(
            "the file is in no known encoding; save it as UTF-8 (CP932, EUC-JP, UTF-16 also work)",
            reason="undecodable",
        )
    return texts[0] if len(texts) == 1 else max(texts, key=_plausibility)


def _plausibility(text: str) -> float:
    """Return the share of characters that texts are made of; kana, hard to hit, count twice."""
    sample = text[:_SAMPLE]
    found = len(_PLAUSIBLE.findall(sample)) + len(_KANA.findall(sample))
    return found / max(1, len(sample))
