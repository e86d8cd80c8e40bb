"""Passages that address the agent that reads them; they are told of, and never changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from fumishirube import Answer
from fumishirube.text import Lines, fold
from fumishirube_manual.addressed_cues import (
    CUES,
    HIDING,
    JAPANESE,
    LATIN,
    REASONS,
    REPORTING,
    Cue,
    Reason,
)

LEAST = 0.5
"""The score from which on a passage counts as addressing the agent."""
MOST = 20
"""So many passages are told of one text; the last then reaches to the end of what was found."""

_LONGEST = 1000
"""Characters of a passage; the work on each is bounded."""
_REACH = 2000
"""How far around a page its first and last passage are looked for."""
_REPORTING_FACTOR = 0.4
_LEFT = 6
_LINE = re.compile(rf"[^\n]{{0,{_LONGEST}}}(?:\n|\Z)|[^\n]{{1,{_LONGEST}}}")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_TAGS = {0xE0000 + code: chr(code) for code in range(0x20, 0x7F)}
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|「[^「」]*」|『[^『』]*』|`[^`]*`")
_SENTENCE = re.compile(r"(?:[^.!?。]|[.!?](?!\s|$|[^\x00-\x7f]))+(?:[.!?。]+|$)")
_LATIN = re.compile("[a-z]{2}")


class Addressed(Answer):
    """Lines that speak to the agent, how surely (0.5 to 1), and what tells so."""

    start_line: int
    end_line: int
    score: float
    reasons: tuple[Reason, ...]


class _Block(NamedTuple):
    """A paragraph, an item of a list, or a part of a long one."""

    start: int
    end: int


def addressed(text: str, start: int = 0, end: int | None = None) -> list[Addressed]:
    """Return the passages that touch ``text[start:end]``, in order, at most ``MOST``.

    Takes time that grows with the length of that part, whatever stands in it. A text is data: who
    is told of nothing has no promise that nothing addresses it.
    """
    end = len(text) if end is None else min(end, len(text))
    passages: list[Addressed] = []
    lines = Lines(text)
    for block in _blocks(text, *_around(text, start, end)):
        if block.end > start and block.start < end:
            score, reasons = judged(text[block.start : block.end])
            if score >= LEAST:
                first, last = lines.at(block.start), lines.at(max(block.start, block.end - 1))
                passages.append(
                    Addressed(start_line=first, end_line=last, score=score, reasons=reasons)
                )
    return at_most(MOST, _joined(passages))


def judged(passage: str) -> tuple[float, tuple[Reason, ...]]:
    """Return how surely a short passage addresses an agent, from 0 to 1, and what tells so."""
    said = {cue: cue.weight for cue in HIDING if cue.pattern.search(passage)}
    plain = _INVISIBLE.sub("", passage).translate(_TAGS)
    for sentence in _sentences(plain):
        doubt = _REPORTING_FACTOR if REPORTING.search(sentence) else 1.0
        for cue in _fitting(sentence):
            if said.get(cue, 0.0) < cue.weight * doubt and cue.pattern.search(sentence):
                said[cue] = cue.weight * doubt
    return _score(said.values()), _reasons(said)


def at_most(most: int, passages: Sequence[Addressed]) -> list[Addressed]:
    """Return no more than ``most`` passages; what is over them is held by the last."""
    if len(passages) <= most:
        return [*passages]
    return [*passages[: most - 1], _merged(passages[most - 1 :])]


def _fitting(sentence: str) -> Sequence[Cue]:
    """Return the cues that the scripts of a sentence allow."""
    if sentence.isascii():
        return LATIN
    return CUES if _LATIN.search(sentence) else JAPANESE


def _score(weights: Iterable[float]) -> float:
    """Return the weights as independent grounds: one minus the product of their complements."""
    doubt = 1.0
    for weight in weights:
        doubt *= 1.0 - weight
    return round(1.0 - doubt, 2)


def _reasons(said: Iterable[Cue]) -> tuple[Reason, ...]:
    present = {cue.reason for cue in said}
    return tuple(reason for reason in REASONS if reason in present)


def _sentences(plain: str) -> Iterator[str]:
    """Yield folded sentences, without what they only quote."""
    folded = fold(plain)
    unquoted = _QUOTED.sub(" … ", folded)
    if len(re.sub(r"\W", "", unquoted)) < _LEFT:
        unquoted = folded  # a text that is nothing but a quotation speaks for itself
    yield from filter(None, (match.group().strip() for match in _SENTENCE.finditer(unquoted)))


def _around(text: str, start: int, end: int) -> tuple[int, int]:
    """Widen a part to the empty lines around it, as far as those are near."""
    low = text.rfind("\n\n", max(0, start - _REACH), start)
    high = text.find("\n\n", end, end + _REACH)
    return (
        max(0, start - _REACH) if low < 0 else low + 2,
        min(len(text), end + _REACH) if high < 0 else high,
    )


def _blocks(text: str, start: int, end: int) -> Iterator[_Block]:
    """Divide a part of a text into passages, each of at most ``_LONGEST`` characters."""
    first = place = start
    for line in _LINE.finditer(text, start, end):
        empty = not line.group().strip()
        if empty or _ITEM.match(line.group()) or line.end() - first > _LONGEST:
            if place > first:
                yield _Block(first, place)
            first = line.end() if empty else line.start()
        place = line.end()
    if place > first:
        yield _Block(first, place)


def _joined(passages: Sequence[Addressed]) -> list[Addressed]:
    """Make one passage of those that follow each other without a line between."""
    if not passages:
        return []
    groups: list[list[Addressed]] = [[passages[0]]]
    for before, passage in pairwise(passages):
        if passage.start_line <= before.end_line + 1:
            groups[-1].append(passage)
        else:
            groups.append([passage])
    return [_merged(group) for group in groups]


def _merged(group: Sequence[Addressed]) -> Addressed:
    present = {reason for passage in group for reason in passage.reasons}
    return Addressed(
        start_line=group[0].start_line,
        end_line=group[-1].end_line,
        score=max(passage.score for passage in group),
        reasons=tuple(reason for reason in REASONS if reason in present),
    )
