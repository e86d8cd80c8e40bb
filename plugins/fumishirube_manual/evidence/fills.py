"""Filling the room that a caller gives with more passages of the files that are shown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fumishirube import TraceRow
from fumishirube_manual.evidence.lines import SectionEvidence
from fumishirube_manual.evidence.reader import EvidenceReader, ShownHit

_LEAST_VALUE = 0.5
"""No passage is added whose value is below this share of the best one's."""
_LONG_CHARS = 1_500
"""A passage that adds so many characters has half the value of a short one of its worth."""
_NEW = 0.5
"""A further section comes only if so much of its passage is not shown already, as of a copy."""
_NAMING_CHARS = 80
"""About what it takes to name one more section."""


class _Candidate(NamedTuple):
    """A passage that may be added; its value grows with that of its hit and its own."""

    value: float
    hit: ShownHit
    lines: range


def fill(
    reader: EvidenceReader, shown: list[ShownHit], later: Sequence[TraceRow], chars: int
) -> None:
    """Show more passages, the best first, as far as there is room.

    They are of the hits that are ``shown``, and of ``later`` rows of the same files, which join
    these.
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
