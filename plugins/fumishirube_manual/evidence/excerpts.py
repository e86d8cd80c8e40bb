"""Cuts a long line around its most relevant part."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from fumishirube_manual.evidence.concept_weights import ConceptWeight, LineText, shares
from fumishirube_manual.evidence.markup import without_targets

_SENTENCE = re.compile(r"(?:[^。！？.!?]+|[.!?](?!\s|$))*(?:[。！？]+[」』）】]*|[.!?]+(?=\s|$)|$)")
_WORD = re.compile(r"[\w.%/+-]+", re.ASCII)
_LONGEST_WORD = 40
_DIGIT = re.compile(r"\d")
_FIGURE = 0.2
"""Of two sentences about equally relevant, the one with a figure is shown: it is often the value
that the other one explains."""

_LONG, _BLOCK, _BESIDE = 20_000, 4_000, 1_000
"""Of a line with more than ``_LONG`` characters, only the best block is divided into sentences.

A block has ``_BLOCK`` characters, and ``_BESIDE`` more before and after it. A line of megabytes has
more sentences than can be compared in a second.
"""


def excerpt(line: str, most: int, weights: Sequence[ConceptWeight]) -> str:
    """Return the most relevant sentences of a line, in about ``most`` characters.

    ``…`` marks omissions. A sentence that is too long itself is cut around its densest part.
    """
    sentences = [
        match for match in _SENTENCE.finditer(line, *_around_best(line, weights)) if match[0]
    ]
    scores = _sentence_scores([match.group() for match in sentences], weights)
    best = max(range(len(sentences)), key=scores.__getitem__)
    start, end = sentences[best].span()
    if end - start > most:
        start = _densest(line, start, end, most, weights)
        return _dotted(line, *whole_words(line, start, min(start + most, end)))
    first = last = best
    while True:
        longer = [
            (scores[at], -at, at)
            for at in (first - 1, last + 1)
            if 0 <= at < len(sentences)
            and max(end, sentences[at].end()) - min(start, sentences[at].start()) <= most
        ]
        if not longer:
            return _dotted(line, start, end)
        at = max(longer)[2]
        first, last = min(first, at), max(last, at)
        start, end = sentences[first].start(), sentences[last].end()


def _sentence_scores(sentences: Sequence[str], weights: Sequence[ConceptWeight]) -> Sequence[float]:
    """Return the weight of each sentence; a figure counts as a share of the greatest."""
    plain = [*map(without_targets, sentences)]
    scores = [line_weight(sentence, weights) for sentence in plain]
    bonus = _FIGURE * max(scores)
    return [
        score + bonus if score and _DIGIT.search(sentence) else score
        for sentence, score in zip(plain, scores, strict=True)
    ]


def _around_best(line: str, weights: Sequence[ConceptWeight]) -> tuple[int, int]:
    """Return the bounds of the part of a line that is divided into sentences: usually all of it."""
    if len(line) <= _LONG:
        return 0, len(line)
    places = range(0, len(line), _BLOCK)
    best = max(places, key=lambda at: line_weight(line[at : at + _BLOCK], weights))
    return max(0, best - _BESIDE), min(len(line), best + _BLOCK + _BESIDE)


def line_weight(text: str, weights: Sequence[ConceptWeight]) -> float:
    """Return the sum of the weights of the concepts in a text."""
    present = shares(LineText.of(text), weights)
    return math.fsum(
        concept.weight * share for concept, share in zip(weights, present, strict=True)
    )


def _densest(line: str, start: int, end: int, most: int, weights: Sequence[ConceptWeight]) -> int:
    """Return the start of the part with the greatest weight, searched in steps."""
    step = max(1, most // 4)
    places = [*range(start, max(start + 1, end - most), step), max(start, end - most)]
    ranked: list[tuple[float, int]] = [
        (line_weight(line[at : at + most], weights), -at) for at in places
    ]
    return -max(ranked)[1]


def whole_words(line: str, start: int, end: int) -> tuple[int, int]:
    """Return the bounds of a part so that it cuts no number and no ASCII word of usual length."""
    for word in _WORD.finditer(line, max(0, start - _LONGEST_WORD), end + _LONGEST_WORD):
        if len(word[0]) > _LONGEST_WORD:
            continue
        if word.start() < start < word.end():
            start = word.start()
        if word.start() < end < word.end():
            end = word.end()
    return start, end


def _dotted(line: str, start: int, end: int) -> str:
    before, after = "…" * bool(line[:start].strip()), "…" * bool(line[end:].strip())
    return f"{before}{line[start:end].strip()}{after}"
