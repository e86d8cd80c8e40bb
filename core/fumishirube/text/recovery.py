"""Decoding of any bytes: unreadable ones are marked, the rest is decoded."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from fumishirube.text.encoding import unify_line_ends

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NAMES = ("utf-8", "cp932", "euc-jp")
_DAMAGE = "[\ufffd\0-\x08\x0e-\x1f\x7f-\x9f\ue000-\uf8ff\U000f0000-\U0010fffd]"
_HALF_WIDTH_KANA = "[\uff65-\uff9f]"
_BLOCK = 65_536


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
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _read(data, name)
    try:
        return LossyText(unify_line_ends(data.decode("utf-8")), "utf-8")
    except UnicodeDecodeError:
        return min((_read(data, name) for name in _NAMES), key=_damage)


def _read(data: bytes, name: str) -> LossyText:
    try:
        return LossyText(unify_line_ends(data.decode(name)), name)
    except UnicodeDecodeError:
        return LossyText(unify_line_ends(data.decode(name, "replace")), name, damaged=True)


def _damage(read: LossyText) -> float:
    # Block by block, because a search in a long text blocks all other threads.
    blocks = [read.text[start : start + _BLOCK] for start in range(0, len(read.text), _BLOCK)]
    broken = sum(len(re.findall(_DAMAGE, block)) for block in blocks)
    return broken + sum(len(re.findall(_HALF_WIDTH_KANA, block)) for block in blocks) / 2
