"""Chooses the lines of a section that are most relevant to a query, and cuts long ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from fumishirube.text import fold, mentions
from fumishirube_manual.citations import CitedPlace
from fumishirube_manual.evidence.blocks import (
    headers,
    indentation,
    is_item,
    is_row,
    lists_and_tables,
    passages,
    related,
    sentence_goes_on,
)
from fumishirube_manual.evidence.code_blocks import code_lines, is_fence
from fumishirube_manual.evidence.concept_weights import (
    ConceptWeight,
    LineText,
    marked_shares,
    marks,
)
from fumishirube_manual.evidence.excerpts import excerpt, line_weight
from fumishirube_manual.evidence.line_scores import HALF, LineScores, LineTexts
from fumishirube_manual.evidence.markup import rendered_lines, without_targets
from fumishirube_manual.evidence.records import (
    between,
    defining_lines,
    gaps,
    is_member,
    record_lines,
    rest,
)

BEST_CHARS, OTHER_CHARS = 400, 200
"""The most characters of the best line, and of another line."""
_SLACK, _LINE_SLACK = 1.25, 1.5
"""A text or a line is shown whole up to so many times its room: cutting it would save little."""
_NAMED_WEIGHT = 100.0
"""More than the weight of all concepts: an excerpt with a name is cut around it."""
_CHOSEN, _DEFINITIONS = 8, 3
_OTHERS, _OTHER_LINES = 2, 500
"""Of a list or a table, so many other lines are shown for each chosen one, if they are short."""
_LEAST = 60
"""With less room than this, no further line is chosen."""
_FRAGMENT = 120
"""The least characters to which a chosen line is cut: a shorter part of it says little."""


class EvidenceLine(NamedTuple):
    """A line of a file, numbered from 1, or the part of it that is relevant to the query."""

    number: int
    text: str


class SectionEvidence(NamedTuple):
    """The shown lines of a section, in order; ``whole`` if they are all of its text.

    ``worth`` is the score of the best line, as a share of the weight of all concepts. ``place`` is
    where people see the section, such as a page. ``block`` is the first line of the block in which
    the section begins, if that block applies to some readers only. ``exceptions`` is the heading of
    the next section if it announces exceptions, else empty. ``concepts`` are those of the query
    that the headings or one of the lines contain.
    """

    lines: tuple[EvidenceLine, ...] = ()
    whole: bool = False
    worth: float = 0.0
    place: CitedPlace | None = None
    block: str = ""
    exceptions: str = ""
    concepts: frozenset[str] = frozenset()


class EvidencePassage(NamedTuple):
    """Lines of a section, counted from 0, with their worth for each wording.

    A worth is a share of the weight of all concepts of the wording. ``concepts`` are the weights
    of those that the lines contain, also for each wording. ``code`` tells whether the lines are a
    block of code.
    """

    lines: range
    worths: Sequence[float]
    concepts: Sequence[Mapping[str, float]]
    code: bool


class SectionLines:
    """The lines of a section's own text, scored for a query, and shown as they are rendered."""

    def __init__(
        self,
        text: str,
        first: int,
        weights: Sequence[ConceptWeight],
        titles: Iterable[str] = (),
        query: str = "",
        metadata: Collection[int] = (),
        *,
        markdown: bool = True,
        block: str = "",
        exceptions: str = "",
    ) -> None:
        self._first = first
        self._block, self._exceptions = block, exceptions
        self._written = text.removesuffix("\n").split("\n")
        self._lines = [*rendered_lines(self._written)] if markdown else self._written
        self._weights = weights
        compared = self._written if "/" in query else [*map(without_targets, self._written)]
        self._texts = LineTexts(compared, titles, query, metadata, markdown=markdown)
        self._scores = LineScores(self._texts, weights)

    def evidence(
        self, room: int, whole: Collection[int] = (), *, closed: bool = False
    ) -> SectionEvidence:
        """Return the most relevant lines, in about ``room`` characters.

        A text that fits is returned whole. Otherwise the evidence is the best line, the first lines
        that define words of the query, whatever the room, then each further line that adds enough,
        all with their related lines, and the rest of a short list or table. The lines ``whole``,
        counted from 0, are always included, uncut. With ``closed``, so are short gaps after shown
        lines, the next line of a sentence, and the JSON objects of shown members.
        """
        uncut = {at: self._lines[at].rstrip() for at in self._texts.shown()}
        if sum(map(len, uncut.values())) <= _SLACK * room or uncut.keys() <= {*whole}:
            return self._evidence(uncut, whole=True)
        chosen = self._chosen if room > 0 else []
        shown: dict[int, str] = {}
        for at in chosen:
            defines = at in self._definitions
            if shown and room < _LEAST and not defines:
                break
            most = BEST_CHARS if at == chosen[0] and room > OTHER_CHARS else OTHER_CHARS
            whatever = defines or not shown
            room -= self._show(shown, at, most if whatever else max(_FRAGMENT, min(most, room)))
            for other in self._related(at, chosen):
                if room <= 0 or (len(self._lines[other].strip()) > room and other not in shown):
                    break
                room -= self._show(shown, other, max(OTHER_CHARS, most))
        needed = (*whole, *headers(self._lines, {*whole}))
        shown |= {at: uncut[at] for at in needed if at in uncut}
        shown |= self._others(shown, uncut)
        shown |= between(shown, uncut, room)
        if closed and shown:
            shown |= self._records(shown, uncut)
            shown |= gaps(shown, uncut)
            shown |= self._continuations(shown, uncut)
            shown |= rest(shown, uncut)
        return self._evidence(shown, whole=shown == uncut)

    def _evidence(self, shown: Mapping[int, str], *, whole: bool = False) -> SectionEvidence:
        return SectionEvidence(
            self._numbered(shown),
            whole,
            worth=self._scores.worth(),
            block=self._block,
            exceptions=self._exceptions,
            concepts=frozenset(self._scores.present(shown)),
        )

    @cached_property
    def _definitions(self) -> Sequence[int]:
        # A line that defines a word of the query has it, and so a score.
        likely = (at for at, score in enumerate(self._scores.every) if score)
        return defining_lines(self._lines, likely, self.present, _DEFINITIONS)

    @cached_property
    def _chosen(self) -> Sequence[int]:
        """The best line, those that define words of the query, and others."""
        chosen = self._scores.chosen(_CHOSEN)
        return list(dict.fromkeys((*chosen[:1], *self._definitions, *chosen[1:])))

    def _others(self, shown: Mapping[int, str], uncut: Mapping[int, str]) -> Mapping[int, str]:
        """Return the other lines of short lists and tables of which a third is shown."""
        others: dict[int, str] = {}
        if not any(is_row(self._lines[at]) or is_item(self._lines[at]) for at in shown):
            return others
        for lines in lists_and_tables(self._lines):
            hidden = {at: uncut[at] for at in lines if at in uncut and at not in shown}
            chosen = sum(at in shown for at in lines)
            if len(hidden) <= _OTHERS * chosen and sum(map(len, hidden.values())) <= _OTHER_LINES:
                others |= hidden
        return others

    def _records(self, shown: Iterable[int], uncut: Mapping[int, str]) -> Mapping[int, str]:
        members = [at for at in shown if is_member(self._lines[at])]
        others = {other for at in members for other in record_lines(self._lines, at)}
        return {other: uncut[other] for other in others if other in uncut}

    def _continuations(
        self, shown: Mapping[int, str], uncut: Mapping[int, str]
    ) -> Mapping[int, str]:
        """Return the lines in which a sentence goes on that ends a run of shown lines."""
        last = [at for at, line in shown.items() if at + 1 not in shown and line == uncut.get(at)]
        return {
            at + 1: uncut[at + 1]
            for at in last
            if uncut.get(at + 1, "")[:1].islower()
            and len(uncut[at + 1]) <= OTHER_CHARS
            and sentence_goes_on(shown[at], uncut[at + 1])
        }

    def _related(self, at: int, chosen: Collection[int]) -> Iterable[int]:
        """Return the lines that belong to a line.

        They are without the rest of a list or a table of which further lines are chosen.
        """
        if not (is_row(self._lines[at]) or is_item(self._lines[at])):
            return related(self._lines, at)
        others = [*related(self._lines, at)]
        if is_row(self._lines[at]):
            return [] if any(other > at and other in chosen for other in others) else others
        items = [other for other in others if is_item(self._lines[other])]
        return others if {*items}.isdisjoint(chosen) else [o for o in others if o not in items]

    def line_with(self, name: str, room: int) -> EvidenceLine | None:
        """Return the most relevant line that contains a name, in about ``room`` characters."""
        folded = fold(name)
        weights = [*self._weights, ConceptWeight(folded, _NAMED_WEIGHT, {})]
        weighted = [
            (line_weight(line, weights), -at)
            for at, line in enumerate(self._written)
            if mentions(fold(line), folded)
        ]
        if not weighted:
            return None
        at = -max(weighted)[1]
        line = self._lines[at] if mentions(fold(self._lines[at]), folded) else self._written[at]
        return EvidenceLine(self._first + at, excerpt(line, room, weights).strip())

    def passages(self, wordings: Iterable[Sequence[ConceptWeight]]) -> Sequence[EvidencePassage]:
        """Return the passages in order, each with its worth for each of some wordings."""
        ranges = [*passages(self._lines)]
        in_code = code_lines(self._lines)
        texts = self._texts.blocks(ranges)
        scores = [LineScores(texts, weights) for weights in wordings]
        worths = zip(*(each.shares_below_headings() for each in scores), strict=True)
        return [
            EvidencePassage(
                lines, each, [wording.weights_in(at) for wording in scores], in_code[lines.start]
            )
            for at, (lines, each) in enumerate(zip(ranges, worths, strict=True))
        ]

    def texts(self, numbers: Iterable[int]) -> Sequence[str]:
        """Return some lines, counted from 0, without those that are never shown."""
        return [self._lines[at].rstrip() for at in numbers if not self._texts.hidden(at)]

    def lacking(self, numbers: Iterable[int], other: SectionLines) -> tuple[int, ...]:
        """Return which lines, by their numbers, another section does not have letter by letter."""
        theirs = {line.strip() for line in other._lines}
        return tuple(at for at in numbers if self._lines[at - self._first].strip() not in theirs)

    @cached_property
    def present(self) -> set[str]:
        """The concepts that the headings or a line contain."""
        return self._scores.present(range(len(self._lines)))

    def present_below(self, headings: Iterable[str]) -> set[str]:
        """Return the concepts that some headings, or a line below them, contain."""
        columns = marks([LineText.of("\n".join(headings))], self._weights)
        named = {
            concept.text
            for concept, column in zip(self._weights, columns, strict=True)
            if marked_shares(concept, column)[0] >= HALF
        }
        return named | self._in_lines

    @cached_property
    def _in_lines(self) -> set[str]:
        return {text for at in range(len(self._lines)) for text in self._scores.weights_in(at)}

    def _show(self, shown: dict[int, str], at: int, most: int) -> int:
        """Add a line to the shown ones; return the number of characters that it takes."""
        if at in shown or self._texts.hidden(at):
            return 0
        line = self._lines[at].rstrip()
        enough = len(line) <= _LINE_SLACK * most
        shown[at] = line if enough else excerpt(line.strip(), most, self._weights)
        return len(shown[at])

    def _numbered(self, shown: Mapping[int, str]) -> tuple[EvidenceLine, ...]:
        """Return the lines in order, without fences and without their common indentation."""
        common = min((indentation(line) for line in shown.values() if line.strip()), default=0)
        return tuple(
            EvidenceLine(self._first + at, shown[at][common:])
            for at in sorted(shown)
            if not is_fence(shown[at])
        )
