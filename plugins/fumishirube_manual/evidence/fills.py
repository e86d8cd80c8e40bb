"""Adds passages of the shown files to an answer, up to a number of characters."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from heapq import heappop, heapreplace
from typing import NamedTuple

from fumishirube import TraceRow
from fumishirube_manual.evidence.annotations import wording_of
from fumishirube_manual.evidence.lines import SectionEvidence
from fumishirube_manual.evidence.reader import EvidenceReader, ShownHit

_LEAST_CLAIM = 0.4
"""Passages with a smaller claim are not added; the best one for a wording without text has 1."""
_KNOWN = 0.6
"""The share of its value that a passage has without a concept that no shown line contains."""
_LONG_CHARS = 1_500
"""A passage of this length has half the value of a very short one with the same worth."""
_CODE = 0.5
"""The share of its value that a block of code has: it repeats names that the text explains."""
_FAIR_CHARS = 2_500
"""A wording with this many characters in the answer has half a claim to further ones."""
_NEW = 0.5
"""A passage is added only if this share of it is new text."""
_SHORT_CHARS = 200
"""A section of about so many characters is shown whole if it has no passage."""
_NAMING_CHARS = 80
"""About the characters that one more section takes besides its lines."""


class _Passage(NamedTuple):
    """A passage that may be added; its value for each wording is 1 for the best passage."""

    hit: ShownHit
    lines: range
    texts: Sequence[str]
    values: Sequence[float]
    concepts: Sequence[Mapping[str, float]]


class _Alike(NamedTuple):
    """Passages with the same concepts of a wording, by number: the last has the highest value.

    As their claims fall alike, that one also has the highest claim.
    """

    wording: int
    concepts: Mapping[str, float]
    waiting: list[tuple[float, int]]


def fill(
    reader: EvidenceReader, shown: list[ShownHit], later: Sequence[TraceRow], chars: int
) -> None:
    """Add passages to the evidence, the best first, up to ``chars`` characters in all; fill gaps.

    The passages are those of the ``shown`` hits, and of ``later`` rows in the same files. A later
    row with an added passage is appended to ``shown``. A wording with little text so far comes
    before one with much, so that each part of a question has its share, and a passage with further
    concepts of the query before one that repeats what is shown.
    """
    files = {hit.row.path for hit in shown if hit.evidence.lines}
    known = {row.digest for hit in shown for row in hit.rows}
    new = [
        ShownHit(row, SectionEvidence())
        for row in later
        if row.path in files and row.digest not in known
    ]
    filling = _Filling(shown, chars)
    passages = [*_valued(_passages(reader, [*shown, *new]))]
    for passage in _best_first(passages, filling):
        filling.add(passage)
    shown += [hit for hit in new if id(hit) in filling.added]
    for hit in shown:
        hit.evidence = _filled(reader, hit, filling.added.get(id(hit), ()))


def _filled(reader: EvidenceReader, hit: ShownHit, passages: Collection[int]) -> SectionEvidence:
    """Return the evidence of a hit with its passages; a short section without text is whole."""
    if passages or hit.evidence.lines:
        return reader.evidence(hit.row, hit.room, passages, closed=True)
    short = reader.evidence(hit.row, _SHORT_CHARS)
    return short if short.whole else hit.evidence


class _Filling:
    """The passages added so far, the characters of each wording in the answer, and its concepts."""

    def __init__(self, shown: Sequence[ShownHit], chars: int) -> None:
        self.added: dict[int, set[int]] = {}
        self._said = {line.text for hit in shown for line in hit.evidence.lines}
        self._has: Counter[int] = Counter()
        for hit in shown:
            self._has[wording_of(hit.row)] += sum(len(line.text) for line in hit.evidence.lines)
        self._left = chars - self._has.total()
        self._known = {
            text for hit in shown for text in hit.evidence.concepts if hit.evidence.lines
        }

    def _served(self, passage: _Passage) -> int:
        """Return the wording that a passage serves best now."""
        each = enumerate(zip(passage.values, passage.concepts, strict=True))
        return max((self.claim_for(number, *worth), number) for number, worth in each)[1]

    def claim_for(self, wording: int, value: float, concepts: Mapping[str, float]) -> float:
        """Return what a value for a wording, of a passage with some concepts, is worth now."""
        return value * self._new(concepts) / (1 + self._has[wording] / _FAIR_CHARS)

    def _new(self, weights: Mapping[str, float]) -> float:
        """Return the share of its value that a passage with some concepts has now."""
        new = sum(weight for text, weight in weights.items() if text not in self._known)
        return _KNOWN + (1 - _KNOWN) * new / (sum(weights.values()) or 1.0)

    def add(self, passage: _Passage) -> None:
        """Add a passage if it fits."""
        hit, texts = passage.hit, passage.texts
        size = sum(len(text) for text in texts if text not in self._said)
        if size < _NEW * sum(map(len, texts)):
            return
        if not hit.evidence.lines and id(hit) not in self.added:
            size += _NAMING_CHARS
        if size > self._left:
            return
        wording = self._served(passage)
        self.added.setdefault(id(hit), set()).update(passage.lines)
        self._said.update(texts)
        self._known.update(*passage.concepts)
        self._has[wording] += size
        self._left -= size


def _best_first(passages: Sequence[_Passage], filling: _Filling) -> Iterator[_Passage]:
    """Yield the passage with the highest claim, each once, as long as one has enough of a claim.

    Claims change with each passage that is added, and only the best of those alike is compared.
    """
    groups = _alike(passages)
    queue = [(-math.inf, 0, number) for number in range(len(groups))]
    done: set[int] = set()
    while queue:
        _, _, number = queue[0]
        wording, concepts, waiting = groups[number]
        while waiting and waiting[-1][1] in done:
            waiting.pop()
        if not waiting:
            heappop(queue)
            continue
        value, place = waiting[-1]
        claim = filling.claim_for(wording, value, concepts)
        now = (-claim, place, number)
        if now > queue[0]:  # claims only fall, so that the first that has not fallen is the best
            heapreplace(queue, now)
        elif claim < _LEAST_CLAIM:
            return
        else:
            done.add(place)
            yield passages[place]


def _alike(passages: Sequence[_Passage]) -> Sequence[_Alike]:
    """Return the groups of passages for each wording, without those that have no claim to it."""
    groups: dict[tuple[int, frozenset[str]], _Alike] = {}
    for place, passage in enumerate(passages):
        each = zip(passage.values, passage.concepts, strict=True)
        for wording, (value, concepts) in enumerate(each):
            if value >= _LEAST_CLAIM:
                key = wording, frozenset(concepts)
                group = groups.setdefault(key, _Alike(wording, concepts, []))
                group.waiting.append((value, place))
    for group in groups.values():
        group.waiting.sort(key=lambda waiting: (waiting[0], -waiting[1]))
    return [*groups.values()]


def _valued(passages: Iterator[_Passage]) -> Iterator[_Passage]:
    """Yield passages with values relative to the best for each wording."""
    every = [*passages]
    best = [max(values) or 1.0 for values in zip(*(each.values for each in every), strict=True)]
    for each in every:
        values = [value / most for value, most in zip(each.values, best, strict=True)]
        yield each._replace(values=values)


def _passages(reader: EvidenceReader, hits: Sequence[ShownHit]) -> Iterator[_Passage]:
    best = max((hit.row.score for hit in hits), default=0.0) or 1.0
    for hit in hits:
        section = None if hit.evidence.whole else reader.section(hit.row)
        if section is not None:
            share = math.sqrt(max(0.0, hit.row.score) / best)
            for lines, worths, concepts, code in section.passages(reader.weights_of_each):
                texts = section.texts(lines)
                length = 1 + sum(map(len, texts)) / _LONG_CHARS
                factor = share * _CODE if code else share
                values = [factor * worth / length for worth in worths]
                yield _Passage(hit, lines, texts, values, concepts)
