"""Adds passages of the shown files to an answer, up to the requested number of characters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fumishirube import TraceRow
from fumishirube_manual.evidence.lines import SectionEvidence
from fumishirube_manual.evidence.reader import EvidenceReader, ShownHit

_LEAST_VALUE = 0.5
"""Passages with a value below this share of the highest value are not added."""
_LONG_CHARS = 1_500
"""A passage of this length has half the value of a very short one with the same worth."""
_NEW = 0.5
"""A section without shown lines is added only if this share of its passage is new text."""
_NAMING_CHARS = 80
"""About the characters that one more section takes besides its lines."""


class _Candidate(NamedTuple):
    """A passage that may be added; its value follows its worth, its length and its hit's score."""

    value: float
    hit: ShownHit
    lines: range


def fill(
    reader: EvidenceReader, shown: list[ShownHit], later: Sequence[TraceRow], chars: int
) -> None:
    """Add passages to the evidence, the best first, up to ``chars`` characters in all.

    The passages are those of the ``shown`` hits, and of ``later`` rows in the same files. A later
    row with an added passage is appended to ``shown``.
    """
    left = chars - sum(_size(hit.evidence) for hit in shown)
    files = {hit.row.path for hit in shown if hit.evidence.lines}
    known = {row.digest for hit in shown for row in hit.rows}
    new = [
        ShownHit(row, SectionEvidence())
        for row in later
        if row.path in files and row.digest not in known
    ]
    candidates = sorted(_candidates(reader, [*shown, *new]), key=lambda candidate: -candidate.value)
    added: dict[int, set[int]] = {}
    said = {line.text for hit in shown for line in hit.evidence.lines}
    for value, hit, lines in candidates:
        if value < _LEAST_VALUE * candidates[0].value:
            break
        texts = reader.texts(hit.row, lines)
        size = sum(len(text) for text in texts if text not in said)
        if not hit.evidence.lines and id(hit) not in added:
            if size < _NEW * sum(map(len, texts)):
                continue
            size += _NAMING_CHARS
        if size <= left:
            added.setdefault(id(hit), set()).update(lines)
            said.update(texts)
            left -= size
    for hit in (*shown, *new):
        if id(hit) in added:
            hit.evidence = reader.evidence(hit.row, hit.room, added[id(hit)])
    shown += [hit for hit in new if id(hit) in added]


def _candidates(reader: EvidenceReader, hits: Sequence[ShownHit]) -> Iterator[_Candidate]:
    best = max((hit.row.score for hit in hits), default=0.0) or 1.0
    for hit in hits:
        if not hit.evidence.whole:
            share = math.sqrt(max(0.0, hit.row.score) / best)
            for lines, worth in reader.passages(hit.row):
                length = 1 + sum(map(len, reader.texts(hit.row, lines))) / _LONG_CHARS
                yield _Candidate(share * worth / length, hit, lines)


def _size(evidence: SectionEvidence) -> int:
    return sum(len(line.text) for line in evidence.lines)
