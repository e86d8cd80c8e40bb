"""The relevance of each line of a section to a query."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, reduce
from heapq import heapify, heappop, heapreplace
from operator import mul, or_

from fumishirube_manual.evidence.concept_weights import (
    ConceptWeight,
    LineText,
    marked_shares,
    marks,
)
from fumishirube_manual.evidence.markup import never_shown

_FIGURE = re.compile(r"[0-9０-９〇一二三四五六七八九十百千万]")
_DIGIT = re.compile("[0-9０-９]")
_WANTS_FIGURE = re.compile(
    r"何[人枚件個本回日時分秒円年月週つ文%割]|いくつ|いくら|どれ(?:だけ|くらい|ほど)|どのくらい|最大|最小|上限|下限"
    r"|既定|デフォルト|期限|how (?:many|much|long|often|high|far|large|big)|at most|at least"
    r"|default|limit|maximum|minimum",
    re.IGNORECASE,
)

_NEAR = 0.35
_TITLE = 0.5
_HEADED = 0.3
"""The share at which a concept counts for a passage if only the headings above contain it."""
_FIGURES = 1.2
_WORTHWHILE = 0.3
_REPEATED = 0.25
HALF = 0.5


class LineTexts:
    """The lines of a section below some headings, prepared for matching."""

    def __init__(
        self,
        lines: Sequence[str],
        titles: Iterable[str],
        query: str = "",
        metadata: Collection[int] = (),
        *,
        markdown: bool = True,
    ) -> None:
        self.lines = lines
        self._markdown = markdown
        self._metadata = metadata
        self.wants_figure = bool(_WANTS_FIGURE.search(query))
        self._titles = [*titles]
        self._marks: dict[str, tuple[Mapping[str, float], Sequence[int]]] = {}

    def hidden(self, at: int) -> bool:
        """Tell whether a line is never shown: without letters and digits, a label, metadata."""
        return self._hidden[at]

    def shown(self) -> Iterator[int]:
        """Yield the lines that may be shown, in order."""
        return (at for at, hidden in enumerate(self._hidden) if not hidden)

    def marks(self, weights: Sequence[ConceptWeight]) -> Sequence[Sequence[int]]:
        """Return the marks of each concept in the headings, then in each line; empty if in none.

        Lines that are never shown have none.
        """
        new = [concept for concept in weights if self._known(concept) is None]
        present = [
            concept for concept, [mark] in zip(new, marks([self._whole], new), strict=True) if mark
        ]
        self._marks |= {concept.text: (concept.shares, ()) for concept in new}
        for concept, column in zip(
            present, marks([self._above, *self._every], present), strict=True
        ):
            self._marks[concept.text] = (concept.shares, column)
        return [self._known(concept) or () for concept in weights]

    def blocks(self, blocks: Iterable[range]) -> LineTexts:
        """Return blocks of the lines, each as one line, below the same headings."""
        return _Blocks(self, [*blocks])

    def _known(self, concept: ConceptWeight) -> Sequence[int] | None:
        """Return the known marks of a concept; another one with its text may have other terms."""
        shares, column = self._marks.get(concept.text, ({}, None))
        return column if shares is concept.shares or shares == concept.shares else None

    @cached_property
    def _hidden(self) -> Sequence[bool]:
        hidden = [*never_shown(self.lines, self._titles, markdown=self._markdown)]
        for at in self._metadata:
            hidden[at] = True
        return hidden

    @cached_property
    def _above(self) -> LineText:
        """The headings."""
        return LineText.of("\n".join(self._titles))

    @cached_property
    def _every(self) -> Sequence[LineText | None]:
        """The lines; ``None`` for those that are never shown."""
        return [
            None if hidden else LineText.of(line)
            for line, hidden in zip(self.lines, self._hidden, strict=True)
        ]

    @cached_property
    def _whole(self) -> LineText:
        """The headings and all lines as one text."""
        lines = [self._above, *filter(None, self._every)]
        return LineText("\n".join([line.folded for line in lines]))


class _Blocks(LineTexts):
    """Blocks of lines as one line each; they contain what their lines contain."""

    def __init__(self, texts: LineTexts, blocks: Sequence[range]) -> None:
        super().__init__(["\n".join(texts.lines[at] for at in lines) for lines in blocks], ())
        self.wants_figure = texts.wants_figure
        self._texts = texts
        self._ranges = blocks

    def marks(self, weights: Sequence[ConceptWeight]) -> Sequence[Sequence[int]]:
        """Return the marks of each concept in the headings, then in each block."""
        return [column and self._joined(column) for column in self._texts.marks(weights)]

    def _joined(self, column: Sequence[int]) -> Sequence[int]:
        above, *lines = column
        return [above, *(reduce(or_, lines[at.start : at.stop], 0) for at in self._ranges)]


class LineScores:
    """Scores the lines of a section by the concepts of a query."""

    def __init__(self, texts: LineTexts, weights: Sequence[ConceptWeight]) -> None:
        self._texts = texts
        self._all_weights = weights
        self._chosen: dict[int, Sequence[int]] = {}

    def chosen(self, most: int) -> Sequence[int]:
        """Return the best line, then others that each add enough: up to ``most`` lines.

        If all scores are 0, return only the first line with text.
        """
        if most not in self._chosen:
            self._chosen[most] = self._choose(most)
        return self._chosen[most]

    def _choose(self, most: int) -> Sequence[int]:
        scores = self.every
        best = max(range(len(scores)), key=scores.__getitem__, default=None)
        if best is None or not scores[best]:
            first = next(self._texts.shown(), None)
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
        return self._with_figure(chosen)

    def _with_figure(self, chosen: Sequence[int]) -> Sequence[int]:
        """Put the best line with a figure second, if one is wanted, and it has half the score."""
        lines, scores = self._texts.lines, self.every
        if not self._texts.wants_figure or any(_DIGIT.search(lines[at]) for at in chosen[:2]):
            return chosen
        best = scores[chosen[0]]
        likely = [at for at in range(len(lines)) if scores[at] >= HALF * best]
        with_figure = [at for at in likely if _DIGIT.search(lines[at])]
        second = max(with_figure, key=scores.__getitem__, default=chosen[0])
        return list(dict.fromkeys((chosen[0], second, *chosen)))

    def worth(self) -> float:
        """Return the score of the best line, as a share of the weight of all concepts."""
        return max(self.shares_of_all(), default=0.0)

    def shares_of_all(self) -> Sequence[float]:
        """Return the score of each line, as a share of the weight of all concepts."""
        return [score / self._total if self._total else 0.0 for score in self.every]

    def shares_below_headings(self) -> Sequence[float]:
        """Return the shares of all, each with a part of what only the headings contain.

        The lead counts for all of it: it is about what the headings name.
        """
        lead = next(self._texts.shown(), None)
        return [
            share and share + (1.0 if at == lead else _HEADED) * self._only_above(at) / self._total
            for at, share in enumerate(self.shares_of_all())
        ]

    def _only_above(self, at: int) -> float:
        """Return the weight of what the headings contain and a line does not."""
        return math.fsum(
            concept.weight * max(0.0, min(1.0, column[0]) - share)
            for (concept, column), share in zip(self._present, self._shares[at], strict=False)
        )

    def present(self, lines: Iterable[int]) -> set[str]:
        """Return the concepts of which the headings or one of some lines contain at least half."""
        above = [column[0] for _, column in self._present]
        shares = [above, *filter(None, (self._shares[at] for at in lines))]
        return {
            concept.text
            for (concept, _), among in zip(self._present, zip(*shares, strict=True), strict=True)
            if max(among) >= HALF
        }

    def weights_in(self, at: int) -> Mapping[str, float]:
        """Return the weights of the concepts of which a line contains at least half."""
        return {
            concept.text: concept.weight
            for (concept, _), share in zip(self._present, self._shares[at], strict=False)
            if share >= HALF
        }

    @cached_property
    def _total(self) -> float:
        return sum(concept.weight for concept in self._all_weights)

    @cached_property
    def _present(self) -> Sequence[tuple[ConceptWeight, Sequence[float]]]:
        """The concepts that occur, with their shares in the headings, then in each line."""
        columns = self._texts.marks(self._all_weights)
        return [
            (concept, marked_shares(concept, column))
            for concept, column in zip(self._all_weights, columns, strict=True)
            if column
        ]

    @cached_property
    def _shares(self) -> Sequence[tuple[float, ...]]:
        """The share of each concept in each line; empty for a line with none."""
        if not self._present:
            return [()] * len(self._texts.lines)
        lines = zip(*(column[1:] for _, column in self._present), strict=True)
        return [line if any(line) else () for line in lines]

    @cached_property
    def _worths(self) -> Sequence[float]:
        """The weight of each concept in a line: lower if the headings contain it already."""
        return [
            concept.weight * (1 - (1 - _TITLE) * min(1.0, column[0]))
            for concept, column in self._present
        ]

    @cached_property
    def every(self) -> Sequence[float]:
        """The score of each line: its own concepts, and a part of what an adjacent line adds."""
        scores = []
        for at, present in enumerate(self._shares):
            own = sum(map(mul, self._worths, present))
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
        return self._beyond(self._shares[at], self._shares[other])

    def _gain(self, at: int, covered: Sequence[float]) -> float:
        return self._beyond(covered, self._shares[at]) + _REPEATED * self.every[at]

    def _beyond(self, known: Sequence[float], shares: Sequence[float]) -> float:
        """Return the weight of what some shares have beyond those that are known."""
        return sum(
            worth * (share - before)
            for worth, before, share in zip(self._worths, known, shares, strict=False)
            if share > before
        )
