"""Hits with their evidence: copies folded into one, and text only where it may be worth reading."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from fumishirube import SurfaceContext, Trace, TraceRow
from fumishirube.text import concepts, fold
from fumishirube_manual.cited_places import place_of_section
from fumishirube_manual.evidence.annotations import weights_of, wording_of, wordings_of
from fumishirube_manual.evidence.lines import EvidenceLine, SectionEvidence, SectionLines
from fumishirube_manual.evidence.own_texts import own_text

LINE_CHARS = 160
"""How much is shown of a hit that shows little: about a line."""
_BEST_HIT_CHARS, _NEXT_HIT_CHARS = 550, 240
"""How much is shown of the best hit for each wording, and of some others; of the rest, a line."""
_WHOLE_CHARS = 1_600
"""A section of so many characters may be shown whole where the caller gives room."""
GAP_SCORE, GAP_WORTH = 0.68, 0.25
"""Below these shares of the best score, or of the best line's worth, a hit is only named."""

PINNED = "pinned_top"
"""The label of the best hits of one side, or one wording, of a question."""
SECOND = "second"
"""The label of those of which the same side or wording has a better one."""

_SEVERAL = 3
_LOOK_AHEAD = 3
_SAME = 0.5
_MISSING = 8
_MOST = 0.5


@dataclass
class Copy:
    """A section that says the same as one above it, and the lines in which it does not."""

    row: TraceRow
    lines: tuple[EvidenceLine, ...]


@dataclass
class ShownHit:
    """A row, its evidence, and the rows that say the same."""

    row: TraceRow
    evidence: SectionEvidence
    copies: list[Copy] = field(default_factory=list)


class EvidenceReader:
    """Reads the evidence of the rows of one search; with the ``places`` of sections, if wanted."""

    def __init__(self, context: SurfaceContext, trace: Trace, *, places: bool = False) -> None:
        self._context = context
        self._trace = trace
        self._places = places
        self._present: list[set[str]] = []
        self._sections: dict[tuple[str, int], SectionLines | None] = {}

    def evidence(self, row: TraceRow, room: int) -> SectionEvidence:
        """Return the lines of a row, in so many characters; none when its text has changed."""
        key = row.path, row.start_line
        if key not in self._sections:
            self._sections[key] = self._read(row)
        lines = self._sections[key]
        if lines is None:
            return SectionEvidence()
        evidence = lines.evidence(room)
        if not self._places:
            return evidence
        manual_id, path = self._trace.file(row.path)
        place = place_of_section(self._context, manual_id, path, row.start_line, row.digest)
        return evidence._replace(place=place)

    def _read(self, row: TraceRow) -> SectionLines | None:
        manual_id, path = self._trace.file(row.path)
        text = own_text(self._context, manual_id, row._replace(path=path))
        if text is None:
            return None
        titles = (row.title, *row.ancestors)
        lines = SectionLines(
            text, row.start_line, weights_of(self._trace, row), titles, self._wording(row)
        )
        self._present.append(lines.present())
        return lines

    def _wording(self, row: TraceRow) -> str:
        """Return the wording that brought a hit."""
        wordings = (self._trace.text, *self._trace.origin.query.alternatives)
        return wordings[min(wording_of(row), len(wordings) - 1)]

    def missing_words(self) -> list[str]:
        """Return the words of the question that stand in none of the sections read so far."""
        return [
            concept.text
            for concept in concepts(self._trace.text)
            if not concept.single and not any(concept.text in texts for texts in self._present)
        ][:_MISSING]

    def unmet_wordings(self) -> list[int]:
        """Return the numbers of the other wordings of which no section read holds most."""
        return [
            number
            for number, concepts_of in enumerate(wordings_of(self._trace))
            if number and not any(_most_of(concepts_of, texts) for texts in self._present)
        ]


