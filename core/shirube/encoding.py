"""Bytes to text: which encoding a file is in, and its text with LF line ends."""

from __future__ import annotations

import codecs
import re

from shirube.errors import Unreadable

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_IMPLAUSIBLE = re.compile("[\uff61-\uff9f\ue000-\uf8ff\x80-\x9f]")
_UTF16_NUL_SHARE = 0.2


def decode(data: bytes) -> str:
    """Return the text of a file: no byte order mark, CRLF and CR as LF, nothing else changed.

    Tried in this order: a byte order mark, strict UTF-8 (unless its NUL bytes betray UTF-16),
    UTF-16, and then CP932 or EUC-JP, whichever is valid and has fewer improbable characters.

    Raises:
        Unreadable: with the reason ``undecodable``, when none of these fits.
    """
    text = _decode(data)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _decode(data: bytes) -> str:
    for bom, name in _BOMS:
        if data.startswith(bom):
            return _strict(data[len(bom) :], name)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return _utf16_without_bom(data) if b"\0" in data else _japanese(data)
    if "\0" in text and data.count(0) >= len(data) * _UTF16_NUL_SHARE:
        return _utf16_without_bom(data)
    return text


def _strict(data: bytes, name: str) -> str:
    try:
        return data.decode(name)
    except UnicodeDecodeError as error:
        raise _undecodable() from error


def _utf16_without_bom(data: bytes) -> str:
    high_last = data[1::2].count(0) >= data[0::2].count(0)
    return _strict(data, "utf-16-le" if high_last else "utf-16-be")


def _japanese(data: bytes) -> str:
    readings: list[tuple[int, int, str]] = []
    for name in ("cp932", "euc_jp"):
        try:
            text = data.decode(name)
        except UnicodeDecodeError:
            continue
        readings.append((len(_IMPLAUSIBLE.findall(text)), len(readings), text))
    if not readings:
        raise _undecodable()
    return min(readings)[2]


def _undecodable() -> Unreadable:
    return Unreadable(
        "the file is in no known encoding; save it as UTF-8 (CP932, EUC-JP and UTF-16 also work)",
        reason="undecodable",
    )
