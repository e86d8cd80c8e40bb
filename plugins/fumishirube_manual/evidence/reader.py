"""Reads the evidence of the hits of one search."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property, partial

from fumishirube import SurfaceContext, ToolError, Trace, TraceRow
from fumishirube.text import concepts, fold
from fumishirube_manual.citations import place_of_section
from fumishirube_manual.diagnosis import answerable
from fumishirube_manual.evidence.annotations import (
    weights_of,
    weights_of_each,
    wording_of,
    wordings_of,
)
from fumishirube_manual.evidence.concept_weights import ConceptWeight
from fumishirube_manual.evidence.lines import EvidenceLine, SectionEvidence, SectionLines
from fumishirube_manual.evidence.markup import is_markdown
from fumishirube_manual.evidence.own_texts import OwnTexts
from fumishirube_manual.sentences import excepts

_MISSING = 8
_MOST = 0.5


@dataclass
class Copy:
    """A section that repeats one above it: lines of its own, and shown ones that it lacks."""

    row: TraceRow
    lines: tuple[EvidenceLine, ...] = ()
    lacks: tuple[int, ...] = ()


@dataclass
class ShownHit:
    """A row, its evidence, and the rows that repeat it."""

    row: TraceRow
    evidence: SectionEvidence
    room: int = 0
    copies: list[Copy] = field(default_factory=list)

    @property
    def rows(self) -> Sequence[TraceRow]:
        """The row, and those of its copies."""
        return (self.row, *(copy.row for copy in self.copies))


class EvidenceReader:
    """Reads the evidence of the rows of one search; with ``places`` also those of the sections.

    Of an ``earlier`` search, it reads no file that has been excluded since.
    """

    def __init__(
        self, context: SurfaceContext, trace: Trace, *, places: bool = False, earlier: bool = False
    ) -> None:
        self._context = context
        self._trace = trace
        self._places = places
        self._sections: dict[tuple[str, int], SectionLines | None] = {}
        self._manual = manual = cache(context.manual)
        self._texts_of = cache(lambda manual_id: OwnTexts(manual(manual_id)))
        self._listed = cache(lambda manual_id: frozenset(manual(manual_id).paths()))
        self._earlier = earlier
        self._weights = cache(partial(weights_of, trace))

    def evidence(
        self, row: TraceRow, room: int, whole: Collection[int] = (), *, closed: bool = False
    ) -> SectionEvidence:
        """Return evidence in about ``room`` characters; empty if the section's text has changed.

        The lines ``whole`` of the section, counted from 0, are always included. With ``closed``,
        short gaps are filled.
        """
        section = self.section(row)
        if section is None:
            return SectionEvidence()
        evidence = section.evidence(room, whole, closed=closed)
        if not self._places:
            return evidence
        manual_id, path = self._trace.file(row.path)
        place = place_of_section(self._manual, manual_id, path, row.start_line, row.digest)
        return evidence._replace(place=place)

    def lacking(self, hit: ShownHit, other: TraceRow) -> tuple[int, ...]:
        """Return the numbers of the shown lines of a hit that another section has not."""
        ours, theirs = self.section(hit.row), self.section(other)
        if ours is None or theirs is None:
            return ()
        return ours.lacking([line.number for line in hit.evidence.lines], theirs)

    def weights(self, row: TraceRow) -> Sequence[ConceptWeight]:
        """Return the weights of the concepts for a row, by the wording of which it is a hit."""
        return self._weights(wording_of(row))

    def section(self, row: TraceRow) -> SectionLines | None:
        """Return the lines of a row's section; ``None`` if its text has changed."""
        key = row.path, row.start_line
        if key not in self._sections:
            self._sections[key] = self._read(row)
        return self._sections[key]

    def _read(self, row: TraceRow) -> SectionLines | None:
        manual_id, path = self._trace.file(row.path)
        own = None
        with suppress(ToolError):
            if not self._earlier or path in self._listed(manual_id):
                own = self._texts_of(manual_id).of(row._replace(path=path))
        if own is None:
            return None
        wordings = (self._trace.text, *self._trace.origin.query.alternatives)
        return SectionLines(
            own.text,
            row.start_line,
            self.weights(row),
            (row.title, *row.ancestors),
            wordings[min(wording_of(row), len(wordings) - 1)],
            own.metadata,
            markdown=is_markdown(path),
            block=own.block,
            exceptions=own.following if excepts(fold(own.following)) else "",
        )

    @cached_property
    def weights_of_each(self) -> Sequence[Sequence[ConceptWeight]]:
        """The weights of the concepts of each wording."""
        return weights_of_each(self._trace)

    def missing_words(self, rows: Iterable[TraceRow]) -> list[str]:
        """Return words of the query that are present in none of the sections of some rows."""
        present = [*self._present(rows)]
        return [
            concept.text
            for concept in concepts(self._trace.text)
            if len(concept.text) > 1 and not self._is_present(concept.text, present)
        ][:_MISSING]

    def _is_present(self, word: str, present: Iterable[Collection[str]]) -> bool:
        """Tell whether a word, or a form of it with synonyms, is present in a section."""
        forms = [*map(fold, self._trace.origin.query.forms(word))]
        return any(form in texts for texts in present for form in forms)

    def unmet_wordings(self, rows: Iterable[TraceRow]) -> list[int]:
        """Return the numbers of the alternatives of which no section of some rows has half."""
        met = self.met_wordings(rows)
        alternatives = range(1, len(wordings_of(self._trace)))
        return [number for number in alternatives if number not in met]

    @property
    def wording_count(self) -> int:
        """The number of wordings: the query and its alternatives."""
        return 1 + len(self._trace.origin.query.alternatives)

    @property
    def answers_well(self) -> bool:
        """Whether a section has the words of the query together, if these are several."""
        return answerable(self._trace) == "yes" and len(concepts(self._trace.text)) > 1

    def answers_little(self, unmet: Collection[int]) -> bool:
        """Tell whether no section has the query's words together, or most of an alternative."""
        alternatives = self._trace.origin.query.alternatives
        return answerable(self._trace) != "yes" and len(unmet) == len(alternatives)

    def met_wordings(self, rows: Iterable[TraceRow]) -> list[int]:
        """Return the numbers of the wordings of which the section of a row has half."""
        present = [*self._present(rows)]
        return [
            number
            for number, concepts_of in enumerate(wordings_of(self._trace))
            if any(_most_of(concepts_of, texts) for texts in present)
        ]

    def _present(self, rows: Iterable[TraceRow]) -> Iterator[Collection[str]]:
        """Yield the concepts in the section of each row, omitting sections that have changed.

        Of sections with the same text, one is read.
        """
        read: dict[tuple[str, int], SectionLines] = {}
        for row in rows:
            text = row.digest, wording_of(row)
            if text in read:
                yield read[text].present_below((row.title, *row.ancestors))
            elif (lines := self.section(row)) is not None:
                read[text] = lines
                yield lines.present


def _most_of(weighted: Sequence[tuple[str, float]], present: Collection[str]) -> bool:
    """Tell whether the present concepts have at least half of the weight of all."""
    there = sum(weight for text, weight in weighted if text in present)
    return there >= _MOST * sum(weight for _, weight in weighted)
