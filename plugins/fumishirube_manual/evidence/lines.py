"""Choosing the lines of a section that bear most on a question, and cutting those that are long."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import NamedTuple

from fumishirube.text import fold
from fumishirube_manual.evidence.concept_weights import ConceptWeight, LineText, shares
from fumishirube_manual.evidence.excerpts import excerpt

WHOLE_LINES = 15
"""A section of no more lines is shown whole, if it has few characters too."""
OTHER_CHARS = 200
"""How much is shown of a line that is not the best one."""


class Measure(NamedTuple):
    """How much is shown of a section.

    So many ``lines``, of which the ``best`` one has so many characters; the paragraph, list or
    table that holds that line, if it has no more characters than ``block``; and a text ``whole``
    that has no more than that.
    """

    lines: int
    best: int
    block: int
    whole: int


FULL = Measure(lines=3, best=400, block=600, whole=1200)
SHORT = Measure(lines=2, best=300, block=300, whole=500)
BRIEF = Measure(lines=1, best=200, block=0, whole=200)

_ROW = re.compile(r"\s*\|.*\|\s*$")
_RULE = re.compile(r"[\s|:=*_+~`#<>.-]*$")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_OPEN = re.compile(r"[(\[{,\\]\s*$")
_FIGURE = re.compile(r"[0-9０-９〇一二三四五六七八九十百千万]")
_ASKS_FIGURE = re.compile(
    r"何[人枚件個本回日時分秒円年月週つ文%割]|いくつ|いくら|どれ(?:だけ|くらい|ほど)|どのくらい|最大|最小|上限|下限"
    r"|既定|デフォルト|期限|how (?:many|much|long|often|high|far|large|big)|at most|at least"
    r"|default|limit|maximum|minimum",
    re.IGNORECASE,
)

_NEAR = 0.35
_TITLE = 0.5
_FIGURES = 1.15
_WORTHWHILE = 0.3
_REPEATED = 0.25
_STATEMENT = 3
_HALF = 0.5


class EvidenceLine(NamedTuple):
    """A line of a file, numbered from 1, or the part of it that bears on the question."""

    number: int
    text: str


class SectionEvidence(NamedTuple):
    """The lines that are shown of a section, in order; ``whole`` when that is all of its text.

    ``worth`` is the score of the best line: the weights of what stands in it.
    """

    lines: tuple[EvidenceLine, ...] = ()
    whole: bool = False
    worth: float = 0.0


class SectionLines:
    """The own text of a section, line by line, against a question."""

    def __init__(
        self,
        text: str,
        first: int,
        weights: Sequence[ConceptWeight],
        titles: Iterable[str] = (),
        query: str = "",
    ) -> None:
        self._first = first
        self._lines = text.splitlines()
        self._weights = weights
        self._titles = [*titles]
        self._heading = bool(self._lines) and fold(self._lines[0].strip("# \t")) in {
            fold(title) for title in self._titles
        }
        self._figures = bool(_ASKS_FIGURE.search(query))

    def evidence(self, measure: Measure = FULL) -> SectionEvidence:
        """Return the lines that bear most on the question; a short text whole."""
        filled = [at for at, line in enumerate(self._lines) if line.strip() and not self._said(at)]
        if self._short(filled, measure):
            shown = {at: self._lines[at].rstrip() for at in filled}
            return SectionEvidence(
                self._numbered(shown), whole=True, worth=max(self._scores, default=0.0)
            )
        chosen = self._chosen(measure.lines)
        if not chosen:
            return SectionEvidence()
        best = max(chosen, key=self._scores.__getitem__)
        limits = {at: measure.best if at == best else OTHER_CHARS for at in chosen}
        shown = {at: self._cut(at, limit) for at, limit in limits.items()}
        for at in self._block(best, measure.block):
            if not self._said(at):
                shown[at] = self._lines[at].rstrip()
        for at in chosen:
            for other in self._beside(at):
                shown.setdefault(other, self._cut(other, OTHER_CHARS))
        return SectionEvidence(self._numbered(shown), worth=self._scores[best])

    def present(self) -> set[str]:
        """Return the concepts of which at least half stands in a line, or in the headings."""
        above = shares(LineText.of("\n".join(self._titles)), self._weights)
        every_line = [above, *(line for line in self._shares if line)]
        return {
            concept.text
            for concept, among in zip(self._weights, zip(*every_line, strict=True), strict=True)
            if max(among) >= _HALF
        }

    def _said(self, at: int) -> bool:
        """Tell whether a line is the section's heading, which is the hit's title."""
        return at == 0 and self._heading

    def _numbered(self, shown: Mapping[int, str]) -> tuple[EvidenceLine, ...]:
        """Return the lines in order, without the indentation that they have in common."""
        common = min((_indent(line) for line in shown.values() if line.strip()), default=0)
        return tuple(
            EvidenceLine(self._first + at, shown[at][common:] if common else shown[at])
            for at in sorted(shown)
            if shown[at].strip() and not _FENCE.match(shown[at])
        )

    def _short(self, filled: Sequence[int], measure: Measure) -> bool:
        return len(filled) <= WHOLE_LINES and (
            sum(len(self._lines[at]) for at in filled) <= measure.whole
        )

    @cached_property
    def _shares(self) -> Sequence[tuple[float, ...]]:
        return [
            () if _RULE.match(line) or self._said(at) else shares(LineText.of(line), self._weights)
            for at, line in enumerate(self._lines)
        ]

    @cached_property
    def _worths(self) -> Sequence[float]:
        """What each concept is worth in a line: less if the headings have said it already."""
        above = shares(LineText.of("\n".join(self._titles)), self._weights)
        return [
            concept.weight * (1 - (1 - _TITLE) * min(1.0, said))
            for concept, said in zip(self._weights, above, strict=True)
        ]

    @cached_property
    def _scores(self) -> Sequence[float]:
        """Score each line: what stands in it, and part of what else stands in the lines beside."""
        scores = []
        for at, present in enumerate(self._shares):
            own = sum(worth * share for worth, share in zip(self._worths, present, strict=False))
            if own:
                beside = [self._more(at, other) for other in (at - 1, at + 1)]
                own += _NEAR * max(beside)
                if self._figures and _FIGURE.search(self._lines[at]):
                    own *= _FIGURES
            scores.append(own)
        return scores

    def _more(self, at: int, other: int) -> float:
        """Return what stands in another line and not in this one."""
        if not 0 <= other < len(self._shares):
            return 0.0
        return sum(
            worth * max(0.0, theirs - ours)
            for worth, ours, theirs in zip(
                self._worths, self._shares[at], self._shares[other], strict=False
            )
        )

    def _chosen(self, most: int) -> list[int]:
        """Choose the best line, and others as far as they add something."""
        scores = self._scores
        best = max(range(len(scores)), key=scores.__getitem__, default=None)
        if best is None or not scores[best]:
            first = next(
                (
                    at
                    for at, line in enumerate(self._lines)
                    if not _RULE.match(line) and not self._said(at)
                ),
                None,
            )
            return [] if first is None else [first]
        chosen, covered = [best], [*self._shares[best]]
        while len(chosen) < most:
            gains = {
                at: self._gain(at, covered)
                for at, score in enumerate(scores)
                if score and at not in chosen
            }
            place = max(gains, key=lambda at: (gains[at], -at), default=None)
            if place is None or gains[place] < _WORTHWHILE * scores[best]:
                break
            chosen.append(place)
            covered = [max(pair) for pair in zip(covered, self._shares[place], strict=True)]
        return chosen

    def _gain(self, at: int, covered: Sequence[float]) -> float:
        new = sum(
            worth * max(0.0, share - known)
            for worth, share, known in zip(self._worths, self._shares[at], covered, strict=False)
        )
        return new + _REPEATED * self._scores[at]

    def _block(self, at: int, most: int) -> Iterable[int]:
        """Return the lines that stand together with one, if they are not too long.

        That is a paragraph, a list or a table; or else, as in JSON and in code, what is indented
        no less.
        """
        for joined in (self._filled, partial(self._indented, _indent(self._lines[at]))):
            first = last = at
            while first and joined(first - 1):
                first -= 1
            while last + 1 < len(self._lines) and joined(last + 1):
                last += 1
            block = range(first, last + 1)
            if sum(len(self._lines[line]) for line in block) <= most:
                return block
        return ()

    def _filled(self, at: int) -> bool:
        line = self._lines[at]
        return bool(line.strip()) and not _FENCE.match(line)

    def _indented(self, indent: int, at: int) -> bool:
        return self._filled(at) and _indent(self._lines[at]) >= indent

    def _beside(self, at: int) -> Iterable[int]:
        """Return the header of a row's table, and the rest of a statement in code."""
        if _ROW.match(self._lines[at]):
            top = at
            while top and _ROW.match(self._lines[top - 1]):
                top -= 1
            return (top,) if top != at else ()
        if self._in_code(at):
            end = at
            while (
                end - at < _STATEMENT
                and end + 1 < len(self._lines)
                and _OPEN.search(self._lines[end])
            ):
                end += 1
            return range(at + 1, end + 1)
        return ()

    def _in_code(self, at: int) -> bool:
        return sum(bool(_FENCE.match(line)) for line in self._lines[:at]) % 2 == 1

    def _cut(self, at: int, most: int) -> str:
        line = self._lines[at].strip()
        return line if len(line) <= most else excerpt(line, most, self._weights)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
