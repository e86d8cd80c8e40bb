"""Division of a section into pieces that an embedder can take in whole."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fumishirube.text.folding import estimate_tokens

PIECE_TOKENS = 256

_BLOCKS = re.compile(r"\n[ \t]*\n")
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)", re.MULTILINE)


def pieces(heading: str, text: str) -> list[str]:
    """Return the heading with the blocks of a text, joined up to the size limit; at least one.

    A block is never split, nor a fenced one at its blank lines.
    """
    packed: list[str] = []
    for block in _blocks(text):
        joined = f"{packed[-1]}\n\n{block}" if packed else block
        if packed and estimate_tokens(joined) <= PIECE_TOKENS:
            packed[-1] = joined
        else:
            packed.append(block)
    return [f"{heading}\n{piece}" for piece in packed] or [heading]


def _blocks(text: str) -> Iterator[str]:
    waiting = ""
    for block in _BLOCKS.split(text):
        waiting = f"{waiting}\n\n{block}" if waiting else block
        if len(_FENCE.findall(waiting)) % 2 == 0:
            if waiting.strip():
                yield waiting
            waiting = ""
    if waiting.strip():
        yield waiting