def shown_hits(
    reader: EvidenceReader, rows: Sequence[TraceRow], limit: int, chars: int | None, *, folded: bool
) -> tuple[list[ShownHit], int]:
    """Return the first hits of a ranking, and how many of its rows they stand for.

    All their lines have about ``chars`` characters, if that is given. What says the same as a hit
    above joins it, if copies are to be ``folded``.
    """
    shown: list[ShownHit] = []
    covered = 0
    usual = sum(_room(row, rank) for rank, row in enumerate(rows[:limit]))
    scale = min(1.0, chars / usual) if chars and usual else 1.0
    for row in rows[: limit * _LOOK_AHEAD if folded else limit]:
        rank = len(shown)
        evidence = reader.evidence(row, int(scale * _room(row, rank)))
        original = _original(shown, row, evidence) if folded else None
        if original is not None:
            original.copies.append(Copy(row, _differing(original.evidence, evidence)))
        elif rank == limit:
            break
        else:
            shown.append(ShownHit(row, evidence))
        covered += 1
    _drop_beyond_gap(shown, reader.unmet_wordings())
    if chars:
        _fill(reader, shown, chars)
    return shown, covered


def _fill(reader: EvidenceReader, shown: Sequence[ShownHit], chars: int) -> None:
    """Show the best hits whole, if they are not long, as far as there is room left."""
    left = chars - sum(_size(hit.evidence) for hit in shown)
    for hit in shown:
        best = hit is shown[0] or _is_best(hit.row)
        if not best or hit.evidence.whole or not hit.evidence.lines:
            continue
        taken = _size(hit.evidence)
        whole = reader.evidence(hit.row, min(taken + left, _WHOLE_CHARS))
        if whole.whole:
            hit.evidence = whole
            left -= _size(whole) - taken


def _size(evidence: SectionEvidence) -> int:
    return sum(len(line.text) for line in evidence.lines)


def _most_of(weighted: Sequence[tuple[str, float]], present: Collection[str]) -> bool:
    """Tell whether what is worth most of some concepts is among those that are present."""
    there = sum(weight for text, weight in weighted if text in present)
    return there >= _MOST * sum(weight for _, weight in weighted)


def _is_best(row: TraceRow) -> bool:
    return PINNED in row.labels and SECOND not in row.labels


def _room(row: TraceRow, rank: int) -> int:
    if not rank or _is_best(row):
        return _BEST_HIT_CHARS
    return _NEXT_HIT_CHARS if rank <= _SEVERAL or PINNED in row.labels else LINE_CHARS


def _drop_beyond_gap(shown: Sequence[ShownHit], unmet: Collection[int]) -> None:
    """Leave the text out of hits that come after a clear gap: they are named only.

    The best of a wording come with text, unless there is nothing that holds most of it.
    """
    if not shown:
        return
    score = GAP_SCORE * max(hit.row.score for hit in shown)
    worth = GAP_WORTH * max(hit.evidence.worth for hit in shown)
    for hit in shown[1:]:
        if PINNED in hit.row.labels and wording_of(hit.row) not in unmet:
            continue
        if hit.row.score < score or hit.evidence.worth < worth:
            hit.evidence = hit.evidence._replace(lines=(), whole=False)


def _original(
    shown: Sequence[ShownHit], row: TraceRow, evidence: SectionEvidence
) -> ShownHit | None:
    """Return the hit that a row repeats: the same text, or nearly the same lines."""
    for hit in shown:
        if hit.row.digest == row.digest:
            return hit
        ours, theirs = _said(hit.evidence), _said(evidence)
        common = ours & theirs
        if common and len(common) > _SAME * max(len(ours), len(theirs)):
            return hit
    return None


def _said(evidence: SectionEvidence) -> frozenset[str]:
    return frozenset(fold(line.text) for line in evidence.lines)


def _differing(original: SectionEvidence, copy: SectionEvidence) -> tuple[EvidenceLine, ...]:
    known = _said(original)
    return tuple(line for line in copy.lines if fold(line.text) not in known)
