"""Splits a Markdown text into sentences, unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import StringIO

from fumishirube.text import is_cjk
from fumishirube_manual.evidence.code_blocks import code_lines

_NO_PROSE = re.compile(
    r"[ \t]*(?:\||<|\[[^\]]+\]:|(?:[-*_=][ \t]*){3,}$)|.*\S(?:\u3000{2,}|[ \t]{3,})\S"
)
_MARKER = re.compile(
    r"\s*(?:(?:[-*+]|\d{1,9}[.)]|>|#{1,6})(?:[ \t]+|$)"
    r"|[（(][0-9０-９一-十]{1,3}[)）]\s*|[・○●◎■□◆①-⑳]\s*)+"
)
_WRAPPED = 40
"""A line with fewer columns is not wrapped: a sentence ends with it."""
_SENTENCE = re.compile(
    r".+?(?:[。！？][。！？」』）】]*|(?<!\b[A-Za-z])[.!?][)\"'\u201d]*(?=\s+[^\sa-z]|\s*\Z)|\Z)",
    re.DOTALL,
)


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences in order, without code, tables, rules and line markup.

    A sentence may span several long lines, and then contains their line ends.
    """
    for block in _blocks(text):
        for match in _SENTENCE.finditer(block):
            sentence = match.group().strip()
            if sentence:
                yield sentence


def _blocks(text: str) -> Iterator[str]:
    """Yield paragraphs and list items, without their markers."""
    place = start = end = 0
    lines = [*StringIO(text)]  # lines end at LF only
    for line, in_code in zip(lines, code_lines(lines), strict=True):
        marker = _MARKER.match(line)
        apart = in_code or _NO_PROSE.match(line) or not line.strip()
        if apart or marker:
            yield text[start:end]
            start = place + (len(line) if apart else marker.end() if marker else 0)
        place += len(line)
        end = place
        if _columns(line.strip()) < _WRAPPED:
            yield text[start:end]
            start = end
    yield text[start:end]


def _columns(line: str) -> int:
    return len(line) + sum(map(is_cjk, line))
