"""The relevance of each line of a section to a query."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from heapq import heapify, heappop, heapreplace

from fumishirube.text import fold
from fumishirube_manual.evidence.concept_weights import ConceptWeight, LineText, shares

_RULE = re.compile(r"[\s|:=*_+~`#<>.-]*$")
_DEFINED = re.compile(r"\s*(?:\[[^\]]+\]:\s|<!--.*-->\s*$|(?:>\s*)?\w?\[!?[\w.:-]+\]\s*$)")
"""The definition of a link, a comment, or a label in brackets, as of a rule or an included file."""
_FIGURE = re.compile(r"[0-9０-９〇一二三四五六七八九十百千万]")
_WANTS_FIGURE = re.compile(
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
_HALF = 0.5


class LineTexts:
    """The lines of a section below some headings, prepared for matching."""

    def __init__(self, lines: Sequence[str], titles: Iterable[str], query: str = "") -> None:
        self.lines = lines
        self.wants_figure = bool(_WANTS_FIGURE.search(query))
        self._titles = [*titles]
        self._heading = bool(lines) and fold(lines[0].strip("# \t")) in {
            fold(title) for title in self._titles
        }

    def hidden(self, at: int) -> bool:
        """Tell whether a line is never shown: without letters and digits, a label, or the title."""
        line = self.lines[at]
        return bool(_RULE.match(line) or _DEFINED.match(line)) or (at == 0 and self._heading)

    @cached_property
    def above(self) -> LineText:
        """The headings."""
        return LineText.of("\n".join(self._titles))

    @cached_property
    def every(self) -> Sequence[LineText | None]:
        """The lines; ``None`` for those that are never shown."""
        return [
            None if self.hidden(at) else LineText.of(line) for at, line in enumerate(self.lines)
        ]

    @cached_property
    def whole(self) -> LineText:
        """The headings and all lines as one text."""
        return LineText.joined([self.above, *filter(None, self.every)])

    def blocks(self, blocks: Iterable[range]) -> LineTexts:
        """Return blocks of the lines, each as one line, below the same headings."""
        ranges = [*blocks]
        texts = LineTexts(
            ["\n".join(self.lines[at] for at in lines) for lines in ranges], self._titles
        )
        texts.wants_figure = self.wants_figure
        texts.every = [
            LineText.joined(filter(None, (self.every[at] for at in lines))) for lines in ranges
        ]
        return texts


class LineScores:
    """Scores the lines of a section by the concepts of a query."""

    def __init__(self, texts: LineTexts, weights: Sequence[ConceptWeight]) -> None:
        self._texts = texts
        self._all_weights = weights

    def chosen(self, most: int) -> list[int]:
        """Return the best line, then others that each add enough: up to ``most`` lines.

        If all scores are 0, return only the first line with text.
        """
        scores = self.every
        best = max(range(len(scores)), key=scores.__getitem__, default=None)
        if best is None or not scores[best]:
            first = next((at for at in range(len(scores)) if not self._texts.hidden(at)), None)
            return [] if first is None else [first]
        chosen, covered = [best], [*self._shares[best]]
        gains = [
            (-self._gain(at, covered), at)
            for at, score in enumerate(scores)
            if score and at != best
        ]
        heapify(gains)
        while gains and len(chosen) < most:
            place = gains[0][1]
            gain = self._gain(place, covered)
            # A gain never rises as more is covered, so an unchanged first one is the highest.
            if -gain > gains[0][0]:
                heapreplace(gains, (-gain, place))
                continue
            if gain < _WORTHWHILE * scores[best]:
                break
            heappop(gains)
            chosen.append(place)
            covered = [max(pair) for pair in zip(covered, self._shares[place], strict=True)]
        return chosen

    def worth(self) -> float:
        """Return the score of the best line, as a share of the weight of all concepts."""
        return max(self.shares_of_all(), default=0.0)

    def shares_of_all(self) -> Sequence[float]:
        """Return the score of each line, as a share of the weight of all concepts."""
        total = sum(concept.weight for concept in self._all_weights)
        return [score / total if total else 0.0 for score in self.every]

    def present(self) -> set[str]:
        """Return the concepts of which one line, or the headings, contain at least half."""
        every_line = [shares(self._texts.above, self._weights), *filter(None, self._shares)]
        return {
            concept.text
            for concept, among in zip(self._weights, zip(*every_line, strict=True), strict=True)
            if max(among) >= _HALF
        }

    @cached_property
    def _weights(self) -> Sequence[ConceptWeight]:
        """The concepts that occur in a line or the headings: of a long query, few."""
        present = shares(self._texts.whole, self._all_weights)
        return [c for c, share in zip(self._all_weights, present, strict=True) if share]

    @cached_property
    def _shares(self) -> Sequence[tuple[float, ...]]:
        """The share of each concept in each line; empty for a line with none."""
        present = (
            () if text is None else shares(text, self._weights) for text in self._texts.every
        )
        return [line if any(line) else () for line in present]

    @cached_property
    def _worths(self) -> Sequence[float]:
        """The weight of each concept in a line: lower if the headings contain it already."""
        above = shares(self._texts.above, self._weights)
        return [
            concept.weight * (1 - (1 - _TITLE) * min(1.0, said))
            for concept, said in zip(self._weights, above, strict=True)
        ]

    @cached_property
    def every(self) -> Sequence[float]:
        """The score of each line: its own concepts, and a part of what an adjacent line adds."""
        scores = []
        for at, present in enumerate(self._shares):
            own = sum(worth * share for worth, share in zip(self._worths, present, strict=False))
            if own:
                beside = [self._more(at, other) for other in (at - 1, at + 1)]
                own += _NEAR * max(beside)
                if self._texts.wants_figure and _FIGURE.search(self._texts.lines[at]):
                    own *= _FIGURES
            scores.append(own)
        return scores

    def _more(self, at: int, other: int) -> float:
        """Return the weight of what another line contains and this one does not."""
        if not 0 <= other < len(self._shares):
            return 0.0
        return sum(
            worth * max(0.0, theirs - ours)
            for worth, ours, theirs in zip(
                self._worths, self._shares[at], self._shares[other], strict=False
            )
        )

    def _gain(self, at: int, covered: Sequence[float]) -> float:
        new = sum(
            worth * max(0.0, share - known)
            for worth, share, known in zip(self._worths, self._shares[at], covered, strict=False)
        )
        return new + _REPEATED * self.every[at]
