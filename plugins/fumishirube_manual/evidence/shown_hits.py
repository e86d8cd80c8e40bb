"""Hits with their evidence: copies folded into one, and text only where it may be worth reading."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from fumishirube import TraceRow
from fumishirube.text import fold
from fumishirube_manual.evidence.annotations import wording_of
from fumishirube_manual.evidence.fills import fill
from fumishirube_manual.evidence.lines import EvidenceLine, SectionEvidence
from fumishirube_manual.evidence.reader import Copy, EvidenceReader, ShownHit

LINE_CHARS = 160
"""How much is shown of a hit that shows little: about a line."""
_BEST_HIT_CHARS, _NEXT_HIT_CHARS = 550, 240
"""How much is shown of the best hit for each wording, and of some others; of the rest, a line."""
GAP_SCORE, GAP_WORTH = 0.68, 0.25
"""Below these shares of the best score, or of the best line's worth, a hit is only named."""

PINNED = "pinned_top"
"""The label of the best hits of one side, or one wording, of a question."""
SECOND = "second"
"""The label of those of which the same side or wording has a better one."""

_FIRST_SHARE = 0.6
"""Where room is filled, lines take so much of what they do else; passages take the rest."""
_SEVERAL = 3
_LOOK_AHEAD = 3
_LATER = 20
_SAME = 0.5


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
    scale = min(_FIRST_SHARE, chars / usual) if chars and usual else 1.0
    for row in rows[: limit * _LOOK_AHEAD if folded else limit]:
        rank = len(shown)
        room = int(scale * _room(row, rank))
        evidence = reader.evidence(row, room)
        original = _original(shown, row, evidence) if folded else None
        if original is not None:
            original.copies.append(Copy(row, _differing(original.evidence, evidence)))
        elif rank == limit:
            break
        else:
            shown.append(ShownHit(row, evidence, room))
        covered += 1
    _drop_beyond_gap(shown, reader.unmet_wordings())
    if chars:
        fill(reader, shown, rows[covered : covered + _LATER], chars)
    return shown, covered


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
            hit.room = 0


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
