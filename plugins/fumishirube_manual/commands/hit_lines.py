"""The lines of a hit as a terminal shows them: cut to its width, with what matched in bold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fumishirube import SurfaceContext, Trace, TraceRow
from fumishirube.commands import Emphasised, clipped, strip_controls, width
from fumishirube.text import places_of
from fumishirube_manual.evidence.concept_weights import ConceptWeight
from fumishirube_manual.evidence.excerpts import excerpt, line_weight
from fumishirube_manual.evidence.reader import EvidenceReader

LINES = 3
_INDENT = "   "


class HitLines:
    """Shows the lines of a search's hits that bear most on its question."""

    def __init__(self, context: SurfaceContext, trace: Trace, columns: int) -> None:
        self._reader = EvidenceReader(context, trace)
        self._columns = columns

    def of(self, row: TraceRow) -> Iterator[Emphasised]:
        """Yield up to three lines of a hit, by number; none when its text has changed or gone."""
        weights = self._reader.weights(row)
        lines = self._reader.evidence(row, LINES * self._columns).lines
        best = sorted(lines, key=lambda line: -line_weight(line.text, weights))[:LINES]
        for number, line in sorted(best):
            head = f"{_INDENT}{number}: "
            text = self._fitting(strip_controls(line).strip(), len(head), weights)
            spans = places_of(row.matched, text)
            shifted = [(start + len(head), end + len(head)) for start, end in spans]
            yield Emphasised(head + text, shifted)

    def _fitting(self, text: str, indent: int, weights: Sequence[ConceptWeight]) -> str:
        """Cut a line to the width that remains, around what matters."""
        room = self._columns - indent
        if width(text) <= room:
            return text
        # An East Asian character takes two columns, and so do the marks of what was cut off.
        return clipped(excerpt(text, (room - 4) * len(text) // width(text), weights), room)
